"""The one HTTP address of the doubles' AWS: moto's services, and before them what it lacks or leaves undone."""

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from moto.backends import get_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from rehearsal.aws.parts import Parts, encoded
from rehearsal.aws.placement import PlacementGroups
from rehearsal.aws.requests import ACCOUNT

Environ = dict[str, Any]
Start = Callable[..., Any]
Done = Callable[[str, str], None]
"""Is told the method and the path of a request to EKS that moto has answered well."""


class Quiet(MotoRequestHandler):
    """Moto's handler of requests, without a line in the log for each."""

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002  werkzeug's name
        """Say nothing."""


class Front:
    """A WSGI application."""

    def __init__(self, parts: Callable[[str], Parts], done: Done) -> None:
        """Serve.

        Args:
            parts: of the clusters of a region.
            done: is told of each change that moto has made to clusters and node groups, before its answer goes out.
        """
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._parts, self._done = parts, done
        self._placement = PlacementGroups()

    def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
        """Answer one request."""
        service, region = _scope(environ)
        if service == "eks":
            return self._eks(environ, start, region)
        if service == "ec2":
            body = _body(environ)
            form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
            if (answer := self._placement.answer(region, form)) is not None:
                start("200 OK", [("Content-Type", "text/xml")])
                return [answer]
        said: Iterable[bytes] = self._moto(environ, start)
        return said

    def _eks(self, environ: Environ, start: Start, region: str) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        uri = urlsplit(environ.get("RAW_URI") or environ["PATH_INFO"])
        body = _body(environ)
        parts = self._parts(region)
        answer = parts.answer(method, uri.path, json.loads(body or b"{}"))
        if answer is None and (found := re.fullmatch(r"/tags/(.+)", uri.path)):
            tags = parts.tagged(unquote(found[1])) or _group_tags(region, unquote(found[1]))
            answer = None if tags is None else _tagged(method, tags, body, parse_qs(uri.query))
        if answer is not None:
            status, said = answer
            headers = [("Content-Type", "application/json")]
            if "__type" in said:
                headers.append(("x-amzn-ErrorType", said["__type"]))
            start(f"{status} -", headers)
            return [encoded(said)]
        return self._moto_then_done(environ, start, method, uri.path)

    def _moto_then_done(self, environ: Environ, start: Start, method: str, path: str) -> Iterable[bytes]:
        statuses: list[tuple[Any, ...]] = []
        said = b"".join(self._moto(environ, lambda *given: statuses.append(given)))
        if method != "GET" and statuses[-1][0].startswith("2"):
            self._done(method, path)
        start(*statuses[-1])
        return [said]


class Serving:
    """The address, for as long as the block lasts."""

    def __init__(self, front: Front) -> None:
        self._server: BaseWSGIServer = make_server("127.0.0.1", 0, front, threaded=True, request_handler=Quiet)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def address(self) -> str:
        """Where it is, as AWS_ENDPOINT_URL has it."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _group_tags(region: str, resource: str) -> dict[str, str] | None:
    """Return the tags of a node group by its ARN, which moto tags only when it is made; None if it is none."""
    for cluster in list(get_backend("eks")[ACCOUNT][region].clusters.values()):
        for group in list(cluster.nodegroups.values()):
            if group.arn == resource:
                tags: dict[str, str] = group.tags
                return tags
    return None


def _tagged(method: str, tags: dict[str, str], body: bytes, query: Mapping[str, list[str]]) -> tuple[int, Any]:
    if method == "GET":
        return 200, {"tags": tags}
    if method == "POST":
        tags.update(json.loads(body)["tags"])
    else:
        for key in query.get("tagKeys", []):
            tags.pop(key, None)
    return 200, {}


def _scope(environ: Environ) -> tuple[str, str]:
    """Return the service and the region for which a request is signed."""
    found = re.search(r"Credential=[^/]+/\d+/([^/]+)/([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
    return (found[2], found[1]) if found else ("", "")


def _body(environ: Environ) -> bytes:
    """Return the body, and leave it to be read again."""
    size = int(environ.get("CONTENT_LENGTH") or 0)
    body: bytes = environ["wsgi.input"].read(size) if size else b""
    environ["wsgi.input"] = io.BytesIO(body)
    return body
