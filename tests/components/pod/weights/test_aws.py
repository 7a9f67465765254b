"""Signatures against botocore's, and S3, Secrets Manager and the Pod Identity agent as they answer."""

import hashlib
import json
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import botocore.auth
import pytest
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as Botocores

from components.pod.weights import aws, token
from components.pod.weights.__main__ import main
from tests.components.pod.weights.conftest import Clock

KEYS = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "the/session+token==")
ARN = "arn:aws:secretsmanager:us-east-1:123456789012:secret:hub-AbCdEf"
TOKEN = "hf_planted0123456789"  # noqa: S105  opens nothing
OBJECTS = {"config.json": b"{}", "a b+c/model.safetensors": bytes(range(256)) * 30}


def botocores(method: str, url: str, service: str, headers: dict[str, str], body: bytes) -> str:
    """Return the signature that botocore gives a question signed at the time that it names."""
    signer: Any = botocore.auth.S3SigV4Auth if service == "s3" else botocore.auth.SigV4Auth
    auth = signer(Botocores(*KEYS), service, "us-east-1")
    request: Any = AWSRequest(method, url, data=body, headers=headers)
    request.context["timestamp"] = headers["x-amz-date"]
    auth._modify_request_before_signing(request)
    if service == "s3":  # which is else left out over TLS
        del request.headers["x-amz-content-sha256"]
        request.headers["x-amz-content-sha256"] = headers["x-amz-content-sha256"]
    text = auth.string_to_sign(request, auth.canonical_request(request))
    auth._inject_signature_to_request(request, auth.signature(text, request))
    return str(request.headers["Authorization"])


@pytest.mark.parametrize(
    ("method", "url", "service", "body"),
    [
        ("GET", "https://s3.us-east-1.amazonaws.com/bucket/a%20b%2Bc/model.safetensors", "s3", b""),
        ("GET", "https://s3.us-east-1.amazonaws.com/bucket?list-type=2&prefix=models%2Fgemma%2F", "s3", b""),
        ("POST", "https://secretsmanager.us-east-1.amazonaws.com/", "secretsmanager", b'{"SecretId": "x"}'),
    ],
)
def test_signatures_are_botocores(method: str, url: str, service: str, body: bytes) -> None:
    more = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "t"} if body else {}
    at = datetime(2026, 11, 30, 22, 5, tzinfo=UTC)
    signed = aws.signed(
        aws.Credentials(*KEYS), method, url, region="us-east-1", service=service, headers=more, body=body, now=at
    )
    authorization = signed.pop("Authorization")
    assert authorization == botocores(method, url, service, signed, body)


@dataclass
class Aws:
    """S3, Secrets Manager and the agent in one place.

    Attributes:
        secret: what Secrets Manager keeps; none if it refuses.
        region: of the bucket.
        encrypted: by what S3 says that it encrypts.
        page: how many objects a list names at once.
    """

    secret: str | None = TOKEN
    region: str = "us-east-1"
    encrypted: str = "AES256"
    page: int = 1
    refused: bool = False
    address: str = ""
    questions: list[str] = field(default_factory=list)


