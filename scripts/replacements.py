"""Settings replaced on the command line, `--set path=value`."""

from collections.abc import Sequence
from typing import Any

from experiment.errors import SplitbedError
from stackfiles.yamltext import YAMLTextError, read

_DEEPEST = 16
_LONGEST_SHOWN = 80


def parsed(arguments: Sequence[str]) -> dict[str, Any]:
    """Return dotted path to value; a value is read as YAML, so `2` is a number and `"2"` a text.

    Raises:
        SplitbedError: an argument is not PATH=VALUE, its path can be none, or its value is not YAML.
    """
    settings: dict[str, Any] = {}
    for argument in arguments:
        path, equals, value = argument.partition("=")
        if not (path and equals):
            raise SplitbedError(
                f"--set {_shortened(argument)}: this is not PATH=VALUE.",
                "Write for example --set topology.kind=single.",
            )
        keys = path.split(".")
        if len(keys) > _DEEPEST or not all(key.isprintable() and key and key == key.strip() for key in keys):
            raise SplitbedError(
                f"--set {_shortened(argument)}: no setting has such a path.",
                "A path is keys with single dots between them, as in topology.kind.",
            )
        try:
            settings[path] = read(value)
        except YAMLTextError as error:
            raise SplitbedError(
                f"--set {_shortened(argument)}: the value is not YAML: {error}.", "Quote it if it is meant as text."
            ) from error
    return settings


def _shortened(argument: str) -> str:
    return argument if len(argument) <= _LONGEST_SHOWN else f"{argument[:_LONGEST_SHOWN]}..."
