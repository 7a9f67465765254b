"""The command itself, killed and terminated at random moments by seed: nothing lost, nothing twice, no lock left."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from experiment.record import RepeatRecord, parse_record
from tests.benchmark.server import Server
from tests.benchmark.test_main import ALL, Bench, make_plan

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("seed", range(2))
def test_a_run_that_is_killed_again_and_again_ends_with_each_repeat_once(
    server: Server, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311  reproducible on purpose; no secret
    server.gap_s = 0.01
    bench = Bench(server, tmp_path, make_plan())
    known: dict[str, bytes] = {}
    left_locks = 0
    for _ in range(20):
        with bench.start() as process:
            while process.poll() is None and not server.measured.acquire(timeout=0.1):
                pass  # a busy machine takes its time to start it
            time.sleep(dice.uniform(0, 0.5))
            number = dice.choice((signal.SIGKILL, signal.SIGTERM))
            if process.poll() is None:
                os.kill(process.pid, number)
            said, complaints = process.communicate(timeout=30)
        assert process.returncode in (0, -number, 128 + number), complaints
        assert "is being measured already" not in complaints
        left_locks += (bench.records.parent / "lease.part").exists()
        assert known.items() <= bench.finished().items(), "what was finished stays as it is"
        known = bench.finished()
        if process.returncode == 0:
            break
    assert list(bench.finished()) == ALL
    assert "4 of 4 repeats measured" in said
    partial = [parse_record(path.read_bytes()) for path in bench.records.glob("partial/*.json")]
    everything = [*(bench.record(name) for name in ALL), *partial]
    ids = [request.id for record in everything if isinstance(record, RepeatRecord) for request in record.requests]
    assert len(ids) == len(set(ids)), "no request is in two records"
    assert all(record.result == "finished" for record in everything[: len(ALL)] if isinstance(record, RepeatRecord))
    assert not list(bench.records.rglob(".*.part"))
    assert left_locks or seed != 0, "a killed run leaves its lease behind, which holds up nobody"
