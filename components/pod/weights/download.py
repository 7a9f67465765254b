"""Brings one file: from where an earlier try stopped, and checked before it has its name."""

import hashlib
import os
from collections.abc import Callable, Iterator
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from components.pod.weights import web
from components.pod.weights.files import File
from components.pod.weights.patience import patiently
from components.pod.weights.refusal import RefusedError

PART = ".part"
"""Ends the names of files that are still to come, wholly or in part."""

_CHUNK = 1 << 20
_TRIES = 3
_PARTIAL = 206


def bring(file: File, directory: Path, came: Callable[[int], None]) -> None:
    """Put a file into a directory, unless it is there.

    Args:
        file: which.
        directory: its path is relative to it.
        came: is told of bytes as they are there; of a negative number when some were no good.

    Raises:
        RefusedError: it is not to be had.
        OSError: the disk does not take it.
    """
    target = directory / file.path
    if target.is_file() and target.stat().st_size == file.size:
        came(file.size)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + PART)
    part.touch()
    came(part.stat().st_size)
    for _ in range(_TRIES):
        sound = patiently(file.path, lambda: _fetched(file, part, came), lambda: part.stat().st_size)
        if not sound or _digest(file, part) == file.digest:
            part.rename(target)
            return
        print(f"{file.path}: came with another checksum than its source tells; once more", flush=True)
        came(-file.size)
        os.truncate(part, 0)
    raise RefusedError(
        f"{file.path} cannot be had, because it came {_TRIES} times with another checksum than its source tells: "
        "something on the way alters it, or the source is damaged"
    )


def _fetched(file: File, part: Path, came: Callable[[int], None]) -> bool:
    """Append what is missing; tell whether the digest is one of the content."""
    before = part.stat().st_size
    # The last byte is asked for again in any case: what the answer says of the file is wanted, too.
    there = min(before, max(file.size - 1, 0))
    with _asked(file, there) as answer, part.open("r+b") as out:
        if answer.status != _PARTIAL:
            there = 0
        came(there - before)
        out.truncate(there)
        out.seek(there)
        for chunk in _chunks(answer):
            out.write(chunk)
            there += len(chunk)
            came(len(chunk))
            if there > file.size:
                break
        out.flush()
        os.fsync(out.fileno())
        encrypted = answer.headers.get("x-amz-server-side-encryption", "AES256")
    if there != file.size:
        raise web.UnreachableError(f"it ended after {there} of {file.size} bytes")
    # S3's tag is a checksum only of what is not encrypted with a key of KMS.
    return bool(file.digest) and (file.kind != "md5" or encrypted == "AES256")


def _asked(file: File, there: int) -> HTTPResponse:
    url, headers, private = file.request()
    ranged = {"Range": f"bytes={there}-"} if there else {}
    try:
        return web.opened(url, {**headers, **ranged, "Accept-Encoding": "identity"}, private=private)
    except web.AnswerError as error:
        if error.status in (401, 403):  # a signature that ran out on the way, or a right that was taken away
            raise web.UnreachableError(f"its host answers {error.status}") from None
        raise RefusedError(
            f"{file.path} cannot be had, because its host answers {error.status}: look whether it is still where its "
            "source lists it"
        ) from None


def _chunks(answer: HTTPResponse) -> Iterator[bytes]:
    while True:
        try:
            chunk = answer.read(_CHUNK)
        except (OSError, HTTPException) as error:
            raise web.UnreachableError(f"the connection broke ({web.said(error)})") from None
        if not chunk:
            return
        yield chunk


def _digest(file: File, path: Path) -> str:
    digest = hashlib.new("sha1" if file.kind == "git" else file.kind, usedforsecurity=False)
    if file.kind == "git":
        digest.update(b"blob %d\0" % file.size)
    with path.open("rb") as content:
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
