"""The few calls to the API server that bringing a cluster up takes."""

import http.client
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_TIMEOUT = 10.0


class ApiError(Exception):
    """The API server answered with an error status, or not at all.

    Attributes:
        status: the HTTP status, 0 where there was no answer.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status} {text}" if status else text)
        self.status = status


class Api:
    """JSON over HTTPS with a client certificate."""

    def __init__(self, server: str, authority: Path, certificate: Path, key: Path) -> None:
        self._address = urlsplit(server).netloc
        self._context = ssl.create_default_context(cafile=str(authority))
        self._context.load_cert_chain(certificate, key)

    def get(self, path: str) -> Any:
        """Return the document at `path`; raises `ApiError`."""
        return self._call("GET", path)

    def apply(self, path: str, document: dict[str, Any]) -> None:
        """Create or update the object at `path` (server-side apply); raises `ApiError`."""
        query = "?fieldManager=splitbed-rehearsal&force=true"
        self._call("PATCH", path + query, document, "application/apply-patch+yaml")

    def create(self, path: str, document: dict[str, Any]) -> Any:
        """Post a document to the collection at `path`, and return what comes of it; raises `ApiError`."""
        return self._call("POST", path, document)

    def delete(self, path: str) -> None:
        """Delete the object at `path`; raises `ApiError`."""
        self._call("DELETE", path)

    def _call(self, method: str, path: str, body: object = None, content: str = "application/json") -> Any:
        connection = http.client.HTTPSConnection(self._address, timeout=_TIMEOUT, context=self._context)
        try:
            headers = {"Accept": "application/json", "Content-Type": content}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise ApiError(0, f"the API server does not answer: {error}") from None
        finally:
            connection.close()
        if answer.status >= 400:
            raise ApiError(answer.status, text)
        return json.loads(text)
