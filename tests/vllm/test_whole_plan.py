"""Every kind of test on real vLLM in the rehearsal's pods, single and split: all is measured, and nothing is missing.

Works in the home of `make rehearse ENGINE=vllm`, as the command's own test does; about twenty minutes a stack.
"""

import json
import sys
from itertools import chain
from pathlib import Path

import pytest
import yaml

from experiment.measure.counters import AROUND, EACH_SECOND
from experiment.measure.load import APART, MERGED
from experiment.record import RepeatRecord, parse_record
from experiment.workload import Plan
from rehearsal.home import home
from rehearsal.local import cluster_of
from tests.engine.command import Command

pytestmark = pytest.mark.vllm

TESTS = Path(__file__).parents[2] / "docs" / "examples" / "whole-plan.yaml"
DISTURBING = {"loss"}
ALONE = {"one-user", "prompt-length", "concurrency", "modes", "soak"}
"""Kinds whose streams are equal and alone, so that the engine's steps are theirs."""


@pytest.fixture(scope="module", params=["rehearsal-split", "rehearsal-single"])
def measured(request: pytest.FixtureRequest) -> tuple[str, list[RepeatRecord]]:
    """One stack's whole life with that plan, and its finished records."""
    stack = str(request.param)
    arguments = ("--stack", stack, "--engine", "vllm", "--set", f"benchmark.tests={TESTS.read_text()}", "--json")
    with Command(home(), "rehearse", *arguments) as command:
        status, _ = command.end(timeout_s=3600)
        said = command.said
    print(said, file=sys.stderr)
    assert status == 0, said
    runs = (home() / "rehearsals" / cluster_of("vllm") / stack / "results").iterdir()
    newest = max(runs, key=lambda run: run.stat().st_mtime)
    found = [parse_record(path.read_bytes()) for path in newest.glob("*/*.json")]
    return stack, sorted((one for one in found if isinstance(one, RepeatRecord)), key=lambda one: one.started_at)


def test_each_repeat_of_each_kind_is_there_once(measured: tuple[str, list[RepeatRecord]]) -> None:
    _, records = measured
    fields = {"run": "x", "model": "x", "seed": 0, "request_timeout_s": 1, "ready_timeout_s": 1}
    plan = Plan.model_validate_json(json.dumps(fields | {"tests": yaml.safe_load(TESTS.read_text())}))
    assert sorted((one.cell, one.repeat) for one in records) == sorted(
        (cell.name, number) for _, cell, number in plan.repeats
    )
    assert not any(one.engine.simulated for one in records)
    assert {one.engine.version for one in records} == {"0.31.0"}


def test_no_counter_is_missing(measured: tuple[str, list[RepeatRecord]]) -> None:
    stack, records = measured
    roles = ["leader", "worker"] if stack.endswith("split") else ["leader"]
    for record in records:
        for server in record.counters.servers:
            assert set(AROUND) <= server.before.values.keys()
            assert all(set(EACH_SECOND) <= look.values.keys() for look in server.each_second)
        assert [pod.role for pod in record.pods.pods] == roles, record.cell
        if record.test_kind in DISTURBING:
            continue
        assert record.counters.unknown is None
        assert len(record.counters.servers) == 1
        assert record.unwatched == (), record.cell
        assert record.disturbed == (), record.cell
        for pod in record.pods.pods:
            assert pod.unknown is None
            assert pod.before is not None
            assert pod.after is not None
            known = (*vars(pod.after.cpu).values(), pod.after.memory.process_bytes, pod.after.memory.page_cache_bytes)
            assert None not in known, f"{record.cell}: {pod.name}: {pod.after}"
        for use in record.figures.pods:
            assert None not in (use.cpu_s, use.throttled_share, use.throttled_s)
            assert record.test_kind == "idle" or use.cpu_per_token_s is not None


def test_each_kind_has_its_figures(measured: tuple[str, list[RepeatRecord]]) -> None:
    _, records = measured
    by_kind = {record.test_kind: record.figures for record in records}
    assert by_kind["interference"].interference is not None
    assert by_kind["follow-up"].follow_up is not None
    assert by_kind["follow-up"].follow_up.warm_hits
    assert by_kind["follow-up"].follow_up.cold_hits == 0
    assert by_kind["profiles"].goodput is not None
    assert by_kind["soak"].drift is not None
    assert by_kind["loss"].outage is not None
    assert by_kind["loss"].outage.failed
    outage = by_kind["loss"].outage
    assert outage.silent_s or outage.still_silent_s, "a busy machine may take longer than the load lasts"
    assert max(outage.silent_s or 0, outage.still_silent_s or 0) > 10
    for record in records:
        if record.test_kind in ALONE:
            assert record.figures.steps is not None, record.cell
            assert record.figures.steps.steps_per_token > 0


def test_the_mode_test_shows_both_modes_of_a_split(measured: tuple[str, list[RepeatRecord]]) -> None:
    stack, records = measured
    if not stack.endswith("split"):
        pytest.skip("one stage has one mode")
    steps = [record.figures.steps for record in records if record.test_kind == "modes"]
    found = {mode: [one.steps_per_token for one in steps if one and one.mode == mode] for mode in (MERGED, APART)}
    assert all(found.values()), [one and one.steps_per_token for one in steps]
    assert max(found[MERGED]) < min(found[APART])
    assert min(chain(*found.values())) >= 0.9
