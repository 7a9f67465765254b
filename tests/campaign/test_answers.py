"""Whole campaigns on the benchmark's own session against the stand-in engine, on a virtual clock: are the words true?

The records are taken as if of a real engine, or nothing would be judged.
"""

import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from campaign import topologies
from campaign.looks import judged
from campaign.order import Turn
from campaign.topologies import mapping
from experiment.kinds.alone import OneUser
from experiment.kinds.loads import Concurrency
from experiment.topology import Topology
from rehearsal.engine.profile import PROFILES
from report.verdict.verdict import Verdict
from tests.benchmark.lab import Lab, in_lab
from tests.benchmark.records import REAL
from tests.campaign.conftest import DoubleOfLives, Stage

pytestmark = pytest.mark.thorough

PROFILE = PROFILES["post-1b-single"]
TIMES = ("step_s", "sequence_s", "prefill_token_s", "schedule_s", "frontend_s")


@dataclass
class LabLives(DoubleOfLives):
    """Each turn is an engine of its own in the lab; no two are equally fast, and all drift."""

    seed: int = 1

    def _write(self, turn: Turn, topology: Topology, into: Path) -> None:
        dice = random.Random(f"{self.seed}/{turn.number}")  # noqa: S311  reproducible on purpose; no secret
        drift = 1 + 0.004 * turn.number + dice.gauss(0, self.scatter)
        factor = drift * self.speed.get(topologies.label(topology), 1.0)
        times = {name: getattr(PROFILE, name) * factor for name in TIMES}
        written = into / turn.run / "hash"
        written.mkdir(parents=True, exist_ok=True)

        async def main(lab: Lab) -> None:
            engine = await lab.engine(PROFILE.name, **times)
            tests = (
                OneUser(kind="one-user", output_tokens=12, repeats=2),
                Concurrency(kind="concurrency", users=(2, 4), output_tokens=12, requests=1, repeats=1),
            )
            for record in await lab.measure(lab.serve("engine", engine), *tests, topology=mapping(topology)):
                of_turn = {"run": turn.run, "engine": REAL, "started_at": self.clock.now}
                path = written / f"{record.cell}-{record.repeat}.json"
                path.write_text(record.model_copy(update=of_turn).to_json())

        in_lab(into.parent / "lab" / turn.run, main)


def campaign(stage: Stage, speed: float, looks: tuple[int, ...], seed: int = 1) -> tuple[str, Verdict]:
    """Carry out a campaign whose split takes so many times as long; return why it ended, and the verdict."""
    stage.fields = {"looks": looks, "seed": seed}
    stage.lives = LabLives(stage.clock, {"split (pipeline 2)": speed}, scatter=0.01, seed=seed)
    return stage.command(), judged(stage.directory, stage.campaign, {})


def test_a_true_difference_of_10_per_cent_is_found_and_its_size_told(stage: Stage) -> None:
    why, found = campaign(stage, 1.1, (4, 6, 8))
    deciding = [one for one in found.comparisons if one.judged]
    assert {one.cell for one in deciding} == {"one-user", "concurrency-2", "concurrency-4"}
    assert {one.word for one in deciding} == {"slower"}
    for one in deciding:
        assert one.difference is not None
        assert one.difference.low is not None
        assert one.difference.high is not None
        assert one.difference.paired, "it drifts by 0.4 % a turn, which cancels in pairs"
        assert one.difference.low < 1 / 1.1 - 1 < one.difference.high
    assert "would have been shown in every judged comparison" in why
    assert len(stage.lives.measured) < 16, "and the campaign ends before its last look"


def test_where_there_is_none_none_is_shown(stage: Stage) -> None:
    _, found = campaign(stage, 1.0, (4, 6, 8), seed=2)
    assert {one.word for one in found.comparisons if one.judged} == {"no difference shown"}


def test_two_runs_of_each_describe_and_do_not_judge(stage: Stage) -> None:
    why, found = campaign(stage, 1.5, (2,))
    assert why == "the last planned look, after 2 runs of each, is done"
    assert {one.word for one in found.comparisons} == {None}
    assert any("it takes 3 to judge" in reason for one in found.comparisons for reason in one.withheld)
