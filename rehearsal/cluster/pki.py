"""A certificate authority per cluster: every program has a certificate of its own, every key is its owner's alone."""

import base64
import datetime as dt
import ipaddress
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFE = dt.timedelta(days=365)
_SLACK = dt.timedelta(days=1)


def write_private(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, from its first byte on."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Authority:
    """Issues the certificates of one cluster into one directory."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(mode=0o700, exist_ok=True)
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "splitbed rehearsal cluster")])
        certificate = (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(
                x509.KeyUsage(
                    digital_signature=True,
                    key_cert_sign=True,
                    crl_sign=True,
                    content_commitment=False,
                    key_encipherment=False,
                    data_encipherment=False,
                    key_agreement=False,
                    encipher_only=False,
                    decipher_only=False,
                ),
                critical=True,
            )
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = directory / "ca.crt"
        write_private(self.certificate, certificate.public_bytes(serialization.Encoding.PEM))

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _SLACK)
            .not_valid_after(now + _LIFE)
        )

    def issue(self, name: str, common_name: str, group: str = "", hosts: Sequence[str] = ()) -> Pair:
        """Issue a client certificate, which is also a server's where `hosts` (names or addresses) are given.

        Args:
            name: of the files.
            common_name: the user, to Kubernetes.
            group: the user's group, to Kubernetes.
            hosts: what the server is reached by.
        """
        key = ec.generate_private_key(ec.SECP256R1())
        attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
        if group:
            attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = self._builder(x509.Name(attributes), key.public_key()).add_extension(
            x509.BasicConstraints(ca=False, path_length=None), critical=True
        )
        if hosts:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
            alternatives = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
            builder = builder.add_extension(alternatives, critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        pair = Pair(self._directory / f"{name}.crt", self._directory / f"{name}.key")
        write_private(pair.certificate, certificate.public_bytes(serialization.Encoding.PEM))
        write_private(pair.key, _pem(key))
        return pair

    def signing_key(self, name: str) -> tuple[Path, Path]:
        """Make a key to sign service accounts' tokens with; return the files of its private and public half."""
        key = ec.generate_private_key(ec.SECP256R1())
        private, public = self._directory / f"{name}.key", self._directory / f"{name}.pub"
        write_private(private, _pem(key))
        encoding, shape = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        write_private(public, key.public_key().public_bytes(encoding, shape))
        return private, public

    def kubeconfig(self, path: Path, server: str, user: str, group: str = "") -> Path:
        """Write a self-contained kubeconfig for `user`, who gets a certificate; return its path."""
        pair = self.issue(path.name, user, group)

        def text(file: Path) -> str:
            return base64.b64encode(file.read_bytes()).decode()

        name = "splitbed"
        cluster = {"server": server, "certificate-authority-data": text(self.certificate)}
        credentials = {"client-certificate-data": text(pair.certificate), "client-key-data": text(pair.key)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": name, "user": credentials}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        }
        write_private(path, json.dumps(document, indent=1).encode())  # JSON is YAML
        return path


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
