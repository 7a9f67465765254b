"""Plans against the size of a log."""

from pathlib import PurePosixPath

import pytest

from experiment.benchmark import Benchmark, ClaimedResults
from experiment.errors import SplitbedError
from experiment.handout import record_line
from experiment.record import Figures, Stamps
from experiment.workload import OneUser
from rehearsal.logroom import expected_bytes, require_room
from tests.benchmark.records import repeat, reply


def benchmark(*tests: OneUser) -> Benchmark:
    return Benchmark(run="1", tests=tests, results=ClaimedResults(kind="claim"))


def test_a_usual_plan_fits() -> None:
    require_room("mine", benchmark(OneUser(kind="one-user", repeats=8)))


def test_one_that_would_lose_its_first_records_is_refused_with_what_fits() -> None:
    long = OneUser(kind="one-user", name="long", output_tokens=2000, repeats=200)
    with pytest.raises(SplitbedError, match=r"Stack mine: .* 200 repeats in all, take about 19\.4 MB") as caught:
        require_room("mine", benchmark(long))
    assert "at most 97 such repeats" in caught.value.remedy
    require_room("mine", benchmark(long.model_copy(update={"repeats": 97})))


def test_a_real_record_takes_no_more_than_is_counted() -> None:
    """With stamps of as many digits as a double has, on a machine that has been up for months."""
    chunks_s = tuple(9876543 + 0.1234567891234 * (number + 1) ** 1.01 for number in range(500))
    stamps = Stamps(sent_s=9876543.0, headers_s=9876543.1, chunks_s=chunks_s, end_s=chunks_s[-1])
    record = repeat(1, reply().model_copy(update={"stamps": stamps, "figures": Figures.of(stamps, 3)}))
    line = record_line(PurePosixPath(record.run, record.plan_hash, "one-user-1.json"), record)
    counted = expected_bytes(benchmark(OneUser(kind="one-user", output_tokens=500, repeats=1)))
    assert 0.8 * counted < len(line) <= counted
