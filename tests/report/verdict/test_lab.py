"""From the benchmark's own session against the stand-in engine, on a virtual clock, to the verdict on its files."""

from pathlib import Path

import pytest

from experiment.kinds.alone import OneUser
from experiment.kinds.loads import Concurrency
from experiment.kinds.sharing import Interference
from report.statistics.design import Design
from report.verdict.reading import Named, read
from report.verdict.verdict import judge
from tests.benchmark.lab import Lab, in_lab
from tests.report.verdict.standin import SINGLE, SPLIT

pytestmark = pytest.mark.thorough


def measured(directory: Path, profile: str, topology: dict[str, object], *flags: str) -> Named:
    async def main(lab: Lab) -> None:
        engine = await lab.engine(profile, *flags)
        tests = (
            OneUser(kind="one-user", output_tokens=20, repeats=2),
            Concurrency(kind="concurrency", users=(2,), output_tokens=20, requests=1, repeats=2),
            # Of the fast engine no stall: its 8 tokens are over before a connection for the prompt is open.
            Interference(kind="interference", prompt_tokens=(1000,), stream_tokens=8, repeats=1),
        )
        await lab.measure(lab.serve("engine", engine), *tests, topology=topology)

    in_lab(directory, main)
    return Named(directory)


def test_the_benchmarks_own_files_are_compared(tmp_path: Path) -> None:
    places = [
        measured(tmp_path / "a", "post-1b-single", SINGLE),
        measured(tmp_path / "b", "fast", SPLIT),
    ]
    found = judge(read(places), Design(), {})
    deciding = {one.cell: one for one in found.comparisons if one.judged}
    assert set(deciding) == {"one-user", "concurrency-2"}
    one = deciding["one-user"]
    # 44.9 + 2.5 ms a token, by the profiles' step_s and sequence_s, against 4.74 + 0.25 ms.
    assert one.first.middle == pytest.approx(1 / 0.0474, rel=0.005)
    assert one.speed == pytest.approx(0.0474 / 0.00499, rel=0.03)
    assert (one.first.runs, one.first.repeats, one.word) == (1, 2, None)
    assert one.withheld[0].startswith("simulated")
    assert one.withheld[1].startswith("one run of a topology")
    # Its stream had ended before the long prompt was sent.
    assert [(one.topology[:5], one.what, one.why) for one in found.left_out] == [
        ("split", "interference-1000", "its repeats have no stall of a running stream by a long prompt")
    ]
    assert all(subject.simulated for subject in found.subjects)
    assert "nothing is judged (simulated)" in found.answer[0]
