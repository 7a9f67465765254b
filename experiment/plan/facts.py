"""What advice is given on: the parts of a plan that were computed before it."""

from dataclasses import dataclass

from experiment.catalogue.models import Geometry
from experiment.plan.cache import Cache
from experiment.plan.duration import Duration
from experiment.plan.memory import Memory
from experiment.plan.money import Money
from experiment.plan.placement import Placement
from experiment.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Everything that is known.

    Attributes:
        settings: of the stack.
        geometry: of the model; None if nothing is known of it.
        cache: its KV cache; None if it could not be computed.
        memory: of its pods; None if it could not be computed.
        whole: memory of one pod that holds the whole model with the KV cache that it then needs; None likewise.
        half: memory of each GPU if half as many held each copy; None where that is not possible or not known.
        checkpoint_gib: size of the weights as they are fetched; None if it is not known.
        placement: of all pods.
        duration: to the first answer.
        beside_mib: memory requested on an engine node besides engine pods.
        money: what it costs; None where nothing is paid for by this stack.
    """

    settings: Settings
    geometry: Geometry | None
    cache: Cache | None
    memory: Memory | None
    whole: Memory | None
    half: Memory | None
    checkpoint_gib: float | None
    placement: Placement
    duration: Duration
    beside_mib: int
    money: Money | None
