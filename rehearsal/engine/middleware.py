"""What surrounds every route: the key, vLLM's headers, error answers, and the counts of HTTP requests."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from http import HTTPStatus

from aiohttp import web
from aiohttp.web_protocol import RequestPayloadError

from rehearsal.engine.answers import compact
from rehearsal.engine.errors import ApiError, unexpected
from rehearsal.engine.observations import Observations
from rehearsal.engine.settings import Settings

log = logging.getLogger("vllm")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def as_json(body: object, status: int = 200) -> web.Response:
    """Return an answer of compact JSON."""
    return web.Response(body=compact(body), status=status, content_type="application/json")


def _refusal(error: ApiError) -> web.Response:
    try:
        return as_json(error.body(), error.status.value)
    except UnicodeEncodeError as e:  # it repeats half of a surrogate pair that the client sent
        return as_json(unexpected(e).body(), error.status.value)


class Middleware:
    """Around the routes of one server."""

    def __init__(self, settings: Settings, observations: Observations) -> None:
        self.settings = settings
        self.observations = observations

    async def headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Give the headers vLLM's names, order and values; aiohttp has prepared its own by now."""
        theirs = response.headers.copy()
        response.headers.clear()
        response.headers["date"] = formatdate(usegmt=True)
        response.headers["server"] = "uvicorn"
        if "Allow" in theirs:
            response.headers["allow"] = theirs["Allow"]
        chunked = theirs.get("Transfer-Encoding")
        if chunked is None:
            response.headers["content-length"] = theirs.get("Content-Length", "0")
        if "Content-Type" in theirs:
            response.headers["content-type"] = theirs["Content-Type"]
        if response.status != HTTPStatus.UNAUTHORIZED:  # the key is looked at before anything of CORS
            if request.headers.get("Origin"):
                response.headers["access-control-allow-origin"] = "*"
            if "X-Request-Id" in theirs:
                response.headers["x-request-id"] = theirs["X-Request-Id"]
            response.headers["vary"] = "Origin"
        if theirs.get("Connection", "").lower() == "close":
            response.headers["connection"] = "close"
        if chunked is not None:
            response.headers["transfer-encoding"] = chunked

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse what needs a key and has none; no metric counts it."""
        keys = self.settings.api_keys
        if keys and request.path.startswith("/v1") and request.method != "OPTIONS":
            scheme, _, token = request.headers.get("Authorization", "").partition(" ")
            if scheme.lower() != "bearer" or token not in keys:
                return as_json({"error": "Unauthorized"}, HTTPStatus.UNAUTHORIZED)
        return await handler(request)

    @web.middleware
    async def count(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer every error as vLLM does, and count the request."""
        started = time.monotonic()
        try:
            response = await handler(request)
        except asyncio.CancelledError:
            self._count(request, HTTPStatus.OK, 0, started)  # the client is gone; vLLM counts it as answered
            raise
        except ApiError as e:
            response = _refusal(e)
        except web.HTTPException as e:
            response = as_json({"detail": e.reason}, e.status)
            if "Allow" in e.headers:
                response.headers["Allow"] = e.headers["Allow"]
        except (ConnectionError, RequestPayloadError):
            raise  # the client is gone, or sent no HTTP: the listener's matter
        except Exception as e:
            log.error("%s: %s", type(e).__name__, e)
            response = _refusal(unexpected(e))
        answered = response.content_length if isinstance(response, web.Response) else 0
        self._count(request, response.status, answered or 0, started)
        return response

    def _count(self, request: web.Request, status: int, answered: int, started: float) -> None:
        resource = request.match_info.route.resource
        self.observations.http(
            resource.canonical if resource is not None else None,
            request.path,
            request.method,
            status,
            request.content_length or 0,
            answered,
            time.monotonic() - started,
        )
