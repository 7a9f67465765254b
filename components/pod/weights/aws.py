"""Questions to AWS, signed (Signature Version 4) with the rights that EKS Pod Identity gives the pod.

The engine's CPU image carries no SDK of AWS, and these are the only questions asked. Tests hold the signature against
botocore's.
"""

import hashlib
import hmac
import json
import os
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from components.pod.weights import web
from components.pod.weights.refusal import RefusedError

_FRESH_S = 600.0  # Pod Identity's credentials hold for hours; asked again long before
_EMPTY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class Credentials:
    """Keys for a while; never shown."""

    key: str
    secret: str
    session: str | None

    def __repr__(self) -> str:
        return "Credentials(not shown)"


class Rights:
    """The credentials of this pod, asked for again now and then."""

    def __init__(self) -> None:
        self._held: Credentials | None = None
        self._until_s = 0.0

    def credentials(self) -> Credentials:
        """Return credentials that hold.

        Raises:
            RefusedError: the pod has none.
            UnreachableError: the agent on its node does not answer.
        """
        if self._held is None or time.monotonic() > self._until_s:
            self._held, self._until_s = _from_agent(), time.monotonic() + _FRESH_S
        return self._held


def _from_agent() -> Credentials:
    address = os.environ.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
    token_file = os.environ.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
    if not address or not token_file:
        raise RefusedError(
            "This pod has no rights in AWS, because EKS Pod Identity gave it none when it was made: check that the "
            "add-on eks-pod-identity-agent runs and that the service account has an association, then delete the pod"
        )
    try:
        with web.opened(address, {}, private={"Authorization": Path(token_file).read_text().strip()}) as answer:
            told = json.load(answer)
        return Credentials(told["AccessKeyId"], told["SecretAccessKey"], told.get("Token"))
    except web.AnswerError as error:
        raise RefusedError(
            f"This pod has no rights in AWS, because the Pod Identity agent answers {error.status}: check the "
            "association of the pod's service account and the role it names"
        ) from None
    except (OSError, ValueError, KeyError, TypeError):
        raise web.UnreachableError("the Pod Identity agent does not give credentials") from None


def signed(
    credentials: Credentials,
    method: str,
    url: str,
    *,
    region: str,
    service: str,
    headers: Mapping[str, str],
    body: bytes = b"",
    now: datetime | None = None,
) -> dict[str, str]:
    """Return the headers of a question, the signature among them.

    Args:
        credentials: whose.
        method: GET or POST.
        url: its path and query already percent-encoded.
        region: of the service.
        service: such as `s3`.
        headers: further ones that are signed.
        body: what is posted.
        now: the time of signing; None for the clock's.
    """
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    parts = urllib.parse.urlsplit(url)
    digest = hashlib.sha256(body).hexdigest() if body else _EMPTY
    every = {name.lower(): value for name, value in headers.items()} | {"host": parts.netloc, "x-amz-date": stamp}
    if service == "s3":
        every["x-amz-content-sha256"] = digest
    if credentials.session:
        every["x-amz-security-token"] = credentials.session
    names = ";".join(sorted(every))
    canonical = "\n".join(
        (
            method,
            parts.path or "/",
            "&".join(sorted(parts.query.split("&"))) if parts.query else "",
            *(f"{name}:{every[name].strip()}" for name in sorted(every)),
            "",
            names,
            digest,
        )
    )
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    to_sign = "\n".join(("AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{credentials.secret}".encode()
    for part in (stamp[:8], region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
    every["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credentials.key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    del every["host"]
    return every


def endpoint(service: str, region: str) -> str:
    """Return where a service answers; `AWS_ENDPOINT_URL_S3` and the like name another place, as for AWS's own tools."""
    named = os.environ.get(f"AWS_ENDPOINT_URL_{service.upper()}")
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return named.rstrip("/") if named else f"https://{service}.{region}.{domain}"
