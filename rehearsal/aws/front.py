"""The one HTTP address of the doubles' AWS: moto's services, and before them what it lacks or leaves undone."""

import io
import json
import re
import ssl
from collections.abc import Callable, Iterable, Mapping
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from moto.backends import get_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import BaseWSGIServer, make_server

from rehearsal.aws import dependents
from rehearsal.aws.consistency import Consistency
from rehearsal.aws.kubernetes import Application
from rehearsal.aws.parts import Parts, encoded
from rehearsal.aws.placement import PlacementGroups
from rehearsal.aws.podidentity import CREDENTIALS_PATH, PodIdentity, cluster_of
from rehearsal.aws.requests import ACCOUNT
from rehearsal.aws.services import Services

Environ = dict[str, Any]
Start = Callable[..., Any]
Done = Callable[[str, str], None]
"""Is told the method and the path of a request to EKS that moto has answered well."""


class Quiet(MotoRequestHandler):
    """Moto's handler of requests, without a line in the log for each."""

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002  werkzeug's name
        """Say nothing."""


class Front:
    """A WSGI application.

    Attributes:
        consistency: what is told late.
    """

    def __init__(
        self,
        parts: Callable[[str], Parts],
        done: Done,
        identity: Callable[[], PodIdentity],
        services: Callable[[], Services],
    ) -> None:
        """Serve.

        Args:
            parts: of the clusters of a region.
            done: is told of each change that moto has made to clusters and node groups, before its answer goes out.
            identity: of pods, which ask for keys, and may do with them what their roles may.
            services: of the account, to look around by.
        """
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._parts, self._done, self._identity, self._services = parts, done, identity, services
        self.consistency = Consistency()
        self._placement = PlacementGroups()

    def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
        """Answer one request."""
        key, service, region = _scope(environ)
        if service == "s3" and (why := self._refused(key, environ)) is not None:
            start("403 Forbidden", [("Content-Type", "application/xml")])
            return [f"<Error><Code>AccessDenied</Code><Message>{escape(why)}</Message></Error>".encode()]
        if not service and (said := self._inside(environ)) is not None:
            start(f"{said[0]} -", [("Content-Type", "application/json")])
            return [encoded(said[1])]
        if service == "eks":
            return self._eks(environ, start, region)
        if service == "ec2":
            body = _body(environ)
            form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
            if (why := dependents.refusal(self._services(), form)) is not None:
                return _query_error(start, "ec2", "DependencyViolation", why)
            if (answer := self._placement.answer(region, form)) is not None:
                start("200 OK", [("Content-Type", "text/xml")])
                return [answer]
        if service == "iam":
            return self._iam(environ, start)
        if service == "scheduler" and environ["REQUEST_METHOD"] == "POST":
            refused = self.consistency.used(service, json.loads(_body(environ) or b"{}"))
            if refused is not None:
                return _json_error(start, *refused)
        answered: Iterable[bytes] = self._moto(environ, start)
        return answered

    def _iam(self, environ: Environ, start: Start) -> Iterable[bytes]:
        form = {key: values[0] for key, values in parse_qs(_body(environ).decode()).items()}
        action, role = form.get("Action", ""), form.get("RoleName", "")
        refused = self.consistency.read(action, role)
        if refused is not None:
            return _query_error(start, "iam", *refused)
        statuses: list[tuple[Any, ...]] = []
        said = b"".join(self._moto(environ, lambda *given: statuses.append(given)))
        if action == "CreateRole" and statuses[-1][0].startswith("2"):
            self.consistency.born(role)
        start(*statuses[-1])
        return [said]

    def _refused(self, key: str, environ: Environ) -> str | None:
        return self._identity().refusal(
            key, environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("QUERY_STRING", "")
        )

    def _inside(self, environ: Environ) -> tuple[int, dict[str, Any]] | None:
        """Answer what only clusters ask, unsigned; None if it is something else."""
        path = environ["PATH_INFO"]
        if path == CREDENTIALS_PATH:
            return self._identity().credentials(environ.get("HTTP_AUTHORIZATION", ""))
        cluster = cluster_of(path)
        return None if cluster is None else (200, self._identity().admitted(cluster, json.loads(_body(environ))))

    def _eks(self, environ: Environ, start: Start, region: str) -> Iterable[bytes]:
        method = environ["REQUEST_METHOD"]
        uri = urlsplit(environ.get("RAW_URI") or environ["PATH_INFO"])
        body = _body(environ)
        asked = json.loads(body or b"{}") if method == "POST" else {}
        if (refused := self.consistency.used("eks", asked)) is not None:
            return _json_error(start, *refused)
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
    """An address, for as long as the block lasts."""

    def __init__(self, front: Application, host: str = "127.0.0.1", encrypted: ssl.SSLContext | None = None) -> None:
        """Listen.

        Args:
            front: answers.
            host: an address of this machine, on a free port, or `unix://` and the path of a socket.
            encrypted: how; not at all if not given.
        """
        self._server: BaseWSGIServer = make_server(
            host, 0, front, threaded=True, request_handler=Quiet, ssl_context=encrypted
        )
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


def _query_error(start: Start, service: str, code: str, text: str) -> list[bytes]:
    """Refuse as the services do that answer in XML, of which EC2 has a way of its own."""
    error = f"<Code>{code}</Code><Message>{escape(text)}</Message>"
    if service == "ec2":
        said = f"<Response><Errors><Error>{error}</Error></Errors><RequestID>0</RequestID></Response>"
    else:
        said = f"<ErrorResponse><Error><Type>Sender</Type>{error}</Error><RequestId>0</RequestId></ErrorResponse>"
    start("404 -" if code.startswith("NoSuch") else "400 -", [("Content-Type", "text/xml")])
    return [said.encode()]


def _json_error(start: Start, code: str, text: str) -> list[bytes]:
    start("400 -", [("Content-Type", "application/json"), ("x-amzn-ErrorType", code)])
    return [encoded({"__type": code, "message": text, "Message": text})]


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


def _scope(environ: Environ) -> tuple[str, str, str]:
    """Return the key that signed a request, and for which service and region."""
    found = re.search(r"Credential=([^/]+)/\d+/([^/]+)/([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
    return (found[1], found[3], found[2]) if found else ("", "", "")


def _body(environ: Environ) -> bytes:
    """Return the body, and leave it to be read again."""
    size = int(environ.get("CONTENT_LENGTH") or 0)
    body: bytes = environ["wsgi.input"].read(size) if size else b""
    environ["wsgi.input"] = io.BytesIO(body)
    return body
