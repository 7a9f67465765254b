"""A plan as a person or Splitbed wrote it into a file."""

import textwrap
from pathlib import Path

from pydantic import ValidationError

from experiment.errors import SplitbedError
from experiment.workload import Plan


class PlanFileError(SplitbedError):
    """The plan cannot be read."""


def read_plan(path: Path) -> Plan:
    """Read a plan's JSON.

    Raises:
        PlanFileError: it cannot be read, or is no plan; the first thing that is wrong is named.
    """
    try:
        return parse_plan(path.read_bytes(), path)
    except OSError as error:
        raise PlanFileError(f"--plan {path}: {error.strerror or error}.", "Give the path of a plan.") from None


def parse_plan(text: bytes | str, path: Path) -> Plan:
    """Read a plan's JSON that stands in the file at `path`.

    Raises:
        PlanFileError: it is no plan.
    """
    try:
        return Plan.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        found = textwrap.shorten(repr(first["input"]), 100)
        raise PlanFileError(
            f"--plan {path}: {where}: {first['msg']}, found {found}.",
            "Mend the plan, or let Splitbed write it from a stack file.",
        ) from None
