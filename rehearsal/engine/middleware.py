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
        told = unexpected(e)
        return as_json(told.body(), told.status.value)


def _redirect(request: web.Request) -> web.Response | None:
    """Return the answer to a path that is known but for slashes at its end, or None if this is not one."""
    path = request.path.rstrip("/")
    if path == request.path or path not in _paths(request):
        return None
    query = request.rel_url.raw_query_string
    location = f"{request.scheme}://{request.host}{path}" + (f"?{query}" if query else "")
    return web.Response(status=HTTPStatus.TEMPORARY_REDIRECT, headers={"Location": location})


def _paths(request: web.Request) -> set[str]:
    return {resource.canonical for resource in request.app.router.resources()}


_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY")
_MAX_AGE_S = 600
_OF_PREFLIGHT = (
    "Vary",
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Methods",
    "Access-Control-Max-Age",
    "Access-Control-Allow-Headers",
)
"""Its headers in vLLM's order, before all others."""


def _preflight(request: web.Request) -> web.Response | None:
    """Return the answer to a browser that asks whether it may ask, or None if it does not."""
    asked = request.headers
    method = asked.get("Access-Control-Request-Method")
    if request.method != "OPTIONS" or method is None or "Origin" not in asked:
        return None
    headers = {
        "Vary": "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, "
        "Access-Control-Request-Private-Network",
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": ", ".join(_METHODS),
        "Access-Control-Max-Age": str(_MAX_AGE_S),
    }
    if "Access-Control-Request-Headers" in asked:
        headers["Access-Control-Allow-Headers"] = asked["Access-Control-Request-Headers"]
    refused = [] if method in _METHODS else ["method"]
    if "Access-Control-Request-Private-Network" in asked:
        refused.append("private-network")
    text = f"Disallowed CORS {', '.join(refused)}" if refused else "OK"
    return web.Response(text=text, status=HTTPStatus.BAD_REQUEST if refused else HTTPStatus.OK, headers=headers)


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
        preflight = "Access-Control-Allow-Methods" in theirs
        chunked = theirs.get("Transfer-Encoding")
        if chunked is None:
            theirs.setdefault("Content-Length", "0")
        for name in (*(_OF_PREFLIGHT if preflight else ()), "Allow", "Content-Length", "Content-Type", "Location"):
            if name in theirs:
                response.headers[name.lower()] = theirs[name]
        # A preflight has those of CORS already; the key is looked at before anything of CORS.
        if not preflight and response.status != HTTPStatus.UNAUTHORIZED:
            if "Origin" in request.headers:
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
        """Refuse what needs a key and has none, and answer a browser's preflight; no metric counts either."""
        preflight = _preflight(request)
        if preflight is not None:
            return preflight
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
        except (asyncio.CancelledError, ConnectionError, RequestPayloadError):
            # The client is gone, or sent no HTTP. vLLM counts what it had begun to answer as answered.
            read = request.content.is_eof()
            self._count(request, HTTPStatus.OK if read else HTTPStatus.BAD_REQUEST, 0, started)
            raise
        except ApiError as e:
            response = _refusal(e)
        except web.HTTPException as e:
            response = _redirect(request) or as_json({"detail": e.reason}, e.status)
            if "Allow" in e.headers:
                response.headers["Allow"] = e.headers["Allow"]
        except Exception as e:
            log.error("%s: %s", type(e).__name__, e)
            response = _refusal(unexpected(e))
        answered = response.content_length if isinstance(response, web.Response) else 0
        self._count(request, response.status, answered or 0, started)
        return response

    def _count(self, request: web.Request, status: int, answered: int, started: float) -> None:
        self.observations.http(
            _handler(request),
            request.path,
            request.method,
            status,
            request.content_length or 0,
            answered,
            time.monotonic() - started,
        )


def _handler(request: web.Request) -> str | None:
    """Return the path that a request is counted under, if it is one of ours, or would be without a last slash."""
    resource = request.match_info.route.resource
    if resource is not None:
        return resource.canonical
    router = request.app.router
    shorter = request.path.removesuffix("/")
    found = any(
        route.method == request.method and route.resource is not None and route.resource.canonical == shorter
        for route in router.routes()
    )
    return request.path if found and shorter != request.path else None