def _handler(world: Aws) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            world.questions.append(self.path)
            if path == "/v1/credentials":
                held = dict(zip(("AccessKeyId", "SecretAccessKey", "Token"), KEYS, strict=True))
                right = self.headers["Authorization"] == "the pod's own"
                return self._answer(200 if right else 401, json.dumps(held).encode())
            if not self._is_signed():
                return self._answer(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>")
            if world.refused:
                return self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
            if f"/{world.region}/s3/" not in self.headers["Authorization"]:
                return self._answer(301, b"", {"x-amz-bucket-region": world.region})
            if query:
                return self._answer(200, self._list(urllib.parse.parse_qs(query)))
            content = OBJECTS[urllib.parse.unquote(path).removeprefix("/bucket/models/gemma/")]
            return self._answer(200, content, {"x-amz-server-side-encryption": world.encrypted})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if not self._is_signed(body) or json.loads(body) != {"SecretId": ARN}:
                self._answer(400, b'{"__type": "InvalidSignatureException"}')
            elif world.secret is None:
                self._answer(400, b'{"__type": "com.amazonaws#AccessDeniedException", "Message": "no"}')
            else:
                self._answer(200, json.dumps({"SecretString": world.secret}).encode())

        def _is_signed(self, body: bytes = b"") -> bool:
            given = self.headers["Authorization"]
            scope = given.split("Credential=")[1].split(",")[0].split("/")
            names = given.split("SignedHeaders=")[1].split(",")[0].split(";")
            headers = {name: self.headers[name] for name in names if name != "host"}
            expected = botocores(self.command, f"{world.address}{self.path}", scope[3], headers, body)
            return scope[2] != "us-east-1" or given == expected

        def _list(self, query: dict[str, list[str]]) -> bytes:
            assert query["prefix"] == ["models/gemma/"]
            first = int(query.get("continuation-token", ["0"])[0])
            named = sorted(OBJECTS)[first : first + world.page]
            contents = "".join(
                f"<Contents><Key>models/gemma/{name}</Key><Size>{len(OBJECTS[name])}</Size>"
                f"<ETag>&quot;{self._tag(OBJECTS[name])}&quot;</ETag></Contents>"
                for name in named
            )
            following = first + world.page
            more = f"<NextContinuationToken>{following}</NextContinuationToken>" if following < len(OBJECTS) else ""
            space = "http://s3.amazonaws.com/doc/2006-03-01/"
            return f'<ListBucketResult xmlns="{space}">{contents}{more}</ListBucketResult>'.encode()

        def _tag(self, content: bytes) -> str:
            right = hashlib.md5(content, usedforsecurity=False).hexdigest()
            return right if world.encrypted == "AES256" else "0" * 32

        def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing: it would be said in the test's own output."""

    return Handler


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    world = Aws()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(world))
    world.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    (tmp_path / "pod-token").write_text("the pod's own\n")
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{world.address}/v1/credentials")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(tmp_path / "pod-token"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", world.address)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETSMANAGER", world.address)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    yield world
    server.shutdown()
    server.server_close()
    thread.join()


def fetch(place: Path) -> int:
    from_s3 = ["--source", "s3", "--uri", "s3://bucket/models/gemma", "--region", "us-east-1"]
    return main([*from_s3, "--into", str(place)])


@pytest.mark.parametrize("encrypted", ["AES256", "aws:kms"])
def test_a_prefix_of_a_bucket_is_fetched(world: Aws, tmp_path: Path, encrypted: str) -> None:
    world.encrypted = encrypted
    assert fetch(tmp_path / "w") == 0
    assert {name: (tmp_path / "w" / name).read_bytes() for name in OBJECTS} == OBJECTS
    assert len([one for one in world.questions if "list-type" in one]) == len(OBJECTS)
    assert world.questions.count("/v1/credentials") == 1


def test_a_bucket_elsewhere_is_followed(world: Aws, tmp_path: Path) -> None:
    world.region = "eu-west-1"
    assert fetch(tmp_path / "w") == 0


def test_what_s3_does_not_give_is_said(world: Aws, tmp_path: Path, clock: Clock, message: Path) -> None:
    world.refused = True
    assert fetch(tmp_path / "w") == 1
    assert message.read_text().startswith(
        "s3://bucket/models/gemma cannot be fetched, because S3 answers AccessDenied: check model.weights.uri"
    )


def test_a_pod_without_rights_says_so(
    world: Aws, tmp_path: Path, clock: Clock, message: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
    assert fetch(tmp_path / "w") == 1
    assert message.read_text().startswith("This pod has no rights in AWS, because EKS Pod Identity gave it none")


@pytest.mark.parametrize("kept", [TOKEN, f"{TOKEN}\n", json.dumps({"token": TOKEN})])
def test_a_token_of_secrets_manager_opens_the_hub(world: Aws, kept: str) -> None:
    world.secret = kept
    assert token.given(ARN) == TOKEN


def test_a_secret_that_cannot_be_read_is_said_and_not_shown(
    world: Aws, tmp_path: Path, clock: Clock, message: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world.secret = None
    into = ["--source", "hub", "--model", "google/gemma", "--into", str(tmp_path / "w"), "--token-arn", ARN]
    assert main(into) == 1
    assert message.read_text().startswith(
        f"The secret {ARN} cannot be read, because Secrets Manager answers 400 (AccessDeniedException): check"
    )
    assert KEYS[1] not in "".join(capsys.readouterr())
