"""The Hugging Face Hub: the files of one revision, and whether they are given to us."""

import json
import os
import re
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from components.pod.weights import web
from components.pod.weights.files import File
from components.pod.weights.refusal import RefusedError

HUB = "https://huggingface.co"
_AGENT = {"User-Agent": "splitbed"}
_INVALID = "Invalid credentials in Authorization header"
_SAID_LONGEST = 160


@dataclass(frozen=True)
class Hub:
    """A model at a revision, asked for by a token.

    Attributes:
        model: as `google/gemma-3-1b-it`.
        revision: a commit; `main` if nobody has pinned one.
        token: never shown; none for what is given to anybody.
        held_in: where a person puts a new token, for what is said when this one is refused.
    """

    model: str
    revision: str
    token: str | None = field(repr=False)
    held_in: str

    def files(self) -> list[File]:
        """Return all files of the revision, once it is certain that they are given to us.

        Raises:
            RefusedError: they are not.
            UnreachableError: the hub does not answer.
        """
        quoted = urllib.parse.quote(self.revision, safe="")
        told = self._asked(f"{_address()}/api/models/{self.model}/revision/{quoted}?blobs=true")
        try:
            commit = str(told["sha"])
            found = list(self._listed(told["siblings"], commit))
        except (KeyError, TypeError, ValueError):
            raise web.UnreachableError(f"{_address()} answers for {self.model} what is no list of files") from None
        if not found:
            raise RefusedError(
                f"{self.model} cannot be served, because it has no files at {self.revision}: mend model.name or "
                "model.revision"
            )
        # The list is given to anybody; the files of a gated model are not.
        smallest = min(found, key=lambda file: (file.path != "config.json", file.size))
        address, headers, private = smallest.request()
        try:
            web.opened(address, {**headers, "Range": "bytes=0-0"}, private=private).close()
        except web.AnswerError as error:
            raise self._refused(error) from None
        return found

    def _asked(self, url: str) -> Any:
        try:
            with web.opened(url, _AGENT, private=self._signature()) as answer:
                return json.load(answer)
        except web.AnswerError as error:
            raise self._refused(error) from None
        except (OSError, ValueError) as error:
            raise web.UnreachableError(f"{_address()} stops in the middle of its answer ({web.said(error)})") from None

    def _listed(self, siblings: Any, commit: str) -> Iterator[File]:
        for one in siblings:
            path, large = str(one["rfilename"]), one.get("lfs")
            address = f"{_address()}/{self.model}/resolve/{commit}/{urllib.parse.quote(path)}"
            yield File(
                path=path,
                size=int(large["size"] if large else one["size"]),
                digest=str(large["sha256"] if large else one["blobId"]),
                kind="sha256" if large else "git",
                request=lambda address=address: (address, dict(_AGENT), self._signature()),  # type: ignore[misc]
            )

    def _signature(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def _refused(self, error: web.AnswerError) -> RefusedError:
        """Say why, by the code that the hub puts into a header for its own tools."""
        code, said = error.headers.get("x-error-code") or "", self._quoted(error.headers.get("x-error-message") or "")
        page, what = f"{_address()}/{self.model}", f"{self.model} at {self.revision[:12]}"
        if code == "RevisionNotFound":
            return RefusedError(f"{what} cannot be fetched, because it has no such revision: mend model.revision")
        if code == "EntryNotFound":
            return RefusedError(
                f"{what} cannot be fetched, because a file that the hub lists is not there: take another model.revision"
            )
        if error.status == 401 and self.token and (said == _INVALID or code != "GatedRepo"):
            return RefusedError(
                f"{what} cannot be fetched, because the hub does not know this token or has no such model for it "
                f"({said or 'status 401'}): put a token that holds into {self.held_in}, and check model.name"
            )
        if self.token is None and error.status in (401, 403):
            return RefusedError(
                f"{what} cannot be fetched, because it is given only to those who bring a token, and this pod has "
                f"none: accept its licence at {page} and name a token in model.token_secret"
            )
        if code == "GatedRepo" or error.status == 403:
            return RefusedError(
                f"{what} cannot be fetched, because it is gated and this token's owner has not been let in "
                f"({said or f'status {error.status}'}): accept its licence at {page}, or put a token of who did into "
                f"{self.held_in}; the pod tries again by itself"
            )
        if code == "RepoNotFound" or error.status == 404:
            return RefusedError(f"{what} cannot be fetched, because the hub has no such model: mend model.name")
        return RefusedError(
            f"{what} cannot be fetched, because the hub answers {error.status} ({said or 'it does not say why'}): "
            f"look at {page}"
        )

    def _quoted(self, said: str) -> str:
        """Return the first sentence of what the hub said, without the token, should it repeat it."""
        plain = " ".join(re.sub(r"[^\x20-\x7e]", " ", said).split())
        hidden = plain.replace(self.token, "(the token)") if self.token else plain
        return hidden.partition(". ")[0][:_SAID_LONGEST].rstrip(" .")


def _address() -> str:
    """Return the hub's address; `HF_ENDPOINT` names a mirror, as for Hugging Face's own tools."""
    return os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
