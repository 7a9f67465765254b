"""Registries and the Hub, played by a dictionary."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from cloud.web import Answer


def manifest(*architectures: str) -> bytes:
    platforms = [{"platform": {"os": "linux", "architecture": name}} for name in architectures]
    unknown = {"platform": {"os": "unknown", "architecture": "unknown"}}  # of an attestation
    return json.dumps({"schemaVersion": 2, "manifests": [*platforms, unknown]}).encode()


def digest(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


class Places:
    """Answers by URL; a manifest below `closed` is given only with the token that the realm hands out."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.closed: set[str] = set()
        self.asked: list[tuple[str, Mapping[str, str]]] = []

    def __call__(self, url: str, headers: Mapping[str, str]) -> Answer:
        self.asked.append((url, headers))
        host = url.split("/")[2]
        if host == "auth.invalid":
            return Answer(200, {}, json.dumps({"token": "anybody"}).encode())
        if host in self.closed and headers.get("Authorization") != "Bearer anybody":
            realm = 'Bearer realm="https://auth.invalid/token",service="s",scope="repository:a/b:pull"'
            return Answer(401, {"www-authenticate": realm}, b"")
        return self.answers.get(url, Answer(404, {}, b"{}"))

    def image(self, url: str, *architectures: str) -> str:
        body = manifest(*architectures)
        self.answers[url] = Answer(200, {"docker-content-digest": digest(body)}, body)
        return digest(body)

    def says(self, url: str, said: Any, status: int = 200) -> None:
        self.answers[url] = Answer(status, {}, json.dumps(said).encode())
