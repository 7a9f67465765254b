"""The command as a whole, against a server on 127.0.0.1."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmark.__main__ import main
from experiment.handout import PREFIX, parse_record_line
from experiment.record import RepeatRecord, SessionRecord, parse_record
from experiment.workload import OneUser, Plan
from tests.benchmark.cluster.double import asked
from tests.benchmark.server import MODEL, Server

pytestmark = pytest.mark.thorough

TOKENS = 20


def make_plan(**changes: Any) -> Plan:
    fields: dict[str, Any] = {
        "run": "r1",
        "model": MODEL,
        "seed": 7,
        "calibrate": False,
        "tests": (OneUser(kind="one-user", name="one-user", prompt_tokens=32, output_tokens=TOKENS, repeats=4),),
        "request_timeout_s": 20.0,
        "ready_timeout_s": 20.0,
    }
    return Plan.model_validate(fields | changes)


class Bench:
    """The command with its plan and its results directory."""

    def __init__(self, server: Server, directory: Path, plan: Plan) -> None:
        self.server = server
        self.results = directory / "results"
        self.plan = plan
        self.plan_path = directory / "plan.json"
        self.plan_path.write_text(plan.to_json())
        self.records = self.results / plan.run / plan.hash

    @property
    def argv(self) -> list[str]:
        where = ["--plan", str(self.plan_path), "--url", self.server.url, "--results", str(self.results)]
        return ["run", *where]

    def run(self) -> int:
        return main(self.argv)

    def start(self, *options: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "benchmark", *self.argv, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finished(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.records.glob("*.json"))}

    def record(self, name: str) -> RepeatRecord:
        record = parse_record((self.records / name).read_bytes())
        assert isinstance(record, RepeatRecord)
        return record

    def sessions(self) -> list[SessionRecord]:
        records = [parse_record(path.read_bytes()) for path in sorted(self.records.glob("sessions/*.json"))]
        return [record for record in records if isinstance(record, SessionRecord)]


ALL = [f"one-user-{k}.json" for k in (1, 2, 3, 4)]


@pytest.fixture
def bench(server: Server, tmp_path: Path) -> Bench:
    return Bench(server, tmp_path, make_plan())


def test_a_run_leaves_a_record_for_each_repeat(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POD_NAME", "bench-x")
    monkeypatch.setenv("NODE_NAME", "system-0")
    monkeypatch.setenv("SPLITBED_TOPOLOGY", '{"kind":"split","pipeline":2}')
    assert bench.run() == 0
    assert list(bench.finished()) == ALL
    record = bench.record("one-user-3.json")
    (reply,) = record.replies
    assert (record.run, record.plan_hash, record.repeat) == ("r1", bench.plan.hash, 3)
    assert record.engine.simulated
    assert record.engine.version == "0.31.0"
    assert (record.client.pod, record.client.node) == ("bench-x", "system-0")
    assert record.topology == {"kind": "split", "pipeline": 2}
    assert reply.tokens.output == TOKENS
    assert reply.tokens.prompt == 32
    assert len(reply.figures.gaps_s) == TOKENS - 1
    out = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in out if line.startswith("one-user ")] == [
        f"one-user {k}/4" for k in (1, 2, 3, 4)
    ]
    assert all("(simulated" in line for line in out if line.startswith("one-user "))
    assert out[-1] == f"4 of 4 repeats measured, 0 failed; records in {bench.records}"
    (session,) = bench.sessions()
    assert (session.exit_code, session.ending, session.measured) == (0, "complete", 4)


def test_gates_warm_up_and_repeats_are_apart_and_no_prompt_begins_as_another(bench: Bench) -> None:
    assert bench.run() == 0
    requests = bench.server.completions
    assert [request["max_tokens"] for request in requests] == [1, 16, TOKENS, TOKENS, TOKENS, TOKENS, 1]
    assert all(request["min_tokens"] == request["max_tokens"] for request in requests)
    assert len({tuple(request["prompt"][:2]) for request in requests}) == len(requests)
    assert len({tuple(request["prompt"][8:]) for request in requests[1:-1]}) == 1


def test_a_server_without_the_stand_ins_page_is_a_real_one(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.server.standin = None
    assert bench.run() == 0
    assert not bench.record("one-user-1.json").engine.simulated
    assert "simulated" not in capsys.readouterr().out


def test_a_finished_run_is_not_measured_again_and_asks_no_server(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.run() == 0
    before, asked = bench.finished(), len(bench.server.completions)
    bench.server.dead = True
    assert bench.run() == 0
    assert bench.finished() == before
    assert len(bench.server.completions) == asked
    assert "nothing to measure: 4 of 4 repeats measured, 4 of them earlier" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("500", "the server answered 500: "),
        ("reset", "the connection was closed by the server"),
        ("short", f"asked for {TOKENS} tokens, got {TOKENS - 5}"),
        ("no usage", "the stream ended without usage"),
        ("error", "the server broke the stream off: "),
    ],
)
def test_a_failed_repeat_is_kept_apart_and_tried_again_by_the_next_run(
    bench: Bench, fault: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.server.faults.extend([None, fault])
    assert bench.run() == 1
    first = bench.finished()
    assert list(first) == [ALL[0], ALL[2], ALL[3]]
    (failed,) = bench.records.glob("failed/*")
    assert failed.name == "one-user-2-1.json"
    record = parse_record(failed.read_bytes())
    assert isinstance(record, RepeatRecord)
    assert record.result == "failed"
    assert record.why.startswith(reason)
    err = capsys.readouterr().err.splitlines()
    assert err[0] == "Not every request succeeded."
    assert err[-1].startswith("To resume (finished repeats are kept), run again: python3 -m benchmark run --plan ")
    assert bench.run() == 0
    assert list(bench.finished()) == ALL
    assert {name: bench.finished()[name] for name in first} == first
    assert failed.exists()


def test_a_hanging_request_fails_in_time_and_the_run_goes_on(server: Server, tmp_path: Path) -> None:
    bench = Bench(server, tmp_path, make_plan(request_timeout_s=2.0))
    server.faults.append("hang")
    assert bench.run() == 1
    assert list(bench.finished()) == ALL[1:]


def test_an_engine_that_answers_no_more_ends_the_run_at_once(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = Bench(server, tmp_path, make_plan(request_timeout_s=2.0))
    server.faults.extend([None, "die"])
    assert bench.run() == 1
    assert list(bench.finished()) == ALL[:1]
    assert len([request for request in server.completions if request["max_tokens"] == TOKENS]) == 2
    err = capsys.readouterr().err
    assert "after the failure of one-user 2/4 the engine completed not even one token" in err
    assert "Traceback" not in err


def test_an_engine_lost_with_the_last_repeat_is_no_success(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = Bench(server, tmp_path, make_plan(request_timeout_s=2.0))
    respond = server._complete

    async def complete(request: dict[str, Any], fault: str | None, writer: Any) -> None:
        await respond(request, fault, writer)
        if len(server.completions) == 2 + 4:
            server.dead = True

    monkeypatch.setattr(server, "_complete", complete)
    assert bench.run() == 1
    assert list(bench.finished()) == ALL
    assert "after the last test the engine completed not even one token" in capsys.readouterr().err


def test_repeats_of_another_engine_are_not_added_to(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.server.faults.append("500")
    assert bench.run() == 1
    before = bench.finished()
    bench.server.standin = None
    assert bench.run() == 1
    assert bench.finished() == before
    err = capsys.readouterr().err
    assert "are of org/model by the stand-in engine, profile quick" in err
    assert "what answers now is org/model by vLLM 0.31.0" in err


def test_repeats_of_another_topology_are_not_added_to(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.server.faults.append("500")
    monkeypatch.setenv("SPLITBED_TOPOLOGY", '{"kind":"split"}')
    assert bench.run() == 1
    monkeypatch.setenv("SPLITBED_TOPOLOGY", '{"kind":"single"}')
    assert bench.run() == 1
    assert len(bench.finished()) == 3
    assert "are of topology {'kind': 'split'}; what answers now is topology {'kind': 'single'}" in (
        capsys.readouterr().err
    )


def test_a_killed_run_loses_no_finished_repeat_and_holds_no_lock(bench: Bench) -> None:
    bench.server.gap_s = 0.01
    with bench.start() as process:
        for _ in range(3):
            assert bench.server.measured.acquire(timeout=30)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    first = bench.finished()
    assert list(first) == ALL[:2]
    (bench.records / "failed" / ".one-user-3-1.json.part").write_bytes(b"{")  # as a kill within a write leaves it
    assert bench.run() == 0
    assert list(bench.finished()) == ALL
    assert {name: bench.finished()[name] for name in first} == first
    assert not list(bench.records.rglob(".*.part"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_leaves_what_was_measured_and_says_how_to_resume(bench: Bench, number: signal.Signals) -> None:
    bench.server.faults.extend([None, "hang"])
    with bench.start() as process:
        for _ in range(2):
            assert bench.server.measured.acquire(timeout=30)
        os.kill(process.pid, number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert list(bench.finished()) == ALL[:1]
    assert not list(bench.records.glob("failed/*"))
    (broken_off,) = bench.records.glob("partial/*")
    record = parse_record(broken_off.read_bytes())
    assert isinstance(record, RepeatRecord)
    assert (record.result, record.repeat, len(record.requests)) == ("partial", 2, 1)
    assert "1 of 4 repeats measured" in out
    assert err.splitlines()[0] == f"stopped by {number.name}."
    assert "To resume" in err.splitlines()[-1]
    assert len(err.splitlines()) == 2
    assert bench.sessions()[-1].exit_code == 128 + number


def handed_out(out: str) -> dict[str, object]:
    """Return path to record of the lines that hand one out."""
    parsed = [parse_record_line(line) for line in out.splitlines() if line.startswith(PREFIX)]
    return {str(path): record for path, record in parsed}


def kept(bench: Bench) -> dict[str, object]:
    return {
        str(path.relative_to(bench.results)): parse_record(path.read_bytes()) for path in bench.results.rglob("*.json")
    }


def test_records_are_printed_only_if_asked_for(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run() == 0
    assert PREFIX not in capsys.readouterr().out


def test_every_record_of_every_attempt_is_printed_before_the_last_words(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [*bench.argv, "--print-records"]
    bench.server.faults.extend([None, "500"])
    assert main(argv) == 1
    printed = capsys.readouterr()
    assert handed_out(printed.out) == kept(bench)
    assert len(kept(bench)) == 3 + 1 + 1
    assert printed.out.splitlines()[-1].startswith("3 of 4 repeats measured")
    assert printed.err.splitlines()[-1].endswith(" --print-records")
    assert main(argv) == 0
    assert handed_out(capsys.readouterr().out) == kept(bench)
    assert len(kept(bench)) == 4 + 1 + 2
    bench.server.dead = True
    assert main(argv) == 0
    assert handed_out(capsys.readouterr().out) == kept(bench), "also of a run that was finished before"


def test_a_terminated_run_prints_what_it_has(bench: Bench) -> None:
    bench.server.faults.extend([None, None, "hang"])
    with bench.start("--print-records") as process:
        for _ in range(3):
            assert bench.server.measured.acquire(timeout=30)
        os.kill(process.pid, signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert handed_out(out) == kept(bench)
    assert [path.rpartition("/")[2] for path in handed_out(out)] == [*ALL[:2], "one-user-3-1.json", "session-1.json"]


def test_a_record_that_cannot_be_read_is_said_and_no_success(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read = Path.read_bytes

    def failing(path: Path) -> bytes:
        if path.name == ALL[1]:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", failing)
    assert main([*bench.argv, "--print-records"]) == 1
    assert "Input/output error" in capsys.readouterr().err


def test_a_second_client_of_a_run_is_refused_and_the_first_goes_on(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.server.faults.append("hang")
    with bench.start() as process:
        assert bench.server.measured.acquire(timeout=30)
        assert bench.run() == 2
        assert f"is being measured already, by process {process.pid} of " in capsys.readouterr().err
        assert process.poll() is None
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=30)


def test_a_full_disk_ends_the_run_with_one_sentence(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace = Path.replace

    def full(path: Path, target: Path) -> Path:
        if target.name == "one-user-3.json" or "session" in target.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        assert bench.run() == 1
    err = capsys.readouterr().err
    assert "one-user-3.json: No space left on device. Free some space there, then resume" in err
    assert "Traceback" not in err
    assert list(bench.finished()) == ALL[:2]
    assert not list(bench.records.rglob(".*.part"))
    assert bench.run() == 0
    assert list(bench.finished()) == ALL


def test_in_the_cluster_the_way_to_resume_is_the_stacks(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POD_NAME", "bench-x")
    bench.server.faults.append("500")
    assert bench.run() == 1
    assert "benchmark.attempt one higher" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "the whole: Invalid JSON"),
        (json.dumps({"run": "r"}), "model: Field required"),
        (make_plan().to_json().replace('"seed": 7', '"seed": "7"'), "seed: Input should be a valid integer, found '7'"),
    ],
)
def test_a_broken_plan_is_refused_with_path_and_value(
    bench: Bench, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.plan_path.write_text(text)
    assert bench.run() == 2
    err = capsys.readouterr().err
    assert err.startswith(f"--plan {bench.plan_path}: {words}")
    assert len(err.splitlines()) == 1
    assert not bench.results.exists()


def test_a_missing_plan_is_refused(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.plan_path.unlink()
    assert bench.run() == 2
    assert capsys.readouterr().err.startswith(f"--plan {bench.plan_path}: No such file or directory.")


def test_a_broken_topology_is_refused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPLITBED_TOPOLOGY", "split")
    assert bench.run() == 2
    assert capsys.readouterr().err.startswith("SPLITBED_TOPOLOGY: 'split' is no JSON object.")


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://x", "http://", "http://x:port", "http://x/?q=1"])
def test_a_url_that_is_none_is_refused(bench: Bench, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    argv = bench.argv
    argv[argv.index("--url") + 1] = url
    assert main(argv) == 2
    assert capsys.readouterr().err.startswith(f"--url {url}: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "asked.json: No such file or directory. Leave it out, or name a file."),
        ('{"groups": 0}', "asked.json: experiment: Field required. Let Splitbed write it."),
        (asked().to_json(), "KUBERNETES_SERVICE_HOST is not set: this is no pod of a cluster. Leave --asked out."),
    ],
)
def test_what_was_asked_for_is_for_pods_only(
    bench: Bench, capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str | None, said: str
) -> None:
    path = tmp_path / "asked.json"
    if text is not None:
        path.write_text(text)
    assert main([*bench.argv, "--asked", str(path)]) == 2
    assert capsys.readouterr().err.rstrip().endswith(said)
    assert not bench.results.exists()
