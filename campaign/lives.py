"""What brings topologies up, has them measured, and ends them: on a user's own stack, or in a rehearsal."""

from pathlib import Path
from typing import Protocol

from campaign.campaign import End
from campaign.order import Turn
from experiment.topology import Topology


class Lives(Protocol):
    """The one stack that a campaign turns about."""

    def begin(self) -> bool:
        """Put right what a killed command has left; the stack may be up, down or in between.

        Returns:
            Whether it is up, so that only its topology is to be switched.

        Raises:
            SplitbedError: nothing can be done with it.
        """

    def measure(self, turn: Turn, topology: Topology, attempt: int, into: Path) -> tuple[str, ...] | None:
        """Make a deployment of the topology, wait until it is measured, and fetch the records into `into`/RUN.

        The deployment is a new one, even if the topology before it was the same: the run is the unit of analysis. If
        the stack is at this run already, since a command before was killed, it is gone on with.

        Returns:
            Where its pods ran; None if the benchmark failed, which another attempt goes on with.

        Raises:
            SplitbedError: the deployment itself failed, or the records cannot be had.
        """

    def end(self, how: End) -> None:
        """Leave the stack as asked.

        Raises:
            SplitbedError: that failed.
        """
