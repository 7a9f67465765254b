"""A stack on both sides of a change: as it was in the tree of its base, and as it is in the working tree."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from experiment import pins
from experiment.errors import SplitbedError
from experiment.pins import Pins
from experiment.settings import KEY, Settings
from stackfiles.stackfile import StackFile

_NEVER_PAST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Side:
    """A stack before or after the change: its file and settings, as far as there are any, and that tree's pins."""

    project: Path
    path: Path
    file: StackFile | None
    settings: Settings | None
    pins: Pins

    @property
    def plain(self) -> Mapping[str, Any]:
        """The settings as its file has them; nothing of a stack that is not there."""
        found: Mapping[str, Any] = self.file.document["config"][KEY] if self.file else {}
        return found


def read(tree: Path, name: str) -> Side:
    """Read one side, whatever its end date.

    Raises:
        SplitbedError: its file is there, and cannot be read or is wrong.
    """
    path, lock = tree / "stacks" / f"Pulumi.{name}.yaml", tree / "stacks" / "pins.lock.json"
    known = pins.load(lock.read_text(encoding="utf-8"), str(lock)) if lock.is_file() else Pins()
    if not path.is_file():
        return Side(tree, path, None, None, known)
    file = StackFile.read(path)
    return Side(tree, path, file, file.check(_NEVER_PAST), known)


def read_before(tree: Path, name: str) -> Side:
    """Read how it was; what cannot be read any more was not there, for all that can be told."""
    try:
        return read(tree, name)
    except SplitbedError:
        return Side(tree, tree / "stacks" / f"Pulumi.{name}.yaml", None, None, Pins())


def unpinned(before: Side, after: Side) -> Iterator[str]:
    """Return what is not pinned, and was, or was not there to be."""
    if before.settings is None or after.settings is None:
        return
    was = pins.missing(pins.apply(before.settings, before.pins), before.pins)
    yield from (what for what in pins.missing(pins.apply(after.settings, after.pins), after.pins) if what not in was)
