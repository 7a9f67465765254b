"""One comment and one issue, each found again by its first line and changed in place."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from forge.github import GitHub

AUTHOR = "github-actions[bot]"
"""Who writes them on a runner. What somebody else wrote is never taken for ours, whatever its first line."""

LONGEST = 65_536
"""Characters that GitHub takes in a comment or an issue."""

Done = Literal["made", "changed", "kept", "closed", "nothing"]


@dataclass(frozen=True)
class Outcome:
    """What became of it, and where it is; nowhere if there is none."""

    done: Done
    url: str


def comment(github: GitHub, number: int, mark: str, body: str, author: str = AUTHOR) -> Outcome:
    """Write the one comment of a pull request or an issue, or put its new text in its place.

    Args:
        github: the repository.
        number: of the pull request.
        mark: the text's first line.
        body: all of the text.
        author: whose comment may be changed.

    Raises:
        ForgeError: GitHub refused.
    """
    _check(mark, body)
    for one in github.all(f"issues/{number}/comments"):
        if _ours(one, mark, author):
            if one["body"].splitlines() == body.splitlines():
                return Outcome("kept", one["html_url"])
            changed = github.patch(f"issues/comments/{one['id']}", {"body": body})
            return Outcome("changed", changed["html_url"])
    return Outcome("made", github.post(f"issues/{number}/comments", {"body": body})["html_url"])


def issue(github: GitHub, mark: str, title: str, body: str, author: str = AUTHOR) -> Outcome:
    """Open the one issue, or put its new text in its place; arguments and errors as `comment` has them."""
    _check(mark, body)
    found = _open_issue(github, mark, author)
    if found is None:
        return Outcome("made", github.post("issues", {"title": title, "body": body})["html_url"])
    if found["title"] == title and found["body"].splitlines() == body.splitlines():
        return Outcome("kept", found["html_url"])
    changed = github.patch(f"issues/{found['number']}", {"title": title, "body": body})
    return Outcome("changed", changed["html_url"])


def settle(github: GitHub, mark: str, author: str = AUTHOR) -> Outcome:
    """Close the one issue, if it is open."""
    found = _open_issue(github, mark, author)
    if found is None:
        return Outcome("nothing", "")
    closed = github.patch(f"issues/{found['number']}", {"state": "closed", "state_reason": "completed"})
    return Outcome("closed", closed["html_url"])


def _open_issue(github: GitHub, mark: str, author: str) -> Mapping[str, Any] | None:
    listed = github.all("issues", state="open", sort="created", direction="asc")
    return next((one for one in listed if "pull_request" not in one and _ours(one, mark, author)), None)


def _ours(one: Mapping[str, Any], mark: str, author: str) -> bool:
    first = (one.get("body") or "").partition("\n")[0].strip()
    return first == mark and (one.get("user") or {}).get("login") == author


def _check(mark: str, body: str) -> None:
    if body.partition("\n")[0] != mark:
        raise ValueError("the text does not begin with its mark, so it would never be found again")
    if len(body) > LONGEST:
        raise ValueError(f"the text has {len(body)} characters, and GitHub takes {LONGEST}")
