"""Certificates as TLS sees them, without a network."""

import base64
import json
import ssl
from pathlib import Path

import pytest

from rehearsal.cluster.pki import Authority, Pair


def handshake(server: Pair, client: Pair, authority: Path, host: str) -> ssl.SSLObject:
    """Let client and server meet in memory; return the server's side, which knows the client."""
    here = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    here.load_cert_chain(server.certificate, server.key)
    here.load_verify_locations(authority)
    here.verify_mode = ssl.CERT_REQUIRED
    there = ssl.create_default_context(cafile=str(authority))
    there.load_cert_chain(client.certificate, client.key)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        there.wrap_bio(to_client, to_server, server_hostname=host),
        here.wrap_bio(to_server, to_client, server_side=True),
    ]
    for _ in range(10):
        for side in sides:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return sides[1]


def test_a_client_is_known_to_the_server_by_name_and_group(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    server = authority.issue("server", "kube-apiserver", hosts=("kubernetes", "10.96.0.1"))
    client = authority.issue("client", "system:node:engine-0", "system:nodes")
    for host in ("kubernetes", "10.96.0.1"):
        peer = handshake(server, client, authority.certificate, host).getpeercert()
        assert peer is not None
        subject = [part[0] for part in peer["subject"]]
        assert subject == [("organizationName", "system:nodes"), ("commonName", "system:node:engine-0")]


def test_a_server_is_only_what_it_was_issued_for(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    server = authority.issue("server", "kubelet", hosts=("10.89.1.1",))
    client = authority.issue("client", "admin")
    with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
        handshake(server, client, authority.certificate, "10.89.1.2")


def test_another_clusters_client_is_refused(tmp_path: Path) -> None:
    ours, theirs = Authority(tmp_path / "ours"), Authority(tmp_path / "theirs")
    server = ours.issue("server", "kube-apiserver", hosts=("kubernetes",))
    with pytest.raises(ssl.SSLError, match=r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|unknown ca"):
        handshake(server, theirs.issue("client", "admin", "system:masters"), ours.certificate, "kubernetes")


def test_nothing_is_readable_by_others(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "pki")
    authority.issue("server", "kube-apiserver", hosts=("kubernetes",))
    authority.signing_key("tokens")
    authority.kubeconfig(tmp_path / "pki" / "kubeconfig", "https://127.0.0.1:1", "admin", "system:masters")
    files = list((tmp_path / "pki").iterdir())
    assert len(files) >= 8
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert (tmp_path / "pki").stat().st_mode & 0o777 == 0o700


def test_a_kubeconfig_stands_alone(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    path = authority.kubeconfig(tmp_path / "kubeconfig", "https://127.0.0.1:1", "admin", "system:masters")
    document = json.loads(path.read_text())
    context = next(item["context"] for item in document["contexts"] if item["name"] == document["current-context"])
    cluster = next(item["cluster"] for item in document["clusters"] if item["name"] == context["cluster"])
    user = next(item["user"] for item in document["users"] if item["name"] == context["user"])
    assert cluster["server"] == "https://127.0.0.1:1"
    assert base64.b64decode(cluster["certificate-authority-data"]) == authority.certificate.read_bytes()
    assert b"CERTIFICATE" in base64.b64decode(user["client-certificate-data"])
    assert b"PRIVATE KEY" in base64.b64decode(user["client-key-data"])
