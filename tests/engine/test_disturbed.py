"""A pod deleted from outside in the middle of a repeat, on a real cluster: nothing of it passes for undisturbed."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiment.record import RepeatRecord, parse_record
from rehearsal import cluster as clusters
from rehearsal.local import CLUSTER
from tests.engine.command import Command, splitbed

pytestmark = [pytest.mark.engine, pytest.mark.long]

STACK = "rehearsal-split"
NAMESPACE = f"exp-{STACK}"
# Of ten seconds each: there is time to strike in the middle of one.
TESTS = "[{kind: one-user, output_tokens: 2000, repeats: 3}]"


@pytest.fixture(autouse=True)
def down(own_home: Path) -> Iterator[None]:
    yield
    splitbed(own_home, "cluster", "down")


def records(home: Path, where: str) -> list[RepeatRecord]:
    directory = home / "rehearsals" / "local" / STACK / "results"
    found = [parse_record(path.read_bytes()) for path in sorted(directory.glob(f"*/*/{where}"))]
    return [one for one in found if isinstance(one, RepeatRecord)]


def test_a_repeat_whose_worker_is_deleted_is_marked_and_measured_once_more(
    own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPLITBED_HOME", str(own_home))
    worker = f"/api/v1/namespaces/{NAMESPACE}/pods/exp-{STACK}-0-1"
    with Command(own_home, "rehearse", "--stack", STACK, "--set", f"benchmark.tests={TESTS}", "--json") as command:
        assert command.wait_for("finished one-user-1", timeout_s=600), command.said
        time.sleep(4)
        cluster = clusters.find(CLUSTER)
        assert cluster is not None
        uid = cluster.api().get(worker)["metadata"]["uid"]
        cluster.api().delete(worker)
        struck = time.monotonic()
        assert command.wait_for("finished one-user-2", timeout_s=600), command.said
        print(f"measured again {time.monotonic() - struck:.0f} s after the deletion")
        status, _ = command.end()
        said = command.said

    assert status == 0, said
    finished = records(own_home, "*.json")
    assert sorted(record.repeat for record in finished) == [1, 2, 3]
    assert all(record.disturbed == () for record in finished)
    (disturbed,) = records(own_home, "disturbed/*.json")
    assert disturbed.repeat == 2
    reasons = "; ".join(disturbed.disturbed)
    assert re.search(rf"pod exp-{STACK}-0-1 (is another one: {uid} was deleted|is gone|is being deleted)", reasons), (
        reasons
    )
    again = next(record for record in finished if record.repeat == 2)
    assert again.started_at > disturbed.started_at
    assert {pod.uid for pod in again.pods.pods}.isdisjoint({uid}), "the group was made anew"
    assert again.proof is not None, "what runs then is proven again"
    ids = [request.id for record in (*finished, disturbed) for request in record.requests]
    assert len(ids) == len(set(ids))
