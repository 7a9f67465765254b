"""The command as a person runs it, against a server on 127.0.0.1."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from experiment.kinds.loads import Loss
from experiment.record import RepeatRecord, parse_record
from experiment.workload import Plan, Test
from scripts.main import app
from tests.benchmark.server import MODEL, Server
from tests.benchmark.test_main import make_plan

pytestmark = pytest.mark.thorough

PLAN = make_plan()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server.running() as running:
        yield running


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(PLAN.to_json())
    return path


def bench(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app(["bench", *map(str, arguments)])
    code = ended.value.code
    assert isinstance(code, int)
    return code


def test_a_plan_is_measured_and_told_as_a_table(
    server: Server, plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(server.url, "--plan", plan, "--results", tmp_path / "out") == 0
    printed = capsys.readouterr()
    assert "one-user 4/4: TTFT " in printed.err
    assert "4 of 4 repeats measured, 0 failed" in printed.err
    assert "stand-in engine" in printed.out
    assert printed.out.count("one-user") == 4


def test_what_was_measured_as_json_and_nothing_else(
    server: Server, plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench(server.url, "--plan", plan, "--results", tmp_path, "--run", "other", "--json") == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["exit_code"] == 0
    assert Path(told["directory"]).parent == tmp_path / "other"
    assert [one["cell"] for one in told["repeats"]] == ["one-user"] * 4
    assert all(one["simulated"] and one["result"] == "finished" for one in told["repeats"])
    assert told["repeats"][0]["figures"]["load"]["requests"] == 1


def test_a_plan_may_be_yaml_and_leave_the_model_to_the_command(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    tests = "[{kind: one-user, output_tokens: 20, repeats: 1}]"
    path.write_text(
        f"run: y\nmodel: x\nseed: 1\ncalibrate: false\nrequest_timeout_s: 20\nready_timeout_s: 20\ntests: {tests}\n"
    )
    assert bench(server.url, "--plan", path, "--results", tmp_path, "--model", MODEL) == 0
    assert server.completions[-1]["model"] == MODEL


def test_a_run_is_gone_on_with_only_if_somebody_says_so(
    server: Server, plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.faults.extend([None, "500"])
    command = (server.url, "--plan", plan, "--results", tmp_path / "out")
    assert bench(*command) == 1
    err = " ".join(capsys.readouterr().err.split())
    assert f"splitbed bench {server.url} --plan {plan} --results {tmp_path / 'out'}" in err
    assert err.endswith("--resume")
    assert bench(*command) == 2
    assert "holds 3 finished repeats" in " ".join(capsys.readouterr().err.split())
    assert bench(*command, "--resume") == 0
    assert "3 of them earlier" in capsys.readouterr().err


def test_a_signal_leaves_what_was_measured_marked_partial(server: Server, plan: Path, tmp_path: Path) -> None:
    server.faults.extend([None, "hang"])
    command = [sys.executable, "-c", "from scripts.main import app; app()", "bench", server.url]
    with subprocess.Popen(
        [*command, "--plan", str(plan), "--results", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for _ in range(2):
            assert server.measured.acquire(timeout=60)
        os.kill(process.pid, signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in err
    assert "--resume" in err
    directory = tmp_path / "out" / PLAN.run / PLAN.hash
    assert [path.name for path in directory.glob("*.json")] == ["one-user-1.json"]
    record = parse_record((directory / "partial" / "one-user-2-1.json").read_bytes())
    assert isinstance(record, RepeatRecord)
    assert record.result == "partial"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "neither JSON nor YAML"),
        ("run: r\n", "model: Field required"),
        ("run: 2026-01-01\n", "it holds what JSON cannot"),
    ],
)
def test_a_plan_that_is_none_is_refused_in_a_sentence(
    tmp_path: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    assert bench("http://127.0.0.1:1", "--plan", path, "--results", tmp_path) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert words in err
    assert "Traceback" not in err


def test_without_a_server_the_model_cannot_be_learnt(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert bench("http://127.0.0.1:1", "--results", tmp_path) == 2
    assert "no connection" in capsys.readouterr().err


def test_the_plan_of_the_documentation_is_one_and_has_every_kind() -> None:
    page = (Path(__file__).parents[2] / "docs" / "benchmark.md").read_text()
    text = page.partition("```yaml\n")[2].partition("```")[0]
    plan = Plan.model_validate_json(json.dumps(yaml.safe_load(text)))
    kinds = {kind.model_fields["kind"].annotation for kind in get_args(get_args(Test)[0])}
    assert {test.kind for test in plan.tests} == {get_args(kind)[0] for kind in kinds}


def test_a_plan_that_this_client_cannot_play_is_refused_and_not_to_be_resumed(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.json"
    path.write_text(make_plan(tests=(Loss(kind="loss"),)).to_json())
    assert bench(server.url, "--plan", path, "--results", tmp_path / "out") == 2
    told = capsys.readouterr()
    assert "kills a pod, and this client may not" in told.err
    assert "To resume" not in told.err
    assert told.out == ""
    assert not list((tmp_path / "out").rglob("*.json"))
