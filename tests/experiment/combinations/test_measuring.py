from typing import Any

import pytest

from tests.experiment.stacks import refused, settings_of

LOSS = [{"kind": "idle"}, {"kind": "loss", "victims": ["leader", "worker", "replica"]}]
FOLLOW_UP = [{"kind": "follow-up", "routes": ["service", "replica"]}]


@pytest.mark.parametrize(
    ("topology", "lacking"),
    [
        ({"kind": "single"}, [("worker", "Take leader."), ("replica", "Take leader.")]),
        ({"kind": "split", "pipeline": 2}, [("replica", "Take leader or worker.")]),
        ({"kind": "replicas", "count": 2}, [("worker", "Take leader or replica.")]),
        ({"kind": "none"}, []),
    ],
)
def test_only_pods_that_are_there_are_killed(topology: dict[str, Any], lacking: list[tuple[str, str]]) -> None:
    found = refused("rehearsal-split", topology=topology, benchmark__tests=LOSS)
    assert [(problem.path, problem.found, problem.remedy) for problem in found] == [
        ("benchmark.tests.1.victims", f"{victim} with topology.kind {topology['kind']}", remedy)
        for victim, remedy in lacking
    ]


def test_a_single_copy_is_asked_by_its_service() -> None:
    (problem,) = refused("rehearsal-split", benchmark__tests=FOLLOW_UP)
    assert (problem.path, problem.found) == ("benchmark.tests.0.routes", "replica with topology.kind split")
    settings_of("rehearsal-split", benchmark__tests=FOLLOW_UP, topology={"kind": "replicas", "count": 2})
