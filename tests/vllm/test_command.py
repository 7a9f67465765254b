"""The one command with `--engine vllm`: real vLLM in real pods, single and split, measured, and nothing left.

It works in the home that `make rehearse ENGINE=vllm` works in, as its installation is too large to be had twice.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiment.record import RepeatRecord, parse_record
from rehearsal.podengine import SERVED_NAME
from rehearsal.progress import Progress
from tests.engine.command import SPLITBED

pytestmark = pytest.mark.vllm


def test_real_vllm_is_measured_single_and_split_and_nothing_is_left(tmp_path: Path, progress: Progress) -> None:
    start = time.monotonic()
    progress.step("splitbed rehearse --engine vllm, both stacks, about ten minutes")
    status, output, said = _rehearse(tmp_path / "output.json")
    progress.note(f"ended after {time.monotonic() - start:.0f} s")

    assert status == 0, said
    assert said.count("nothing is left") == 2
    assert "the machine is as it was before" in said
    split, single = json.loads(output)
    for figures, roles in ((split, {"leader", "worker", "benchmark"}), (single, {"leader", "benchmark"})):
        (test,) = figures["tests"]
        assert (test["repeats"], test["failed"]) == (8, 0)
        assert test["simulated"] is False
        assert test["engine"]["version"] == "0.31.0"
        assert test["tpot_s"]["median"] > 0
        assert {pod.split()[0] for pod in figures["nodes"]} == roles
        about = "\n".join(figures["about"])
        assert "vLLM 0.31.0" in about
        assert "random weights" in about
        assert "share these" in about
        _check_records(Path(figures["directory"]), about)


def _rehearse(output: Path) -> tuple[int, str, str]:
    """Return exit status, figures, and what was said meanwhile, which is shown at once."""
    said = []
    with (
        output.open("w") as file,
        subprocess.Popen(
            [SPLITBED, "rehearse", "--engine", "vllm", "--json"],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
        ) as command,
    ):
        assert command.stderr is not None
        for line in command.stderr:
            print(line, end="", file=sys.stderr, flush=True)
            said.append(line)
    return command.returncode, output.read_text(), "".join(said)


def _check_records(results: Path, about: str) -> None:
    """Whoever finds the files alone must see that they say nothing of the 1B."""
    assert (results / "about.txt").read_text().strip() == about
    records = [parse_record(path.read_bytes()) for path in results.rglob("one-user-*.json")]
    repeats = [record for record in records if isinstance(record, RepeatRecord)]
    assert len(repeats) == 8
    assert {record.engine.model for record in repeats} == {SERVED_NAME}
    assert "random-weights" in SERVED_NAME
