"""Records on their way to the workspace."""

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark.__main__ import main
from experiment.errors import SplitbedError
from experiment.handout import PREFIX, record_line
from experiment.record import RepeatRecord, SessionRecord
from rehearsal.observer import ClusterRefusedError, ClusterUnreachableError
from rehearsal.records import ClaimedRecords, LocalRecords
from tests.benchmark.records import failure, repeat, session
from tests.benchmark.server import Server
from tests.benchmark.test_main import Bench, make_plan

PLACE = PurePosixPath("1/0123456789ab")
RECORDS: dict[PurePosixPath, RepeatRecord | SessionRecord] = {
    PLACE / "one-user-1.json": repeat(1),
    PLACE / "failed/one-user-2-1.json": repeat(2, failure()),
    PLACE / "sessions/session-1.json": session(),
}
LOG = "\n".join(["first words", *(record_line(path, record) for path, record in RECORDS.items()), "last words", ""])


class Log:
    """The log as an API server gives it, one answer after another; the last one again and again."""

    def __init__(self, *answers: str | Exception | None) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self) -> str | None:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        if isinstance(answer, Exception):
            raise answer
        return answer


def claimed(log: Log, results: Path, recorder: Any, run: str = "1") -> ClaimedRecords:
    return ClaimedRecords(log, results, run, recorder.note, sleep=lambda _: None)


def files(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


EXPECTED = {str(path): record.to_json().encode() for path, record in RECORDS.items()}


def test_what_the_log_hands_out_lies_in_the_workspace(tmp_path: Path, recorder: Any) -> None:
    assert claimed(Log(LOG), tmp_path, recorder).collect()
    assert files(tmp_path) == EXPECTED
    assert not recorder.notes


@pytest.fixture
def server() -> Iterator[Server]:
    with Server.running() as running:
        yield running


def test_the_clients_own_log_makes_the_workspace_what_its_volume_is(
    server: Server, tmp_path: Path, recorder: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    pod = tmp_path / "pod"
    pod.mkdir()
    bench = Bench(server, pod, make_plan())
    server.faults.extend([None, None, "500"])
    assert main([*bench.argv, "--print-records"]) == 1
    records = claimed(Log(capsys.readouterr().out), tmp_path / "workspace", recorder, run=bench.plan.run)

    assert records.finished() == ["one-user-1", "one-user-2", "one-user-4"]
    assert records.collect()

    kept = files(bench.results)
    assert len([path for path in kept if path.endswith(".json")]) == 5
    assert files(tmp_path / "workspace") == {path: text for path, text in kept.items() if path.endswith(".json")}
    assert not recorder.notes


def test_what_is_there_is_left(tmp_path: Path, recorder: Any) -> None:
    log = Log(LOG)
    assert claimed(log, tmp_path, recorder).collect()
    inodes = {path: path.stat().st_ino for path in tmp_path.rglob("*.json")}
    other = tmp_path / PLACE / "sessions" / "session-1.json"
    other.write_text("of an earlier claim")
    assert claimed(log, tmp_path, recorder).collect()
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*.json")} == inodes
    assert other.read_text() == "of an earlier claim"
    (note,) = recorder.notes
    assert note.startswith("1/0123456789ab/sessions/session-1.json is here already and stays")


def test_a_broken_line_is_named_and_the_others_are_taken(tmp_path: Path, recorder: Any) -> None:
    lines = LOG.splitlines()
    lines.insert(1, lines[1].replace("one-user-1.json", "one-user-9.json")[:-20])
    assert claimed(Log("\n".join(lines)), tmp_path, recorder).collect()
    assert files(tmp_path) == EXPECTED
    (note,) = recorder.notes
    assert "1/0123456789ab/one-user-9.json: Invalid JSON" in note


STEPS = st.sampled_from(["..", ".", "", "/", "1", "0123456789ab", "failed", "x.json", "~", "\x00", "a\\b", "\u2028"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.lists(STEPS, max_size=6), st.booleans())
def test_no_path_leads_out_of_the_results(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], absolute: bool
) -> None:
    root = tmp_path_factory.mktemp("hostile", numbered=True)
    results = root / "workspace" / "results"
    results.mkdir(parents=True)
    path = ("/" if absolute else "") + "/".join(steps)
    content = LOG.splitlines()[1].partition(" {")[2]
    notes: list[str] = []
    ClaimedRecords(Log(f"{PREFIX}{path} {{{content}\n"), results, "1", notes.append).collect()
    written = [file for file in root.rglob("*") if file.is_file()]
    assert all(file.parent == results / PLACE for file in written)
    assert len(written) + len(notes) == 1


def test_a_run_without_a_finished_record_has_not_arrived(tmp_path: Path, recorder: Any) -> None:
    failed_only = "\n".join(line for line in LOG.split("\n") if "one-user-1.json" not in line)
    assert not claimed(Log(failed_only), tmp_path, recorder).collect()
    assert len(files(tmp_path)) == 2
    assert not claimed(Log(LOG), tmp_path, recorder, run="2").collect(), "another run's records are not this one's"


def test_a_server_that_is_away_is_asked_again(tmp_path: Path, recorder: Any) -> None:
    away = ClusterUnreachableError("The API server does not answer.")
    assert claimed(Log(away, away, LOG), tmp_path, recorder).collect()
    assert files(tmp_path) == EXPECTED


@pytest.mark.parametrize(
    ("answer", "asked", "says"),
    [
        (None, 1, "pod is gone"),
        (ClusterRefusedError("It is waiting to start."), 1, "cannot be read: It is waiting to start."),
        (ClusterUnreachableError("It does not answer."), 15, "cannot be read: It does not answer."),
    ],
)
def test_a_log_that_cannot_be_had_is_said_and_no_success(
    answer: Exception | None, asked: int, says: str, tmp_path: Path, recorder: Any
) -> None:
    log = Log(answer)
    assert not claimed(log, tmp_path, recorder).collect()
    assert log.asked == asked
    (note,) = recorder.notes
    assert says in note


def test_a_workspace_that_cannot_be_written_is_one_sentence(
    tmp_path: Path, recorder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SplitbedError, match=r"one-user-1\.json: No space left on device\. Free some space"):
        claimed(Log(LOG), tmp_path, recorder).collect()
    assert not list(tmp_path.rglob("*.json"))


def test_while_it_runs_the_finished_repeats_are_told_and_not_forgotten(tmp_path: Path, recorder: Any) -> None:
    told = "one-user 1/4: TTFT 1.0 ms, 2 tokens (simulated) -> one-user-1.json\none-user 2/4: FAILED, x -> a-1.json\n"
    log = Log(ClusterRefusedError("It is waiting to start."), told, ClusterUnreachableError("Away."), None)
    records = claimed(log, tmp_path, recorder)
    assert [records.finished() for _ in range(4)] == [[], ["one-user-1"], ["one-user-1"], ["one-user-1"]]


def test_local_records_are_told_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    for age, name in enumerate(["b-2", "a-10", "a-9"]):
        path = tmp_path / "0123456789ab" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, (1000 - age, 1000 - age))
    records = LocalRecords(tmp_path)
    assert records.finished() == ["a-9", "a-10", "b-2"]
    assert records.collect()
