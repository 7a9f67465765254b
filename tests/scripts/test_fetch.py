"""`splitbed fetch`, from a bucket that moto plays and from the log of a Job."""

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from click.testing import CliRunner

from cloud.account import Account
from cloud.refusal import AWSRefusedError
from experiment.errors import SplitbedError
from experiment.handout import PREFIX, record_line
from experiment.record import RepeatRecord, SessionRecord
from scripts import fetch
from scripts.verbs import command
from stackfiles.stackfile import StackFile
from tests.apiserver import Answers
from tests.benchmark.records import failure, repeat, session
from tests.cloud.conftest import REGION, SESSION, no_network, unplayed
from tests.cloud.unplayed import Unplayed
from tests.rehearsal.benchmarkpod import RUNNING, SELECTED, ended, told
from tests.scripts.conftest import of_the_stack

__all__ = ["no_network", "unplayed"]

PLACE = PurePosixPath("1/0123456789ab")
RECORDS: dict[PurePosixPath, RepeatRecord | SessionRecord] = {
    PLACE / "failed/one-user-2-1.json": repeat(2, failure()),
    PLACE / "one-user-1.json": repeat(1),
    PLACE / "sessions/session-1.json": session(),
}
EXPECTED = {str(path): record.to_json().encode() for path, record in RECORDS.items()}
NAMES = list(EXPECTED)


