"""The times of every stack on EKS, from what its program registers: no edge too many, and the plan says the same."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from experiment.makespan import needs, tasks
from experiment.makespan.timeline import Makespan
from experiment.makespan.times import times
from experiment.plan.plan import make
from experiment.waits import NONE, Wait, waits
from stackfiles.stackfile import StackFile
from tests.components.aws.stack import settings
from tests.recording import STACKS, Recording, Registered, recorded, run, stack_settings

OWN = tuple(stack for stack in STACKS if stack_settings(stack)["cluster"]["kind"] == "eks")
MOST = 1.05
"""How much longer than it must an `up` may take."""
NAT = "aws:ec2/natGateway:NatGateway"


@pytest.fixture(params=OWN)
def recording(request: pytest.FixtureRequest) -> Recording:
    return recorded(request.param)


def whats(span: Makespan) -> list[str]:
    return [link.task.what for link in span.chain]


def delayed(program: Sequence[Registered], type_: str, by: str) -> list[Registered]:
    """Return the program with resources of a type ordered after those of another."""
    first = tuple(one.urn for one in program if one.type == by)
    assert first
    return [replace(one, dependencies=(*one.dependencies, *first)) if one.type == type_ else one for one in program]


@pytest.mark.parametrize("hands", [8, 16, 64])
def test_up_takes_hardly_longer_than_it_must_even_if_the_engine_starts_at_once(
    recording: Recording, hands: int
) -> None:
    """The longer the engine takes, the nearer is the ratio to one."""
    found = times(recording.resources, NONE, hands)
    assert 1 <= found.ratio <= MOST, whats(found.up)


def test_an_edge_too_many_is_seen(recording: Recording) -> None:
    waits_for_nat = delayed(recording.resources, tasks.COMPONENT_CLUSTER, NAT)
    found = times(waits_for_nat, NONE)
    assert found.ratio > MOST
    assert f"ec2:NatGateway {recording.one(NAT).name}" in whats(found.up)
    assert found.unavoidable == times(recording.resources, NONE).unavoidable


def test_the_chain_is_that_of_control_plane_network_nodes_controller_and_engine(recording: Recording) -> None:
    unavoidable = whats(times(recording.resources, Wait(100)).unavoidable)
    kinds = [what.partition(" ")[0] for what in unavoidable]
    assert kinds == [
        "ec2:Vpc", "ec2:Subnet", "eks:Cluster", "eks:Addon", "eks:NodeGroup", "kubernetes:Chart",
        "kubernetes:LeaderWorkerSet",
    ]  # fmt: skip


def test_nothing_that_is_needed_is_left_to_chance(recording: Recording) -> None:
    """What must be there before something is ordered before it by the program, too, whatever the way."""
    program = recording.resources
    said = {task.id: set(task.needs) for task in tasks.up(program, NONE)}
    for task in tasks.unavoidable(program, NONE):
        reached: set[str] = set()
        todo = [task.id]
        while todo:
            for need in said.get(todo.pop(), ()):
                if need not in reached:
                    reached.add(need)
                    todo.append(need)
        assert task.needs & said.keys() <= reached, task.what


def test_nodes_go_first_and_what_is_in_the_cluster_goes_with_it(recording: Recording) -> None:
    found = times(recording.resources, NONE).destroy
    kinds = [what.partition(" ")[0] for what in whats(found)]
    assert [kind for kind in kinds if kind.startswith("eks:")] == [
        "eks:Addon", "eks:NodeGroup", "eks:Addon", "eks:Cluster",
    ]  # fmt: skip
    assert not any(kind.startswith("kubernetes:") for kind in kinds)


@pytest.mark.parametrize("stack", OWN)
def test_the_plan_waits_for_the_same_as_the_program(stack: str) -> None:
    now = datetime(2026, 12, 1, 12, tzinfo=UTC)
    planned = make(StackFile.of(stack).check(now), now).duration
    serving_s = 100.0 if planned.serving_s is None else planned.serving_s  # how long the stand-in takes is not known
    found = times(recorded(stack).resources, Wait(serving_s))
    after = sum(link.task.wait.seconds for link in found.up.chain if "Job" in link.task.what)
    before = sum(step.seconds for step in planned.steps) - (planned.serving_s or 0)
    assert before + serving_s == pytest.approx(found.up.seconds - after, rel=0.005)
    assert planned.destroy_s == pytest.approx(found.destroy.seconds, rel=0.01)


def test_an_existing_network_is_not_waited_for() -> None:
    subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
    network = {"kind": "existing", "vpc": "vpc-0123456789abcdef0", "subnets": subnets}
    found = times(run(settings(cluster__network=network)).resources, NONE)
    assert found.ratio <= MOST
    assert not any(what.startswith("ec2:Vpc") for what in whats(found.up))


def test_who_may_enter_is_part_of_the_cluster() -> None:
    parts = [task.what for task in tasks.up(run(settings()).resources, NONE) if "AccessEntry" in task.what]
    assert parts == ["eks:AccessEntry testbed-ground-cluster-eks: access entries"]


def test_every_kind_with_needs_is_in_a_stack() -> None:
    kinds = {known for stack in OWN for one in recorded(stack).resources for known in (tasks.kind(one), one.type)}
    assert needs.NEEDS.keys() <= kinds


def test_every_wait_names_its_source_and_none_is_said_to_be_ours() -> None:
    kinds = {tasks.kind(one) for stack in OWN for one in recorded(stack).resources}
    for kind in kinds:
        for known in (waits(kind).create, waits(kind).delete):
            assert known.source
            assert known.basis in ("reported", "assumed")
