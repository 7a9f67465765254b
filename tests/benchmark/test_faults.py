"""Faults at random moments, by seed, on a virtual clock: nothing lost, nothing counted twice, nothing hushed up."""

import asyncio
import random
import re
from pathlib import Path

import pytest

from experiment.kinds.alone import OneUser
from experiment.kinds.loads import Concurrency
from experiment.kinds.sharing import FollowUp, Interference
from experiment.workload import Plan
from tests.benchmark.lab import Lab, StandIn, in_lab

pytestmark = pytest.mark.thorough

SEEDS = range(4)


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  reproducible on purpose; no secret


def plan_of(lab: Lab) -> Plan:
    return lab.plan(
        OneUser(kind="one-user", output_tokens=20, repeats=3),
        Concurrency(kind="concurrency", users=(3,), output_tokens=20, requests=1, repeats=2),
        Interference(kind="interference", stream_tokens=60, after_s=0.1, prompt_tokens=(800,), repeats=2),
        FollowUp(kind="follow-up", history_tokens=400, repeats=2),
    )


def finished(lab: Lab, plan: Plan) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in lab.store(plan).directory.glob("*.json")}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_run_that_is_broken_off_again_and_again_ends_with_each_repeat_once(tmp_path: Path, seed: int) -> None:
    async def main(lab: Lab) -> None:
        dice = seeded(seed)
        endpoint = lab.serve("engine", await lab.engine("fast"))
        plan = plan_of(lab)
        known: dict[str, bytes] = {}
        sessions = 0
        complete = False
        while not complete and sessions < 100:
            sessions += 1
            session = lab.session(plan, endpoint)
            task = asyncio.ensure_future(session.run())
            lab.loop.call_later(dice.uniform(0.1, 2), task.cancel)
            ended = (await asyncio.gather(task, return_exceptions=True))[0]
            assert ended is None or isinstance(ended, asyncio.CancelledError)
            now = finished(lab, plan)
            assert known.items() <= now.items(), "what was finished stays as it is"
            known = now
            complete = session.tally.complete
        assert len(known) == len(plan.repeats) == 9
        assert sessions > 1
        assert all(record.result == "finished" for record in lab.records())
        partial = lab.records("partial/*.json")
        assert all(record.result == "partial" and record.why for record in partial)
        ids = [request.id for record in lab.records() + partial for request in record.requests]
        assert len(ids) == len(set(ids)), "no request is in two records"

    in_lab(tmp_path, main)


class _Restarts:
    """An engine that is started anew at a moment, as its counters tell it: all of them begin at zero."""

    def __init__(self, lab: Lab, engine: StandIn, at_s: float) -> None:
        self.at_s = at_s
        text = engine.observations.text

        def told() -> str:
            if lab.loop.time() < self.at_s:
                return text()
            return re.sub(r"(?m)^process_start_time_seconds .*$", "process_start_time_seconds 4e9", text())

        engine.observations.text = told  # type: ignore[method-assign]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_restart_in_a_repeat_is_never_reported_undisturbed(tmp_path: Path, seed: int) -> None:
    async def main(lab: Lab) -> None:
        engine = await lab.engine("fast")
        endpoint = lab.serve("engine", engine)
        restarts = _Restarts(lab, engine, lab.loop.time() + seeded(seed).uniform(0, 5))
        plan = plan_of(lab)
        await lab.session(plan, endpoint).run()
        everything = lab.records() + lab.records("disturbed/*.json")
        assert len(lab.records()) == 9
        for record in everything:
            (server,) = record.counters.servers
            straddles = server.before.answered_s < restarts.at_s <= server.after.asked_s
            assert bool(record.disturbed) is straddles, record.cell
        assert not any(record.disturbed for record in lab.records()), "a disturbed one was measured once more"

    in_lab(tmp_path, main)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_engine_that_dies_is_no_success_and_loses_nothing(tmp_path: Path, seed: int) -> None:
    async def main(lab: Lab) -> None:
        first, second = await lab.engine("fast"), await lab.engine("fast")
        endpoint = lab.serve("engine", first)
        plan = plan_of(lab)
        lab.loop.call_later(seeded(seed).uniform(0.1, 3), first.server.engine.die)
        session = lab.session(plan, endpoint)
        ended = (await asyncio.gather(session.run(), return_exceptions=True))[0]
        assert "completed not even one token" in str(ended) or "warm-up" in str(ended) or "not ready" in str(ended)
        known = finished(lab, plan)
        assert len(known) == session.tally.measured < 9
        failed = lab.records("failed/*.json")
        assert all(record.result == "failed" and record.why for record in failed)
        lab.serve("engine", second)
        again = lab.session(plan, endpoint)
        await again.run()
        assert again.tally.complete
        assert known.items() <= finished(lab, plan).items()
        assert len(finished(lab, plan)) == 9

    in_lab(tmp_path, main)
