"""A double of GitHub's REST API, for comments and issues of one repository, with its pages, limits and rights."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from forge.github import Answer

TOKEN = "t0ken-of-a-test"  # noqa: S105  good for nothing
MOST_PER_PAGE = 100
LONGEST = 65_536


@dataclass
class Repository:
    """Answers requests as `forge.github.Send`.

    Attributes:
        name: OWNER/NAME.
        login: whose the token is.
        rights: of the token, as `pull-requests` and `issues`.
        refusals: answers that come before the true one, the first first.
        requests: method and path of all that came.
    """

    name: str = "octo/experiments"
    login: str = "github-actions[bot]"
    rights: frozenset[str] = frozenset({"pull-requests", "issues"})
    refusals: list[Answer] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    issues: list[dict[str, Any]] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        parts = urlsplit(url)
        self.requests.append((method, parts.path.removeprefix(f"/repos/{self.name}/")))
        if self.refusals:
            return self.refusals.pop(0)
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            return answer(401, {"message": "Bad credentials"})
        if not parts.path.startswith(f"/repos/{self.name}/"):
            return answer(404, {"message": "Not Found"})
        values = json.loads(body) if body is not None else {}
        return self._route(method, parts.path.removeprefix(f"/repos/{self.name}/"), parse_qs(parts.query), values)

    def thread(self, *, pull: bool, login: str, body: str, state: str = "open") -> int:
        """Open an issue or a pull request; both count in one row."""
        number = len(self.issues) + 1
        made = {"number": number, "title": "a title", "body": body, "state": state, "user": {"login": login}}
        url = f"https://github.example/{self.name}/issues/{number}"
        self.issues.append(made | {"html_url": url} | ({"pull_request": {}} if pull else {}))
        return number

    def say(self, number: int, login: str, body: str) -> int:
        """Add a comment to one; returns its id."""
        id_ = 1000 + len(self.comments)
        url = f"https://github.example/{self.name}/issues/{number}#issuecomment-{id_}"
        made = {"id": id_, "number": number, "body": body, "user": {"login": login}, "html_url": url}
        self.comments.append(made)
        return id_

    def _route(self, method: str, path: str, query: dict[str, list[str]], values: dict[str, Any]) -> Answer:
        right = "pull-requests" if "comments" in path else "issues"
        if method != "GET" and right not in self.rights:
            return answer(403, {"message": "Resource not accessible by integration"})
        if len(values.get("body", "")) > LONGEST:
            return answer(422, {"message": "Validation Failed"})
        if match := re.fullmatch(r"issues/(\d+)/comments", path):
            number = int(match[1])
            if method == "POST":
                id_ = self.say(number, self.login, values["body"])
                return answer(201, next(one for one in self.comments if one["id"] == id_))
            return page([one for one in self.comments if one["number"] == number], query)
        if match := re.fullmatch(r"issues/comments/(\d+)", path):
            return change(self.comments, "id", int(match[1]), values)
        if match := re.fullmatch(r"issues/(\d+)", path):
            return change(self.issues, "number", int(match[1]), values)
        if path == "issues":
            if method == "POST":
                number = self.thread(pull=False, login=self.login, body=values["body"])
                self.issues[-1]["title"] = values["title"]
                return answer(201, self.issues[number - 1])
            wanted = query.get("state", ["open"])[0]
            return page([one for one in self.issues if one["state"] == wanted], query)
        return answer(404, {"message": "Not Found"})


def page(items: list[dict[str, Any]], query: dict[str, list[str]]) -> Answer:
    size = min(int(query.get("per_page", ["30"])[0]), MOST_PER_PAGE)
    start = (int(query.get("page", ["1"])[0]) - 1) * size
    return answer(200, items[start : start + size])


def change(items: list[dict[str, Any]], key: str, value: int, values: dict[str, Any]) -> Answer:
    for one in items:
        if one[key] == value:
            one.update(values)
            return answer(200, one)
    return answer(404, {"message": "Not Found"})


def answer(status: int, body: Any, **headers: str) -> Answer:
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, json.dumps(body).encode())
