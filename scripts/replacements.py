"""Settings replaced on the command line, `--set path=value`."""

from collections.abc import Sequence
from typing import Any

import yaml

from experiment.errors import SplitbedError


def parsed(arguments: Sequence[str]) -> dict[str, Any]:
    """Return dotted path to value; a value is read as YAML, so `2` is a number and `"2"` a text.

    Raises:
        SplitbedError: an argument is not PATH=VALUE, or its value is not YAML.
    """
    settings = {}
    for argument in arguments:
        path, equals, value = argument.partition("=")
        if not (path and equals):
            raise SplitbedError(
                f"--set {argument}: this is not PATH=VALUE.", "Write for example --set topology.kind=single."
            )
        try:
            settings[path] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise SplitbedError(f"--set {argument}: the value is not YAML: {error}.", "Quote it.") from error
    return settings
