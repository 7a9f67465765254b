"""The two modes of a split engine arise by themselves, as in the recorded runs of a real one."""

import random
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from rehearsal.engine.profile import PROFILES, Profile
from rehearsal.engine.simulation import Simulation
from tests.rehearsal.engine.conftest import RECORDINGS

Prompt = Callable[..., list[int]]
TOKENS = 80

pytestmark = pytest.mark.thorough


@dataclass(frozen=True)
class Run:
    """A run of equal streams: how many, how far apart, the median gap and the engine's steps."""

    streams: int
    stagger_s: float
    gap_s: float
    steps: int
    throttled: tuple[tuple[int, int], ...] = ()

    @property
    def two_batches(self) -> bool:
        return self.steps > 1.5 * TOKENS


def recorded() -> list[Run]:
    lines = (RECORDINGS / "split-modes.txt").read_text().splitlines()
    pattern = re.compile(r"n=(\d+) stagger=(\d+)ms median gap ([\d.]+) .* steps (\d+) ")
    found = [pattern.match(line) for line in lines if not line.startswith("#")]
    return [Run(int(m[1]), int(m[2]) / 1000, float(m[3]) / 1000, int(m[4])) for m in found if m is not None]


def simulated(profile: Profile, streams: int, stagger_s: float, seed: int, prompt: Prompt) -> Run:
    dice = random.Random(seed)  # noqa: S311
    run = Simulation(profile, stages=2, seed=seed)
    # A real client's requests come with a little scatter of their own.
    sent = [
        run.send(prompt(24, seed * 100 + i), TOKENS, 5 + i * stagger_s + dice.uniform(0, 0.05 * stagger_s))
        for i in range(streams)
    ]
    run.run()
    gap_s = statistics.median(gap for stream in sent for gap in stream.gaps_s)
    quotas = [stage.quota for stage in run.core.pipeline.line]
    throttled = tuple((quota.throttled, quota.periods) for quota in quotas if quota is not None)
    return Run(streams, stagger_s, gap_s, len(run.steps), throttled)


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """Each recorded run's load, with four seeds."""

    def made_up(tokens: int, seed: int) -> list[int]:
        dice = random.Random(seed)  # noqa: S311
        return [dice.randrange(256, 262_144) for _ in range(tokens)]

    return [
        simulated(PROFILES["trial-split"], run.streams, run.stagger_s, 10 * number + seed, made_up)
        for number, run in enumerate(recorded())
        for seed in range(4)
    ]


def share(runs: list[Run], low_s: float, high_s: float) -> float:
    chosen = [run.two_batches for run in runs if low_s <= run.stagger_s <= high_s]
    return sum(chosen) / len(chosen)


def test_recording_has_both_modes() -> None:
    assert len(recorded()) == 34
    assert {run.two_batches for run in recorded()} == {True, False}


def test_every_run_is_in_one_of_two_clusters(runs: list[Run]) -> None:
    for run in runs:
        assert 80 <= run.steps <= 100 or 155 <= run.steps <= 200, run


def test_shares_by_stagger(runs: list[Run]) -> None:
    # Recorded, all series together: 12 of 19 at once, 1 of 6 at 10 ms, none of some 20 at 30 ms and more.
    assert 0.45 <= share(runs, 0, 0) <= 0.80
    assert share(runs, 0.01, 0.01) <= 0.3
    assert share(runs, 0.03, 1) <= 0.15


def test_gaps_of_both_modes(runs: list[Run]) -> None:
    real = recorded()
    for two, low, high in ((True, 0.066, 0.082), (False, 0.084, 0.115)):
        assert all(low <= run.gap_s <= high for run in real if run.two_batches == two)
        gaps = [run.gap_s for run in runs if run.two_batches == two]
        inside = sum(low <= gap <= high for gap in gaps) / len(gaps)
        assert inside >= 0.9, (two, sorted(gaps))


def test_merged_is_1_2_to_1_5_times_slower(runs: list[Run]) -> None:
    for streams in (3, 4, 6, 8):
        of = {
            two: statistics.median(run.gap_s for run in runs if run.streams == streams and run.two_batches == two)
            for two in (True, False)
        }
        assert 1.2 <= of[False] / of[True] <= 1.5, streams


def test_a_single_engine_has_no_modes(prompt: Prompt) -> None:
    for seed in range(10):
        run = Simulation(PROFILES["trial-split"], stages=1, seed=seed)
        for i in range(4):
            run.send(prompt(24, i), TOKENS, 5.0)
        run.run()
        assert len(run.steps) <= 82


QUOTA = PROFILES["trial-quota"]


def with_quota(quota_s: float | None) -> Profile:
    return QUOTA.model_copy(update={"cpu_quota_s": quota_s})


def test_without_quota_nothing_is_throttled(prompt: Prompt) -> None:
    run = simulated(with_quota(None), 4, 0.06, 1, prompt)
    assert run.gap_s == pytest.approx(0.067, rel=0.05)  # recorded 63.7 to 71.1
    assert run.throttled == ()


@pytest.mark.parametrize("streams", [1, 4, 8])
def test_at_60_percent_a_merged_batch_locks_on_to_the_period(streams: int, prompt: Prompt) -> None:
    run = simulated(with_quota(0.06), streams, 0.06, 2, prompt)
    assert not run.two_batches
    assert run.gap_s == pytest.approx(0.1, rel=0.05)  # recorded 100.2 to 108.8
    (leader, periods), (worker, _) = run.throttled
    assert leader / periods > 0.9
    assert worker / periods < 0.1


def test_at_60_percent_two_batches_are_the_slower_mode(prompt: Prompt) -> None:
    runs = [simulated(with_quota(0.06), 4, 0, seed, prompt) for seed in range(20)]
    two = [run for run in runs if run.two_batches]
    merged = [run for run in runs if not run.two_batches]
    assert two
    assert merged
    for run in two:
        assert 0.11 <= run.gap_s <= 0.14  # recorded 117 and 136
        (leader, periods), (worker, _) = run.throttled
        assert leader / periods > 0.9
        assert 0.2 <= worker / periods <= 0.8  # recorded 0.39
    assert max(run.gap_s for run in merged) < min(run.gap_s for run in two)


def test_at_85_percent_the_leader_is_throttled_and_the_worker_is_not(prompt: Prompt) -> None:
    run = simulated(with_quota(0.085), 4, 0.06, 3, prompt)
    assert 0.066 <= run.gap_s <= 0.1  # recorded 66 to 95
    (leader, periods), (worker, _) = run.throttled
    assert leader / periods > 0.7  # recorded: all of them
    assert worker == 0
