"""Modes on the timing of the recorded split server, and on gaps that were made up to have two modes or one."""

import random
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from experiment.kinds.loads import Concurrency
from experiment.measure.load import StepFigures
from experiment.record import RepeatRecord
from rehearsal.engine.profile import PROFILES
from report.statistics.design import Design
from report.verdict.modes import alternating, strata
from report.verdict.reading import Arm, Named, Run, read
from report.verdict.samples import Cell
from report.verdict.verdict import judge
from tests.benchmark.records import REAL, WHEN, repeat, reply
from tests.report.verdict.standin import SINGLE, modal, played

MODES = Cell("modes", "modes", "modes-together", "together")
ALONE = Cell("one-user", "one-user", "one-user", None)


def arm(records: Sequence[RepeatRecord]) -> Arm:
    return Arm("split", (Run("split", "1", WHEN, tuple(records)),))


def runs(count: int) -> list[RepeatRecord]:
    """Runs of which some start together, and some staggered by 30 ms, as was recorded."""
    return [modal(4, number, 0.0 if number % 2 else 0.06, number) for number in range(1, count + 1)]


def test_batches_in_flight_are_the_cause_where_steps_tell(tmp_path: Path) -> None:
    records = runs(8)
    told = [record.figures.steps.mode for record in records if record.figures.steps is not None]
    found = strata(arm(records), MODES)
    assert found is not None
    modes, parts = found
    assert (modes.cause, modes.between) == ("batches in flight", True)
    by_name = {share.name: share for share in modes.shares}
    assert by_name["one batch"].count == told.count("merged")
    assert by_name["two batches in flight"].count == told.count("apart")
    assert by_name["one batch"].gap_s > 1.15 * by_name["two batches in flight"].gap_s
    assert sum(part.keeps(record) for part in parts for record in records) == 8


def test_modes_are_compared_each_and_never_averaged(tmp_path: Path) -> None:
    for run in range(4):
        for split in (False, True):
            for number, record in enumerate(runs(4) if split else [modal(4, 1, 0.06, run), modal(4, 2, 0.06, run)]):
                changes = {"run": f"{run}-{split}", "repeat": number + 1, "started_at": WHEN + timedelta(hours=run)}
                if not split:
                    changes["topology"] = SINGLE
                one = record.model_copy(update=changes)
                (tmp_path / f"{run}-{split}-{number}.json").write_text(one.to_json())
    found = judge(read([Named(tmp_path)]), Design(), {})
    of_modes = [one for one in found.comparisons if one.judged]
    (whole,) = [one for one in of_modes if one.first.mode is None and one.second.mode is None]
    assert whole.word is None
    assert any("mean over modes" in reason for reason in whole.withheld)
    assert {one.first.mode or one.second.mode for one in of_modes} == {None, "one batch", "two batches in flight"}
    assert found.modes[0].cause == "batches in flight"


def gaps(centre: float, seed: int) -> tuple[float, ...]:
    dice = random.Random(seed)  # noqa: S311  reproducible on purpose; no secret
    return tuple(centre * (1 + dice.uniform(-0.05, 0.05)) for _ in range(20))


def test_a_test_finds_the_posts_modes_where_no_cause_is_recorded() -> None:
    records = [repeat(n, reply(0.5, gaps(0.160 if n % 3 else 0.065, n)), engine=REAL) for n in range(1, 25)]
    found = strata(arm(records), ALONE)
    assert found is not None
    modes, parts = found
    assert modes.cause == "not recorded"
    assert [(share.count, share.of) for share in modes.shares] == [(8, 24), (16, 24)]
    assert "within-quota" in modes.remedy
    assert [sum(part.keeps(record) for record in records) for part in parts] == [8, 16]


def test_one_mode_is_one() -> None:
    assert strata(arm([repeat(n, reply(0.5, gaps(0.065, n)), engine=REAL) for n in range(1, 25)]), ALONE) is None
    assert alternating(arm([repeat(n, reply(0.5, gaps(0.065, n)), engine=REAL) for n in range(1, 9)]), ALONE) is None


def test_a_quota_that_bites_now_and_then_shows_within_each_repeat() -> None:
    def mixed(seed: int) -> tuple[float, ...]:
        fast, slow = gaps(0.065, seed), gaps(0.160, seed + 100)
        return tuple(random.Random(seed).sample(fast + slow, 40))  # noqa: S311  reproducible on purpose; no secret

    found = alternating(arm([repeat(n, reply(0.5, mixed(n)), engine=REAL) for n in range(1, 5)]), ALONE)
    assert found is not None
    assert not found.between
    assert [(share.count, share.of) for share in found.shares] == [(80, 160), (80, 160)]
    assert found.basis.endswith("two modes in 4 of 4 repeats")


def test_the_gaps_in_which_others_prompts_are_read_are_no_mode() -> None:
    test, profile = Concurrency(kind="concurrency", requests=1), PROFILES["post-1b-single"]
    records = [played(test, "concurrency-4", 4, number, profile, 1, 0.05, number) for number in range(1, 5)]
    gaps = records[0].replies[0].figures.gaps_s
    assert max(gaps) > 1.15 * sorted(gaps)[len(gaps) // 2]
    assert alternating(arm(records), Cell("concurrency", "concurrency", "concurrency-4", 4)) is None


def test_one_straggler_among_equals_is_no_mode() -> None:
    records = [repeat(n, reply(0.5, (0.25,) * 30 + (1.0,)), engine=REAL) for n in range(1, 5)]
    assert alternating(arm(records), ALONE) is None


def test_steps_say_nothing_of_an_engine_that_is_not_split() -> None:
    steps = [
        StepFigures(steps=100, steps_per_token=1.0, mode="merged"),
        StepFigures(steps=200, steps_per_token=2.0, mode="apart"),
    ]
    records = [record.model_copy(update={"topology": SINGLE}) for record in runs(2)]
    records = [
        record.model_copy(update={"figures": record.figures.model_copy(update={"steps": one})})
        for record, one in zip(records, steps, strict=True)
    ]
    assert strata(arm(records), MODES) is None
