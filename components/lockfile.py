"""The lock file beside the stacks: what `splitbed pin` has looked up."""

from pathlib import Path

import pulumi

from experiment import pins
from experiment.pins import Pins

_BESIDE_THE_STACKS = Path(__file__).resolve().parent.parent / "stacks" / "pins.lock.json"


def read() -> Pins:
    """Read the lock file that `splitbed:pins` names, or the one beside the stacks; one that is not there pins nothing.

    Raises:
        SplitbedError: it is not what `splitbed pin` writes.
    """
    named = pulumi.Config().get("pins")
    path = Path(named) if named else _BESIDE_THE_STACKS
    return pins.load(path.read_text(), str(path)) if path.is_file() else Pins()
