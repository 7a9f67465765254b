"""Who may kill a pod: nobody by itself; the cluster's killer is given to a session whose plan has the loss test."""

from typing import Protocol

from experiment.kinds.loads import Victim


class Killer(Protocol):
    """Kills one pod of the engine."""

    async def kill(self, victim: Victim) -> None:
        """Order the death of a pod, and return as soon as it is ordered."""
