"""The API server of the cluster in which this runs, by the pod's own token.

ApiError
    it does not answer, or not with what was asked for.

ApiRefusedError
    it refuses, which asking again would not change.
"""

import asyncio
import json
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmark.connection import Clock, Exchange
from benchmark.endpoint import Endpoint, json_object
from experiment.errors import SplitbedError

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TIMEOUT_S = 10.0
TRIES, PAUSE_S = 3, 0.5
PAGE = 500
_NOT_NOW = frozenset({429, 500, 502, 503, 504})
_GONE, _EXPIRED = 404, 410


class ApiError(SplitbedError):
    """The API server does not answer, or with something else than what was asked for."""


class ApiRefusedError(ApiError):
    """The API server refuses what is asked of it."""


class ApiServer:
    """Asks for objects; each question has a connection of its own, since minutes lie between them."""

    def __init__(self, url: str, clock: Clock, account: Path) -> None:
        """Take an address, and the directory with `token`, `ca.crt` and `namespace`.

        Raises:
            ApiError: the account cannot be read.
        """
        self._url, self._clock, self._account = url, clock, account
        self.namespace = self._read("namespace")

    @classmethod
    def of_this_pod(cls, clock: Clock, environ: Mapping[str, str] = os.environ, account: Path = ACCOUNT) -> "ApiServer":
        """Return the one that the kubelet names to every pod.

        Raises:
            ApiError: this is no pod, or it was given no account.
        """
        host, port = (environ.get(f"KUBERNETES_SERVICE_{name}") for name in ("HOST", "PORT"))
        if not host or not port:
            raise ApiError("KUBERNETES_SERVICE_HOST is not set: this is no pod of a cluster.", "Leave --asked out.")
        return cls(f"https://{f'[{host}]' if ':' in host else host}:{port}", clock, account)

    async def get(self, path: str) -> dict[str, Any] | None:
        """Return an object; none if there is no such one.

        Raises:
            ApiError: see above.
        """
        exchange = await self._ask("GET", path)
        return None if exchange.status == _GONE else _document(path, exchange)

    async def items(self, path: str, **query: str) -> list[dict[str, Any]]:
        """Return all objects of a kind, page by page; from the first again if the API server forgot where it was.

        Raises:
            ApiError: see above.
        """
        for _ in range(TRIES):
            found: list[dict[str, Any]] = []
            more = ""
            while True:
                asked = {"limit": str(PAGE), **query, **({"continue": more} if more else {})}
                exchange = await self._ask("GET", f"{path}?{urlencode(asked)}")
                if exchange.status == _EXPIRED:
                    break
                page = _document(path, exchange)
                found += [item for item in page.get("items") or [] if isinstance(item, dict)]
                more = (page.get("metadata") or {}).get("continue") or ""
                if not more:
                    return found
        raise ApiError(f"{path}: the list expired {TRIES} times while it was read.")

    async def delete(self, path: str, uid: str, grace_s: int) -> float:
        """Order the deletion of the object that has this uid; return when that was sent. One that is gone is no error.

        Raises:
            ApiError: see above.
        """
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": grace_s,
            "preconditions": {"uid": uid},
        }
        exchange = await self._ask("DELETE", path, json.dumps(options).encode())
        if exchange.status not in (200, 202, 404, 409):
            raise _refused(path, exchange)
        return exchange.sent_s

    async def _ask(self, method: str, path: str, body: bytes = b"") -> Exchange:
        said = ""
        for turn in range(TRIES):
            if turn:
                await asyncio.sleep(PAUSE_S * turn)
            try:
                exchange = await self._endpoint().ask(path, body, TIMEOUT_S, method=method)
            except OSError as error:  # of TLS, too
                said = str(error) or type(error).__name__
                continue
            if exchange.error is not None or exchange.status is None:
                said = exchange.error or "nothing"
            elif exchange.status in _NOT_NOW:
                said = f"{exchange.status} {_reason(exchange)}"
            elif exchange.status in (401, 403):
                raise _refused(path, exchange)
            else:
                return exchange
        raise ApiError(f"The API server does not answer {method} {path}: {said}.")

    def _endpoint(self) -> Endpoint:
        """Return it by the token and the authority as they are now: the kubelet renews both."""
        context = None
        if self._url.startswith("https:"):
            try:
                context = ssl.create_default_context(cafile=str(self._account / "ca.crt"))
            except OSError as error:
                raise ApiError(f"{self._account / 'ca.crt'}: {error.strerror or error}.") from None
            # Python 3.13 asks for an extension that the certificates of many clusters' own authorities lack.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return Endpoint(self._url, self._clock, self._read("token"), context)

    def _read(self, name: str) -> str:
        try:
            return (self._account / name).read_text().strip()
        except OSError as error:
            raise ApiError(
                f"{self._account / name}: {error.strerror or error}.", "Give the pod its service account's token."
            ) from None


def _document(path: str, exchange: Exchange) -> dict[str, Any]:
    if exchange.status != 200:
        raise _refused(path, exchange)
    document = json_object(exchange)
    if document is None:
        raise ApiError(f"The API server answers {path} with something that is no JSON object.")
    return document


def _refused(path: str, exchange: Exchange) -> ApiRefusedError:
    return ApiRefusedError(f"The API server refuses {path} ({exchange.status}: {_reason(exchange)}).")


def _reason(exchange: Exchange) -> str:
    """Return the message of Kubernetes' own Status, or the beginning of whatever else came."""
    said = (json_object(exchange) or {}).get("message")
    text = said if isinstance(said, str) else exchange.body.decode(errors="replace")
    return " ".join(text.split())[:200] or "nothing said"
