"""The two shell scripts beside the benchmark, with an `aws` of our own that copies directories."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from components import carrier

SCRIPTS = Path(carrier.__file__).parent / "pod"

# Copies as `s3 sync` does, but for what is excluded; fails as often, and takes as long, as its files say.
AWS = f"""#!{sys.executable}
import os, shutil, sys, time
from pathlib import Path

fake = Path(os.environ["FAKE"])
with (fake / "calls").open("a") as calls:
    print(*sys.argv[1:], file=calls)
if (fake / "seconds").exists():
    time.sleep(float((fake / "seconds").read_text()))
failures = fake / "failures"
left = int(failures.read_text()) if failures.exists() else 0
if left:
    failures.write_text(str(left - 1))
    sys.exit(1)
source, target = (
    fake / "bucket" / place.removeprefix("s3://") if place.startswith("s3://") else Path(place)
    for place in sys.argv[3:5]
)
if not source.exists() and not sys.argv[3].startswith("s3://"):
    sys.exit(255)
excluded = [sys.argv[index + 1] for index, word in enumerate(sys.argv) if word == "--exclude"]
for path in source.rglob("*"):
    if path.is_file() and not any(path.relative_to(source).match(pattern) for pattern in excluded):
        (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target / path.relative_to(source))
"""


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    directory = tmp_path / "bin"
    directory.mkdir()
    (directory / "aws").write_text(AWS)
    (directory / "aws").chmod(0o755)
    return tmp_path


def start(fake: Path, script: str, *given: str) -> subprocess.Popen[str]:
    environment = {"PATH": f"{fake / 'bin'}:{os.environ['PATH']}", "FAKE": str(fake)}
    text = (SCRIPTS / script).read_text()
    return subprocess.Popen(["/bin/sh", "-c", text, script, *given], env=environment, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    said = process.communicate(timeout=60)[1]
    return process.returncode, said


def carried(fake: Path) -> set[str]:
    bucket = fake / "bucket" / "b" / "e" / "1"
    return {str(path.relative_to(bucket)) for path in bucket.rglob("*") if path.is_file()}


def wait_for(fake: Path, calls: int) -> None:
    """Until the script has called `aws` so often."""
    for _ in range(600):
        if (fake / "calls").exists() and len((fake / "calls").read_text().splitlines()) >= calls:
            return
        time.sleep(0.1)
    raise AssertionError("no calls")


def records(fake: Path, *names: str) -> Path:
    directory = fake / "results" / "1"
    for name in names:
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return directory


@pytest.mark.thorough
def test_records_are_carried_while_the_client_runs_and_once_more_when_it_has_ended(fake: Path) -> None:
    directory = records(fake, "plan/one-1.json", "plan/.one-2.json.part", "lock")
    process = start(fake, "carry.sh", str(directory), "s3://b/e/1", "1", "10")
    wait_for(fake, 1)
    records(fake, "plan/one-2.json")
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (0, "")
    assert carried(fake) == {"plan/one-1.json", "plan/one-2.json"}


@pytest.mark.thorough
def test_a_client_that_wrote_nothing_is_not_waited_for(fake: Path) -> None:
    """It has refused to measure: its pod is to end with it, so that somebody reads why."""
    process = start(fake, "carry.sh", str(fake / "results" / "1"), "s3://b/e/1", "1", "60")
    time.sleep(0.5)  # its trap is set
    process.send_signal(signal.SIGTERM)
    assert ended(process) == (0, "")
    assert not (fake / "calls").exists()


@pytest.mark.thorough
def test_patience_counts_what_tries_take(fake: Path) -> None:
    (fake / "failures").write_text("999")
    directory = records(fake, "plan/one-1.json")
    process = start(fake, "carry.sh", str(directory), "s3://b/e/1", "1", "8")
    wait_for(fake, 1)
    (fake / "seconds").write_text("3")
    before = len((fake / "calls").read_text().splitlines())
    process.send_signal(signal.SIGTERM)
    status, _ = ended(process)
    assert status == 1
    assert len((fake / "calls").read_text().splitlines()) - before <= 4, "with one more begun before the signal"


@pytest.mark.thorough
def test_a_bucket_that_does_not_answer_is_tried_again(fake: Path) -> None:
    (fake / "failures").write_text("2")
    directory = records(fake, "plan/one-1.json")
    process = start(fake, "carry.sh", str(directory), "s3://b/e/1", "1", "10")
    wait_for(fake, 1)
    process.send_signal(signal.SIGTERM)
    status, said = ended(process)
    assert status == 0
    assert "not carried to s3://b/e/1 yet" in said
    assert carried(fake) == {"plan/one-1.json"}


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2))
def test_a_bucket_that_is_lost_at_random_moments_has_all_records_in_the_end(fake: Path, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  reproducible on purpose; no secret
    directory = records(fake, "plan/one-0.json")
    process = start(fake, "carry.sh", str(directory), "s3://b/e/1", "1", "30")
    names = {"plan/one-0.json"}
    for number in range(1, 6):
        time.sleep(dice.uniform(0, 0.6))
        if dice.random() < 0.5:
            (fake / "failures").write_text(str(dice.randrange(1, 4)))
        part, name = "plan/.one.json.part", f"plan/one-{number}.json"
        records(fake, part)
        (directory / part).replace(directory / name)  # as the client writes: whole or not at all
        names.add(name)
    process.send_signal(signal.SIGTERM)
    status, _ = ended(process)
    assert status == 0
    assert carried(fake) == names


def test_records_that_could_not_be_carried_are_an_error(fake: Path) -> None:
    (fake / "failures").write_text("999")
    process = start(fake, "carry.sh", str(records(fake, "plan/one-1.json")), "s3://b/e/1", "1", "2")
    wait_for(fake, 1)
    process.send_signal(signal.SIGTERM)
    status, said = ended(process)
    assert status == 1
    assert said.splitlines()[-1].endswith("were not carried to s3://b/e/1")


def test_an_earlier_attempts_records_are_fetched(fake: Path) -> None:
    earlier = fake / "bucket" / "b" / "e" / "1" / "plan"
    earlier.mkdir(parents=True)
    (earlier / "one-1.json").write_text("done")
    directory = fake / "results" / "1"
    assert ended(start(fake, "fetch.sh", str(directory), "s3://b/e/1")) == (0, "")
    assert (directory / "plan" / "one-1.json").read_text() == "done"


def test_without_the_earlier_records_the_client_does_not_start(fake: Path) -> None:
    (fake / "failures").write_text("1")
    assert ended(start(fake, "fetch.sh", str(fake / "results" / "1"), "s3://b/e/1"))[0] == 1
