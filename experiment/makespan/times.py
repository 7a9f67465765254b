"""The times of a stack: of `up`, of what of it cannot be avoided, and of `destroy`."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiment.makespan import tasks
from experiment.makespan.tasks import Registration
from experiment.makespan.timeline import Makespan, makespan
from experiment.waits import Wait

HANDS = 8
"""Resources that Pulumi works on at once: four for each core, here of a machine with two."""


@dataclass(frozen=True)
class Times:
    """How long a stack takes to come and to go.

    Attributes:
        up: as the program orders it.
        unavoidable: the longest chain that AWS, Kubernetes and the engine's start leave no way around.
        destroy: as the program orders it.
    """

    up: Makespan
    unavoidable: Makespan
    destroy: Makespan

    @property
    def ratio(self) -> float:
        """How much longer `up` takes than it must."""
        return self.up.seconds / self.unavoidable.seconds


def times(program: Sequence[Registration], serving: Wait, hands: int = HANDS) -> Times:
    """Return the times of what a program registers.

    Args:
        program: all of it, in its order.
        serving: how long the engine's pods take until they answer.
        hands: how many resources the engine works on at once; the unavoidable chain has all it wants.
    """
    needed = tasks.unavoidable(program, serving)
    return Times(
        up=makespan(tasks.up(program, serving), hands),
        unavoidable=makespan(needed, len(needed)),
        destroy=makespan(tasks.destroy(program), hands),
    )
