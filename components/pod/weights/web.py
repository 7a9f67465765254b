"""Opens addresses over HTTP, and follows them to where the bytes are."""

import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from email.message import Message
from functools import cache
from http.client import HTTPException, HTTPResponse
from typing import Any

TIMEOUT_S = 60.0
"""Without a byte for so long, a connection is given up."""

_HOPS = 5
_MOVED = frozenset({301, 302, 303, 307, 308})
# Answers that another try may change: too many questions, or a server in trouble.
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


class UnreachableError(Exception):
    """There was no answer, or one that the next try may better; says which host, and no more of the address.

    Attributes:
        wait_s: seconds that the server asks to be left alone; 0 if it does not say.
    """

    def __init__(self, message: str, wait_s: float = 0.0) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class AnswerError(Exception):
    """The server refuses, and will refuse again.

    Attributes:
        status: of HTTP.
        headers: of the answer; their names are looked up whatever their case.
        body: the first bytes of what it said.
    """

    def __init__(self, status: int, headers: Message, body: bytes) -> None:
        super().__init__(f"status {status}")
        self.status, self.headers, self.body = status, headers, body


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Leaves redirections to `opened`: the library would carry a token to whatever host it is sent to."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@cache
def _opener() -> urllib.request.OpenerDirector:
    try:
        import certifi  # as the engine's own libraries do: the image's Python need not know where certificates are

        trusted = ssl.create_default_context(cafile=certifi.where())
    except ImportError:
        trusted = ssl.create_default_context()
    return urllib.request.build_opener(_StayHere, urllib.request.HTTPSHandler(context=trusted))


def opened(
    url: str, headers: Mapping[str, str], *, private: Mapping[str, str] | None = None, body: bytes | None = None
) -> HTTPResponse:
    """Return the answer, whose body is still to be read.

    Args:
        url: where; other hosts it leads to are followed.
        headers: for all of them.
        private: further headers for the first host alone.
        body: to be posted; without it the question is a GET.

    Raises:
        UnreachableError: no answer, or a passing trouble.
        AnswerError: a refusal.
    """
    host = _host(url)
    for _ in range(_HOPS):
        own = private or {} if _host(url) == host else {}
        request = urllib.request.Request(url, data=body, headers={**headers, **own})  # noqa: S310  ours and the hub's
        try:
            answer: HTTPResponse = _opener().open(request, timeout=TIMEOUT_S)
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in _MOVED or "location" not in error.headers:
                    raise _refused(url, error) from None
                url = urllib.parse.urljoin(url, error.headers["location"])
        except (OSError, HTTPException) as error:
            raise UnreachableError(f"{_host(url)} does not answer ({said(error)})") from None
        else:
            return answer
    raise UnreachableError(f"{host} leads from one address to the next without end")


def said(error: BaseException) -> str:
    """Return what kind of error it was: its own text may hold an address with a signature in it."""
    reason = getattr(error, "reason", None)
    inner = reason if isinstance(reason, BaseException) else error
    return inner.strerror if isinstance(inner, OSError) and inner.strerror else type(inner).__name__


def _host(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _refused(url: str, error: urllib.error.HTTPError) -> Exception:
    if error.code in _PASSING:
        waited = error.headers.get("retry-after", "")
        return UnreachableError(f"{_host(url)} answers {error.code}", float(waited) if waited.isdigit() else 0.0)
    try:
        body = error.read(16384)
    except (OSError, HTTPException):
        body = b""
    return AnswerError(error.code, error.headers, body)
