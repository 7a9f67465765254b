"""The lock file beside the stacks: what `splitbed pin` has looked up."""

from pathlib import Path

import pulumi

from experiment import pins
from experiment.pins import Pins

_PROJECT = Path(__file__).resolve().parent.parent
_BESIDE_THE_STACKS = "stacks/pins.lock.json"


def read() -> Pins:
    """Read the lock file that `splitbed:pins` names, or the one beside the stacks; one that is not there pins nothing.

    Raises:
        SplitbedError: it is not what `splitbed pin` writes.
    """
    path = _PROJECT / (pulumi.Config().get("pins") or _BESIDE_THE_STACKS)
    return pins.load(path.read_text(), str(path)) if path.is_file() else Pins()