def files(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def run(*arguments: object) -> tuple[int, Any]:
    done = CliRunner().invoke(command("fetch"), [*map(str, arguments), "--json"], catch_exceptions=False)
    return done.exit_code, json.loads(done.stdout)


@pytest.fixture
def stored(unplayed: Unplayed, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stack's own bucket with the records of a run in it."""
    monkeypatch.setattr(fetch, "Account", lambda _: Account(session=SESSION))
    s3 = Account(session=SESSION).client("s3", REGION)
    s3.create_bucket(Bucket="exp-x")
    tags = [{"Key": "splitbed:experiment", "Value": "gemma-1b-split"}]
    s3.put_bucket_tagging(Bucket="exp-x", Tagging={"TagSet": tags})
    for path, content in EXPECTED.items():
        s3.put_object(Bucket="exp-x", Key=f"gemma-1b-split/{path}", Body=content)
    unplayed.calls.clear()
    return s3


def reads(unplayed: Unplayed) -> list[str]:
    return [arguments["Key"] for operation, arguments in unplayed.calls if operation == "GetObject"]


@pytest.mark.thorough
def test_records_come_from_the_stacks_own_bucket_once(stored: Any, tmp_path: Path, unplayed: Unplayed) -> None:
    code, said = run("gemma-1b-split", "--into", tmp_path)
    assert (code, said["from"]) == (0, "s3://exp-x/gemma-1b-split/1")
    assert said["records"] == {"new": NAMES, "same": [], "different": []}
    assert files(tmp_path) == EXPECTED
    assert len(reads(unplayed)) == 3
    code, said = run("gemma-1b-split", "--into", tmp_path)
    assert (code, said["records"]) == (0, {"new": [], "same": NAMES, "different": []})
    assert len(reads(unplayed)) == 3, "what is here is not read again"


@pytest.mark.thorough
def test_a_fetch_that_was_stopped_is_gone_on_with(stored: Any, tmp_path: Path, unplayed: Unplayed) -> None:
    unplayed.refuse("GetObject", "SlowDown", only=lambda asked: asked["Key"].endswith("session-1.json"))
    with pytest.raises(AWSRefusedError):
        run("gemma-1b-split", "--into", tmp_path)
    assert set(files(tmp_path)) == set(NAMES[:2])
    unplayed.answers.clear()
    code, said = run("gemma-1b-split", "--into", tmp_path)
    assert (code, said["records"]) == (0, {"new": NAMES[2:], "same": NAMES[:2], "different": []})


@pytest.mark.thorough
def test_a_dry_run_reads_and_writes_nothing(stored: Any, tmp_path: Path, unplayed: Unplayed) -> None:
    code, said = run("gemma-1b-split", "--into", tmp_path / "new", "--dry-run")
    assert (code, said["records"]["new"], said["dry_run"]) == (0, NAMES, True)
    assert reads(unplayed) == []
    assert not (tmp_path / "new").exists()


@pytest.mark.thorough
@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_what_is_here_is_never_written_over(stored: Any, tmp_path: Path, dry: tuple[str, ...]) -> None:
    mine = tmp_path / NAMES[1]
    mine.parent.mkdir(parents=True)
    mine.write_text("of another deployment")
    code, said = run("gemma-1b-split", "--into", tmp_path, *dry)
    assert (code, said["records"]["different"]) == (1, [NAMES[1]])
    assert mine.read_text() == "of another deployment"


@pytest.mark.thorough
def test_what_is_no_record_is_told_and_leads_nowhere(stored: Any, tmp_path: Path) -> None:
    stored.put_object(Bucket="exp-x", Key="gemma-1b-split/1/../../evil.json", Body=b"x")
    code, said = run("gemma-1b-split", "--into", tmp_path)
    assert code == 1
    assert said["skipped"] == ["gemma-1b-split/1/../../evil.json: this names no file of a record"]
    assert files(tmp_path) == EXPECTED


@pytest.mark.thorough
def test_a_run_without_records_is_no_success(stored: Any, tmp_path: Path) -> None:
    code, said = run("gemma-1b-split", "--into", tmp_path, "--run", "7", "--bucket", "exp-x")
    assert (code, said["from"]) == (1, "s3://exp-x/gemma-1b-split/7")
    done = CliRunner().invoke(command("fetch"), ["gemma-1b-split", "--run", "7"], catch_exceptions=False)
    assert done.stdout == "No record is in s3://exp-x/gemma-1b-split/7.\n"


@pytest.mark.thorough
def test_a_person_is_told_what_happened(stored: Any, tmp_path: Path) -> None:
    done = CliRunner().invoke(command("fetch"), ["gemma-1b-split", "--into", str(tmp_path)], catch_exceptions=False)
    *written, last = done.stdout.splitlines()
    assert written == [f"written: {tmp_path / name}" for name in NAMES]
    assert last.startswith("From s3://exp-x/gemma-1b-split/1: 3 records written, 0 were here already, 0 differ")
    assert last.endswith(f"splitbed compare {tmp_path / '1'}")


@pytest.fixture
def claimed(tmp_path: Path) -> Path:
    """The file of a stack whose results are on a claim of its cluster."""
    path = tmp_path / "Pulumi.claimed.yaml"
    StackFile.of("rehearsal-split").replaced({"benchmark.results": {"kind": "claim"}}).write(path)
    return path


HANDED_OUT = "\n".join(["words", *(record_line(path, record) for path, record in RECORDS.items()), "last words", ""])


@pytest.mark.usefixtures("at_api")
def test_records_on_a_claim_come_from_the_jobs_log(answers: Answers, claimed: Path, tmp_path: Path) -> None:
    answers |= of_the_stack(claimed, ended(HANDED_OUT, 1))
    into = tmp_path / "into"
    code, said = run(claimed, "--into", into, "--dry-run")
    assert (code, said["records"]["new"]) == (0, NAMES)
    assert not into.exists()
    code, said = run(claimed, "--into", into)
    assert (code, said["records"]["new"]) == (0, NAMES)
    assert files(into) == EXPECTED
    assert run(claimed, "--into", into)[1]["records"] == {"new": [], "same": NAMES, "different": []}


@pytest.mark.usefixtures("at_api")
def test_a_line_that_was_cut_is_told_and_the_others_come(answers: Answers, claimed: Path, tmp_path: Path) -> None:
    log = f"{HANDED_OUT}{PREFIX}1/0123456789ab/one-user-3.json {{\n{PREFIX}../evil.json {{}}\n"
    answers |= of_the_stack(claimed, ended(log, 1))
    code, said = run(claimed, "--into", tmp_path / "into")
    assert code == 1
    assert len(said["skipped"]) == 2
    assert files(tmp_path / "into") == EXPECTED


@pytest.mark.usefixtures("at_api")
def test_what_cannot_be_had_is_said_with_a_way_to_it(answers: Answers, claimed: Path) -> None:
    with pytest.raises(SplitbedError, match=r"There is no Job bench-"):
        run(claimed)
    answers |= of_the_stack(claimed, told("", RUNNING))
    with pytest.raises(SplitbedError, match="has not ended yet"):
        run(claimed)
    answers |= of_the_stack(claimed, {**ended("", 0), SELECTED: (200, {"items": []})})
    with pytest.raises(SplitbedError, match="is gone, and its log with it") as refusal:
        run(claimed)
    assert "raise benchmark.attempt" in refusal.value.remedy


def test_a_directory_of_a_node_is_not_read_by_any_api() -> None:
    with pytest.raises(SplitbedError, match="which no API reads") as refusal:
        run("rehearsal-split")
    assert "kind: claim" in refusal.value.remedy
