"""`make calibrate`: how often the words of a campaign are wrong, and how often a true difference is found.

Campaigns are drawn by the model below and judged by the verdict's own code, look by look, until its own stopping rule
ends them. Seeded: the same figures each time. `docs/method.md` has them, with the model in words.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from report.statistics.design import Design
from report.statistics.stopping import LOOKS, decide
from report.verdict.comparison import Comparison, compare
from report.verdict.reading import Arm, Run
from report.verdict.typed import TypedCell
from tests.benchmark.records import WHEN

PLAIN, MIXED, WHOLE = 11, 2, 1
"""Comparisons of a campaign with the posts' tests: without modes, with a mode a repeat, and with a mode a run."""
CELLS = PLAIN + MIXED + WHOLE
TARGET = 0.1
REPEATS = 12
APART, FASTER = 1 / 3, math.log(1.2)
"""Share of starts that stay apart, 6 of 18 on vLLM, and how much faster they are, 1.15 to 1.22 (docs/engines)."""
SLOW = math.log(160 / 65)
"""The 1B post's split, where a whole run was in one mode or the other."""

Stop = Callable[[Sequence[Comparison], int], bool]


@dataclass(frozen=True)
class Truth:
    """What runs are drawn from; shares of a figure, in logarithms.

    Attributes:
        scatter: of a run about its topology's mean, its own in each comparison.
        common: of a run in all comparisons alike: a deployment that came out better or worse.
        drift: of the machines, from turn to turn.
        late: share by which now and then (one run in ten) everything of a run is slower.
        differences: true ones of the second topology, by comparison.
    """

    scatter: float = 0.02
    common: float = 0.01
    drift: float = 0.01
    late: float = 0.05
    differences: tuple[float, ...] = (0.0,) * CELLS


@dataclass(frozen=True)
class Outcome:
    """Of many campaigns: in how many a word was wrong, in how many the difference was found, and runs of each."""

    campaigns: int
    wrong: int
    found: int
    runs: float

    def row(self, name: str) -> str:
        """Return a line of a Markdown table; each share with twice its standard error."""
        shares = (_share(count, self.campaigns) for count in (self.wrong, self.found))
        return f"| {name} | {' | '.join(shares)} | {self.runs:.1f} |"


def narrow(found: Sequence[Comparison], runs: int) -> bool:
    """Stop as a campaign does."""
    could = [one.difference.detectable for one in found if one.difference and one.difference.detectable is not None]
    return decide(runs, could, TARGET, Design(looks=LOOKS)) != "go on"


def first_word(found: Sequence[Comparison], runs: int) -> bool:
    """Stop at the first look that has something to say: a person who wants to see a difference."""
    return any(one.word in ("faster", "slower") for one in found) or runs >= LOOKS[-1]


def simulate(truth: Truth, campaigns: int, seed: int, stop: Stop = narrow) -> Outcome:
    """Draw campaigns and judge them."""
    dice = np.random.default_rng(seed)
    wrong = found = taken = 0
    for _ in range(campaigns):
        runs, words = _judged(truth, dice, stop)
        taken += runs
        said = [word in ("faster", "slower") for word in words]
        true = [difference != 0 for difference in truth.differences]
        wrong += any(one and not real for one, real in zip(said, true, strict=True))
        # A tenth more tokens a second is "faster".
        found += any(word == "faster" and real for word, real in zip(words, true, strict=True))
    return Outcome(campaigns, wrong, found, taken / campaigns)


def _judged(truth: Truth, dice: np.random.Generator, stop: Stop) -> tuple[int, list[str | None]]:
    values = _campaign(truth, dice, LOOKS[-1])
    for look in LOOKS:
        arms = [_arm(("first", "second")[side], values[side][:look], side) for side in (0, 1)]
        found = compare(arms, Design(looks=LOOKS))
        if stop(found, look):
            return look, [one.word for one in found]
    raise AssertionError("the last look ends it")


def _campaign(truth: Truth, dice: np.random.Generator, turns: int) -> NDArray[np.float64]:
    """Return the logarithm of each figure: by topology, run and comparison, A B B A."""
    shape = (2, turns, CELLS)
    values = dice.normal(0, truth.scatter, shape) + dice.normal(0, truth.common, (2, turns, 1))
    values -= truth.late * (dice.random((2, turns, 1)) < 0.1)
    machine = np.cumsum(dice.normal(0, truth.drift, 2 * turns))
    for turn in range(turns):
        for side in (0, 1):
            values[side, turn] += machine[2 * turn + (side if turn % 2 == 0 else 1 - side)]
    apart = dice.random((2, turns, MIXED, REPEATS)) < APART
    values[:, :, PLAIN : PLAIN + MIXED] += FASTER * apart.mean(axis=3)
    values[:, :, PLAIN + MIXED :] -= SLOW * (dice.random((2, turns, WHOLE)) < 0.5)
    values[1] += np.log1p(np.asarray(truth.differences))
    return values


def _arm(label: str, values: NDArray[np.float64], side: int) -> Arm:
    runs = []
    for turn, of_run in enumerate(values):
        place = 2 * turn + (side if turn % 2 == 0 else 1 - side)
        cells = tuple(
            TypedCell.model_construct(
                test=f"t{number}", kind="drawn", cell=f"t{number}", value=None, figure="f", title="f", unit="tokens/s",
                better="higher", judged=True, values=(math.exp(value),), quote="drawn",
            )
            for number, value in enumerate(of_run.tolist())
        )  # fmt: skip
        runs.append(Run(label, f"{label}-{turn}", WHEN + timedelta(hours=place), typed=cells))
    return Arm(label, tuple(runs))


def with_difference(at: int, **more: float) -> Truth:
    """Return a truth in which one comparison differs by a tenth."""
    return Truth(differences=tuple(TARGET if number == at else 0.0 for number in range(CELLS)), **more)


def _share(count: int, of: int) -> str:
    share = count / of
    return f"{100 * share:.1f} ± {200 * math.sqrt(share * (1 - share) / of):.1f} %"


def main() -> None:
    """Print the figures of docs/method.md."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--campaigns", type=int, default=2000)
    campaigns = parser.parse_args().campaigns
    print(
        f"{campaigns} campaigns a row, of {CELLS} comparisons, looks after {', '.join(map(str, LOOKS))} runs of each\n"
    )
    print("| truth | a wrong word | the difference found | runs of each |\n|---|---|---|---|")
    for seed, (name, truth, stop) in enumerate(
        (
            ("no difference", Truth(), narrow),
            ("no difference, ended at the first word", Truth(), first_word),
            ("no difference, runs that scatter by 5 %", Truth(scatter=0.05), narrow),
            ("no difference, drift of 3 % a turn", Truth(drift=0.03), narrow),
            ("10 % in a test without modes", with_difference(0), narrow),
            ("10 % in a test with a mode a repeat, not told apart", with_difference(PLAIN), narrow),
            ("10 % in a test with a mode a run, not told apart", with_difference(CELLS - 1), narrow),
            ("10 %, runs that scatter by 3 %", with_difference(0, scatter=0.03), narrow),
        )
    ):
        print(simulate(truth, campaigns, seed, stop).row(name), flush=True)


if __name__ == "__main__":
    main()
