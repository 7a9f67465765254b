"""Stack files: read, varied, checked, and written elsewhere."""

import copy
import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from experiment.errors import SplitbedError
from experiment.settings import KEY, Settings, load
from stackfiles.atomic import write_atomically
from stackfiles.yamltext import YAMLTextError, read, write

STACKS = Path(__file__).resolve().parent.parent / "stacks"

_LARGEST_BYTES = 100_000  # a moment to read; ten times as much takes many seconds
_KINDS = {list: "a list", str: "text", type(None): "nothing"}


class StackFileError(SplitbedError):
    """A stack file is missing or is not what Pulumi would read."""


@dataclass(frozen=True)
class StackFile:
    """The content of a stack file, with the experiment's settings in it."""

    document: Mapping[str, Any]

    @classmethod
    def of(cls, stack: str) -> "StackFile":
        """Read the tracked file of a stack.

        Raises:
            StackFileError: there is none, it is no YAML mapping, or it lacks the settings.
        """
        path = STACKS / f"Pulumi.{stack}.yaml"
        if stack not in stacks():
            near = difflib.get_close_matches(stack.lower(), stacks(), n=1)
            meant = f"Did you mean {near[0]}? " if near else ""
            raise StackFileError(
                f"There is no stack {stack}: {path} does not exist.", f"{meant}Known are {', '.join(stacks())}."
            )
        return cls.read(path)

    @classmethod
    def read(cls, path: Path) -> "StackFile":
        """Read a stack file; raises as `of`."""
        document = mapping(path)
        config = document.get("config")
        if not isinstance(config, dict) or not isinstance(config.get(KEY), dict):
            raise StackFileError(
                f"{path}: config has no mapping under {KEY}.", "See stacks/Pulumi.rehearsal-split.yaml for one."
            )
        return cls(document)

    def replaced(self, overrides: Mapping[str, Any]) -> "StackFile":
        """Return a copy with the settings at dotted paths replaced.

        Raises:
            StackFileError: a path leads through something that is no mapping.
        """
        document = copy.deepcopy(dict(self.document))
        for path, value in overrides.items():
            _replace(document["config"][KEY], path, copy.deepcopy(value))
        return StackFile(document)

    def check(self, now: datetime) -> Settings:
        """Check the settings as the program will, and return them.

        Raises:
            SettingsError: with all that is wrong in them.
        """
        return load(json.dumps(self.document["config"][KEY], default=str), now)

    def write(self, path: Path) -> None:
        """Write to a file for its owner only, whole or not at all.

        The `encryptionsalt` of the file in that place, which belongs to its own backend, is kept.
        """
        document = dict(self.document)
        if path.exists() and (salt := mapping(path).get("encryptionsalt")):
            document["encryptionsalt"] = salt
        write_atomically(path, write(document))


def stacks() -> tuple[str, ...]:
    """Return the names of all tracked stacks."""
    return tuple(
        sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in STACKS.glob("Pulumi.*.yaml"))
    )


def mapping(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping.

    Raises:
        StackFileError: it cannot be read, or holds something else.
    """
    try:
        with path.open("rb") as file:  # what never ends has no size
            content = file.read(_LARGEST_BYTES + 1)
        if len(content) > _LARGEST_BYTES:
            raise StackFileError(
                f"{path} is longer than {_LARGEST_BYTES // 1000} kB, and a stack file has a few.", "Name another file."
            )
        document = read(content.decode("utf-8"))
    except OSError as error:
        raise StackFileError(f"{path}: {error.strerror}.", "Check its name and who may read it.") from error
    except UnicodeDecodeError as error:
        raise StackFileError(f"{path} is no text in UTF-8: byte {error.start + 1}.", "Save it as UTF-8.") from error
    except YAMLTextError as error:
        raise StackFileError(f"{path} is not YAML: {error}.", "Mend the file and run again.") from error
    if not isinstance(document, dict):
        raise StackFileError(
            f"{path} holds {_KINDS.get(type(document), 'one value')}, not a mapping.", "Mend the file."
        )
    return document


def _replace(settings: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for key in parents:
        child = settings.setdefault(key, {})
        if not isinstance(child, dict):
            raise StackFileError(
                f"{path}: {key} is {child!r}, not a mapping, so nothing can be set below it.", "Check the path."
            )
        settings = child
    settings[last] = value
