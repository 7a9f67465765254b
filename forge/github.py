"""GitHub's REST API, as far as it takes to keep one comment and one issue.

ForgeError
    it refused, or cannot be reached. The token is never in a message.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

from experiment.errors import SplitbedError

ADDRESS = "https://api.github.com"
"""Of the public one; GITHUB_API_URL names another."""

LONGEST_WAIT_S = 120.0
"""For a limit to pass; one that lasts longer is said."""

_TRIES = 4
_PER_PAGE = 100
_VERSION = "2022-11-28"
_SECONDARY_S = 60.0  # "wait for at least one minute", as GitHub asks where it says nothing else


class ForgeError(SplitbedError):
    """The forge refused, or cannot be reached."""


@dataclass(frozen=True)
class Answer:
    """What came back; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Send(Protocol):
    """Sends one request; raises ForgeError if there is no answer."""

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        """Return the answer, whatever its status."""
        ...


@dataclass(frozen=True, kw_only=True)
class GitHub:
    """One repository, with a token that may be short of rights.

    Attributes:
        repository: OWNER/NAME.
        token: of the environment; shown to nobody.
        send: over the network, or a double's.
        address: of the API.
        sleep: waits seconds.
        now: seconds since the epoch.
    """

    repository: str
    token: str = field(repr=False)
    send: Send
    address: str = ADDRESS
    sleep: Callable[[float], object] = time.sleep
    now: Callable[[], float] = time.time

    def all(self, path: str, **query: str) -> Iterator[dict[str, Any]]:
        """Yield every item of a list, page by page.

        Raises:
            ForgeError: it refused.
        """
        asked = "&".join(f"{key}={value}" for key, value in {**query, "per_page": str(_PER_PAGE)}.items())
        page = 1
        while True:
            found = self._ask("GET", f"{path}?{asked}&page={page}", None)
            yield from found
            if len(found) < _PER_PAGE:
                return
            page += 1

    def post(self, path: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Make something; raises as `all`."""
        made: dict[str, Any] = self._ask("POST", path, values)
        return made

    def patch(self, path: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Change something; raises as `all`."""
        changed: dict[str, Any] = self._ask("PATCH", path, values)
        return changed

    def _ask(self, method: str, path: str, values: Mapping[str, Any] | None) -> Any:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self.token}",
            "User-Agent": "splitbed",
            "X-GitHub-Api-Version": _VERSION,
        }
        body = None if values is None else json.dumps(values).encode()
        url = f"{self.address.rstrip('/')}/repos/{self.repository}/{path}"
        answer = self.send(method, url, headers, body)
        for tried in range(1, _TRIES):
            wait = self._wait(answer, method, tried)
            if wait is None:
                break
            self.sleep(wait)
            answer = self.send(method, url, headers, body)
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES:
            raise self._refusal(method, path, answer)
        try:
            return json.loads(answer.body)
        except ValueError:
            raise ForgeError(
                f"{method} {self.repository}/{path}: the answer is not JSON, so it is not GitHub's.",
                "Check GITHUB_API_URL, and what stands between: a proxy, or a page that asks for a login.",
            ) from None

    def _wait(self, answer: Answer, method: str, tried: int) -> float | None:
        """Return the seconds after which to ask again; None where that is no use, or would take too long."""
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            # What makes something may have been done all the same: twice would be two comments.
            return float(2**tried) if method != "POST" else None
        if not _limited(answer):
            return None
        wait = self._limit_s(answer)
        return wait if wait <= LONGEST_WAIT_S else None

    def _limit_s(self, answer: Answer) -> float:
        with suppress(KeyError, ValueError):  # a proxy may give a date
            return float(answer.headers["retry-after"])
        if answer.headers.get("x-ratelimit-remaining") == "0":
            with suppress(KeyError, ValueError):
                return max(0.0, float(answer.headers["x-ratelimit-reset"]) - self.now()) + 1
        return _SECONDARY_S

    def _refusal(self, method: str, path: str, answer: Answer) -> ForgeError:
        what = f"{method} {self.repository}/{path.partition('?')[0]}"
        if _limited(answer):
            return ForgeError(
                f"{what}: the rate limit is reached, for {self._limit_s(answer):.0f} s more.",
                "Run it again after that.",
            )
        said = _message(answer.body)
        match answer.status:
            case status if status < HTTPStatus.BAD_REQUEST:
                remedy = "It is elsewhere now: give the repository's present name, and the API's own address."
            case HTTPStatus.UNAUTHORIZED:
                remedy = "The token of GITHUB_TOKEN is not valid."
            case HTTPStatus.FORBIDDEN | HTTPStatus.NOT_FOUND:
                remedy = (
                    "Check the repository's name, and give the job the permission: pull-requests: write for comments, "
                    "issues: write for issues. A pull request from a fork gets neither."
                )
            case _:
                remedy = ""
        return ForgeError(f"{what}: {answer.status} {said}".rstrip() + ".", remedy)


def _limited(answer: Answer) -> bool:
    """Tell a limit from a lack of rights: GitHub answers both with 403."""
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return True
    return answer.status == HTTPStatus.FORBIDDEN and (
        answer.headers.get("x-ratelimit-remaining") == "0"
        or "retry-after" in answer.headers
        or "rate limit" in _message(answer.body).lower()
    )


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body).get("message", ""))
    except (ValueError, AttributeError):
        return ""
