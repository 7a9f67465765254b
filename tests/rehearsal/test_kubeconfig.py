"""Files that are no kubeconfigs, each refused in a sentence of ours."""

import json
from pathlib import Path
from typing import Any

import pytest

from rehearsal.kubeconfig import KubeconfigError, check_shape

GOOD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "x",
    "clusters": [
        {
            "name": "c",
            "cluster": {
                "server": "https://127.0.0.1:6443/k8s",
                "certificate-authority-data": "QUJD",
                "extensions": [1],
            },
        }
    ],
    "users": [
        {"name": "u", "user": {"token": "abc.def"}},
        {"name": "v", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws"}}},
        {"name": "w"},
    ],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "n"}}],
}


def written(directory: Path, content: Any) -> Path:
    path = directory / "kubeconfig"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def changed(place: str, value: Any) -> dict[str, Any]:
    document: Any = json.loads(json.dumps(GOOD))
    *parents, last = [int(key) if key.isdigit() else key for key in place.split("/")]
    part = document
    for key in parents:
        part = part[key]
    part[last] = value
    return dict(document)


@pytest.mark.parametrize("users", [GOOD["users"], [], None])
def test_a_kubeconfig_is_one(users: Any, tmp_path: Path) -> None:
    check_shape(written(tmp_path, {**GOOD, "users": users}))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("apiVersion: v1", "clusters: it is missing"),
        ("", "it should be a mapping"),
        ("[1, 2]", "it should be a mapping"),
        ("clusters: 7", "clusters: found 7: it should be a list"),
        ({**GOOD, "clusters": []}, "clusters: it is empty"),
        ("a: " + "[" * 700, "is not YAML: it is nested too deep"),
        (b"\x00\x01", "is not YAML: character 0x0 at 0 cannot stand there"),
        (b"\xff", "is not YAML: 'utf-8' codec can't decode byte 0xff"),
        (changed("clusters/0/cluster", [1]), "clusters.0.cluster: it should be a mapping"),
        (changed("clusters/0/cluster/server", 7), "clusters.0.cluster.server: found 7: it should be text"),
        (changed("clusters/0/cluster/server", "ftp://x"), "found 'ftp://x': it should be an address such as https://"),
        (changed("clusters/0/cluster/certificate-authority-data", "@@"), "found '@@': it is not base64"),
        (changed("users/0/user/token", "two\nlines"), "users.0.user.token: it has a character that cannot be sent"),
        (changed("users/1/user/exec/command", 5), "users.1.user.exec.command: it should be text"),
        (changed("contexts/0/context/cluster", None), "contexts.0.context.cluster: found None: it should be text"),
    ],
)
def test_what_is_none_is_refused_with_the_place(content: Any, says: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    with pytest.raises(KubeconfigError) as caught:
        check_shape(path)
    assert str(path) in caught.value.message
    assert says in caught.value.message
    assert "--kubeconfig" in caught.value.remedy


def test_a_directory_is_none(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="cannot be read: Is a directory"):
        check_shape(tmp_path)


def test_a_credential_is_never_shown(tmp_path: Path) -> None:
    for place in ("users/0/user/token", "users/0/user/client-key-data"):
        with pytest.raises(KubeconfigError) as caught:
            check_shape(written(tmp_path, changed(place, "se cret")))
        assert "cret" not in caught.value.message + caught.value.remedy
