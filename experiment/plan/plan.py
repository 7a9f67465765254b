"""The plan of an experiment: whether it fits, where it lands, how long it takes, what it costs, and what to think over.

Computed from the settings and dated data alone, so that it is there before anything is made, in under a second.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from experiment.cautions import cautions
from experiment.plan import disk, paying, replicas, spending, splitting, unknowns
from experiment.plan.advice import Advice, judged
from experiment.plan.cache import Cache
from experiment.plan.duration import Duration, checkpoint_gib, duration
from experiment.plan.engine import engine, rehearsed
from experiment.plan.facts import Facts
from experiment.plan.machines import nodes
from experiment.plan.memory import Memory
from experiment.plan.money import Money, money
from experiment.plan.part import Part
from experiment.plan.placement import Placement, placement
from experiment.plan.pods import ENGINE, pods
from experiment.plan.refusals import Refusal, refusals
from experiment.plan.speed import Speed, speed
from experiment.plan.subject import Subject, subject
from experiment.plan.traffic import Flows, flows
from experiment.settings import Settings
from experiment.warning import Warning as Warned

SCHEMA_VERSION: Literal[1] = 1


class ExperimentPlan(Part):
    """All that can be known beforehand.

    Attributes:
        schema_version: of this JSON.
        now: the moment from which the hours until the end date count.
        subject: what is planned.
        memory: of the engine's pods; None if it cannot be told.
        cache: their KV cache; None likewise.
        placement: which node gets what.
        duration: to the first answer and to the last.
        flows: over the network.
        money: None where nothing is paid for by this stack.
        speed: what to expect; None where nothing is known.
        advice: what to think over, what stops first.
        refusals: why it cannot work.
        unknown: what the plan cannot tell, in words.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    now: datetime
    subject: Subject
    memory: Memory | None
    cache: Cache | None
    placement: Placement
    duration: Duration
    flows: Flows
    money: Money | None
    speed: Speed | None
    advice: tuple[Advice, ...]
    refusals: tuple[Refusal, ...]
    unknown: tuple[str, ...]

    @property
    def stops(self) -> tuple[str, ...]:
        """Why `up` does not go on, a sentence each; nothing if it may."""
        refused = (f"{one.name}: {one.text} {one.remedy}".strip() for one in self.refusals)
        mistakes = (
            f"{one.name}: {one.text} If it is meant, write accept: [{one.name}]." for one in self.advice if one.stops
        )
        return (*refused, *mistakes)

    @property
    def goes(self) -> bool:
        """Whether `up` may go on."""
        return not self.stops

    def to_json(self) -> str:
        """Return what `--json` prints; its schema is in `docs/plans/plan.schema.json`."""
        return self.model_dump_json(indent=1) + "\n"


def make(settings: Settings, now: datetime) -> ExperimentPlan:
    """Return the plan of a stack.

    Args:
        settings: as `experiment.settings.load` returned them.
        now: with its time zone, from which the hours until the end date count.

    Raises:
        SplitbedError: nothing is known of an instance type.
    """
    geometry = settings.model.known_geometry
    machines = nodes(settings.nodes)
    everything = pods(settings, machines)
    placed = placement(settings.nodes, machines, everything)
    beside = _beside(placed)
    engine_node = next(node for node in machines if node.name == "engine-1")
    found = engine(settings, geometry, node_gib=(engine_node.memory_mib - beside) / 1024)
    size = checkpoint_gib(geometry)
    fast = None if rehearsed(settings) else speed(settings, geometry)
    lasts = duration(settings, size, fast.benchmark_s if fast else None, simulated=rehearsed(settings))
    moved = flows(settings, geometry, size)
    costs = money(settings, lasts, now, moved)
    facts = Facts(
        settings=settings,
        geometry=geometry,
        cache=found.cache,
        memory=found.memory,
        whole=found.whole,
        half=found.half,
        checkpoint_gib=size,
        placement=placed,
        duration=lasts,
        beside_mib=beside,
        money=costs,
    )
    return ExperimentPlan(
        now=now,
        subject=subject(settings, simulated=rehearsed(settings)),
        memory=found.memory,
        cache=found.cache,
        placement=placed,
        duration=lasts,
        flows=moved,
        money=costs,
        speed=fast,
        advice=judged(_warnings(facts), settings.accept),
        refusals=tuple(refusals(settings, found, placed, costs)),
        unknown=(*found.unknown, *lasts.unknown, *_undecided(placed)),
    )


def _warnings(facts: Facts) -> Iterator[Warned]:
    yield from splitting.warnings(facts)
    yield from replicas.warnings(facts)
    yield from spending.warnings(facts)
    yield from disk.warnings(facts)
    yield from paying.warnings(facts)
    yield from unknowns.warnings(facts)
    yield from cautions(facts.settings)


def _undecided(placed: Placement) -> Iterator[str]:
    if placed.undecided:
        yield f"whether some order of arrival leaves pods Pending: {', '.join(placed.undecided)}"
    if placed.folded:
        yield "what daemon sets may lose to others: on so many nodes they are taken to come first"


def _beside(placed: Placement) -> int:
    """Return the most MiB that others than the engine ask for on an engine node."""
    return max(
        sum(place.memory_mib for place in room.pods if place.owner != ENGINE)
        for room in placed.nodes
        if room.group == "engine"
    )
