import re
from pathlib import Path

from rehearsal.vllm.modes import APART, MERGED, Load, Run, loads, share

RECORDED = (Path(__file__).parents[2] / "data" / "vllm" / "split-modes.txt").read_text()


def test_every_recorded_run_is_in_one_of_the_two_modes() -> None:
    steps = [int(found) for found in re.findall(r" steps (\d+) ", RECORDED)]
    assert len(steps) == 34
    modes = [Run(Load(4, 0), number, 80.0).mode for number in steps]
    assert modes.count(APART) == sum(number >= 160 for number in steps)
    assert modes.count(MERGED) == len(steps) - modes.count(APART)


def test_what_is_between_the_modes_is_neither() -> None:
    assert Run(Load(4, 0), 130, 80.0).mode is None


def test_forty_loads_in_an_order_fixed_by_seed() -> None:
    assert len(loads(1)) == 40
    assert loads(1) == loads(1)
    assert loads(1) != loads(2)
    assert sorted(loads(1), key=str) == sorted(loads(2), key=str)


def test_shares_are_by_stagger() -> None:
    runs = [Run(Load(3, 0), 161, 70.0), Run(Load(3, 0), 81, 90.0), Run(Load(3, 60), 82, 90.0)]
    assert share(runs, range(1)) == (1, 2)
    assert share(runs, range(30, 1000)) == (0, 1)
