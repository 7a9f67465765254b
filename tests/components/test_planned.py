"""The plan in a preview: what it refuses is not made, what it says is an output."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from experiment.plan.machines import nodes
from experiment.plan.pods import BENCHMARK, CONTROLLER_OWNER, ENGINE, pods
from experiment.resources import cpu_quantity, memory_quantity
from experiment.settings import load
from tests.recording import Recording, run, stack_settings


def varied(stack: str, **changes: Any) -> Recording:
    return run({**stack_settings(stack), **changes})


def stopped(recording: Recording) -> str:
    """Return why nothing is made: the one resource that cannot be created says it."""
    (refusal,) = recording.resources
    assert refusal.type == "pulumi:index:Stash"
    assert refusal.before_create == ("plan",)
    return str(refusal.inputs["input"])


def test_a_mistake_that_is_not_accepted_stops_before_the_first_resource() -> None:
    said = stopped(varied("gemma-1b-split", accept=[]))
    assert said.startswith("The plan of gemma-1b-split stops here:\n  split-fits-one-pod: ")
    assert "accept: [split-fits-one-pod]" in said


def test_what_does_not_fit_stops_before_the_first_resource() -> None:
    engine = {**stack_settings("gemma-12b-split")["engine"], "max_model_len": 4096}
    said = stopped(varied("gemma-12b-split", engine=engine))
    assert "kv-cache-refused: A request of 4,096 tokens needs 0.68 GiB of KV cache, and 0.37 GiB are available" in said


def test_a_budget_stops_it() -> None:
    assert "over-budget" in stopped(varied("gemma-12b-split", budget={"usd": 1}))


def test_the_plan_is_told_in_the_log_and_in_an_output(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr("components.planned.pulumi.info", told.append)
    recording = varied("rehearsal-split")
    assert told[0] == "plan: rehearsal-split, split over 2 pods: nothing speaks against it"
    assert any("does not keep the model's weights" in line for line in told)
    plan = recording.outputs["plan"]
    assert plan["verdict"] == "nothing speaks against it"
    assert plan["figures"] == {"KV cache": "18,236 tokens"}


def test_the_output_is_the_same_an_hour_later() -> None:
    """An unchanged stack shows no change, whatever the hours until its end date."""
    before, after = (
        varied("rehearsal-split", end_date=end).outputs["plan"]
        for end in ("2199-01-01T00:00:00Z", "2198-01-01T00:00:00Z")
    )
    assert before == after


def test_the_plan_asks_for_what_the_pods_ask_for() -> None:
    stack = "rehearsal-split"
    recording = run(stack_settings(stack))
    settings = load(json.dumps(stack_settings(stack)), datetime(2026, 12, 1, tzinfo=UTC))
    asked = {
        pod.owner: (cpu_quantity(pod.cpu_millicores / 1000), memory_quantity(pod.memory_mib / 1024))
        for pod in pods(settings, nodes(settings.nodes))
    }
    pod = recording.one("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet").inputs["spec"]
    leader = pod["leaderWorkerTemplate"]["leaderTemplate"]["spec"]["containers"][0]
    job = recording.one("kubernetes:batch/v1:Job").inputs["spec"]["template"]["spec"]["containers"][0]
    chart = recording.one("kubernetes:helm.sh/v4:Chart").inputs["values"]
    found = {ENGINE: leader["resources"], BENCHMARK: job["resources"], CONTROLLER_OWNER: chart["resources"]}
    assert {owner: (it["requests"]["cpu"], it["requests"]["memory"]) for owner, it in found.items()} == asked
