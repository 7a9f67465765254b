"""Records handed out through a log, one a line, where they lie on a volume that only the pod can read."""

import json
import re
from pathlib import PurePosixPath

from pydantic import ValidationError

from experiment.errors import SplitbedError
from experiment.record import RepeatRecord, SessionRecord, parse_record

PREFIX = "splitbed-record "
_PATH = re.compile(
    r"(?P<run>[a-z0-9-]{1,24})/(?P<plan>[0-9a-f]{12})/((failed|partial|disturbed|sessions)/)?[a-z0-9-]{1,64}\.json"
)
_LONGEST_SHOWN = 80


class HandoutError(SplitbedError):
    """A line that begins as a record's and is none."""


def is_record_path(path: str) -> bool:
    """Return whether a path is one that a store gives to a record; it leads nowhere but below the results directory."""
    return _PATH.fullmatch(path) is not None


def record_line(path: PurePosixPath, record: RepeatRecord | SessionRecord) -> str:
    """Return the line of a record whose file is at `path` below the results directory; plain ASCII, without its end."""
    text = json.dumps(json.loads(record.model_dump_json()), separators=(",", ":"))
    return f"{PREFIX}{path} {text}"


def parse_record_line(text: str) -> tuple[PurePosixPath, RepeatRecord | SessionRecord]:
    """Read a line that `record_line` wrote.

    The path is one that a store gives to a record of this run and plan: it leads nowhere else.

    Raises:
        HandoutError: the line is cut, is no record, or its path is not that of its record.
    """
    path, _, content = text.removeprefix(PREFIX).partition(" ")
    found = _PATH.fullmatch(path)
    if not text.startswith(PREFIX) or found is None:
        raise HandoutError(f"{_shown(text)}: this names no file of a record.")
    try:
        record = parse_record(content)
    except ValidationError as error:
        raise HandoutError(f"{path}: {error.errors(include_url=False)[0]['msg']}, in {_shown(content)}.") from None
    if (record.run, record.plan_hash) != (found["run"], found["plan"]):
        raise HandoutError(f"{path}: its record is of run {_shown(record.run)}, plan {_shown(record.plan_hash)}.")
    return PurePosixPath(path), record


def _shown(text: str) -> str:
    return ascii(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")
