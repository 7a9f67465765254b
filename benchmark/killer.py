"""Who may kill a pod: nobody by itself; the cluster's killer is given to a session whose plan has the loss test.

KillError
    no pod was killed where one was to be.
"""

from typing import NamedTuple, Protocol

from experiment.errors import SplitbedError
from experiment.kinds.loads import Victim


class KillError(SplitbedError):
    """No such pod is there, or it could not be killed."""


class Killed(NamedTuple):
    """A pod whose death was ordered, and when, by the clock of all stamps."""

    pod: str
    at_s: float


class Killer(Protocol):
    """Kills one pod of the engine."""

    async def kill(self, victim: Victim) -> Killed:
        """Order the death of a pod, and return as soon as it is ordered.

        Raises:
            KillError: none was killed.
        """
