"""The supervisor's rules, on real short-lived processes and a clock that the test moves."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rehearsal.cluster.plan import Plan, Program
from rehearsal.cluster.supervisor import MOST_STARTS, STARTS_WINDOW, Supervisor


class Stage:
    """A supervisor under test with a plan in a temporary directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.plan = directory / "plan.json"
        self.now = 0.0
        self.said: list[str] = []
        self.holding: set[str] = set()
        self.supervisor: Supervisor | None = None

    def program(self, name: str, script: str, **more: Any) -> Program:
        return Program(name=name, argv=("sh", "-c", script), log=str(self.directory / "log"), **more)

    def write(self, *programs: Program) -> None:
        Plan(status=str(self.directory / "status.json"), authority="", programs=programs).save(self.plan)

    def start(self, *programs: Program) -> None:
        self.write(*programs)
        self.supervisor = Supervisor(
            self.plan, -1, {}, self.said.append, lambda need, _: need in self.holding, lambda: self.now
        )
        self.supervisor.adopt_plan()

    def status(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = json.loads((self.directory / "status.json").read_text())
        return found

    def tick(self) -> dict[str, dict[str, Any]]:
        """One round of the supervisor, after what runs and will end has ended."""
        assert self.supervisor
        self.supervisor.tick()
        return self.status()

    def tick_until(self, condition: Callable[[dict[str, dict[str, Any]]], bool]) -> dict[str, dict[str, Any]]:
        deadline = time.monotonic() + 10
        while not condition(status := self.tick()):
            assert time.monotonic() < deadline, status
            time.sleep(0.005)
        return status

    def end(self) -> None:
        assert self.supervisor
        running = [run["pid"] for run in self.status().values() if run["pid"]]
        self.write()
        self.supervisor.adopt_plan()
        wait_for_end(self.supervisor, *running)


def wait_for_end(supervisor: Supervisor, *pids: int) -> None:
    """Let the supervisor collect processes that were killed."""
    deadline = time.monotonic() + 10
    while any(Path("/proc", str(pid)).exists() for pid in pids):
        assert time.monotonic() < deadline
        supervisor.tick()
        time.sleep(0.005)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.end()


def test_a_program_waits_for_all_its_needs(stage: Stage) -> None:
    stage.start(stage.program("web", "sleep 60", needs=("unix:/a", "tcp:b:1")))
    stage.holding = {"unix:/a"}
    assert stage.tick()["web"]["state"] == "waiting"
    stage.holding.add("tcp:b:1")
    assert stage.tick()["web"]["state"] == "running"


def test_what_is_to_succeed_once_is_tried_until_it_does_and_then_lets_others_go(stage: Stage) -> None:
    tried = stage.directory / "tried"
    once = stage.program("import", f"test -e {tried} || {{ touch {tried}; exit 3; }}", once=True)
    stage.start(once, stage.program("web", "sleep 60", needs=("done:import",)))
    status = stage.tick_until(lambda status: status["import"]["last_exit"] == 3)
    assert status["web"]["state"] == "waiting"
    stage.now += 10
    status = stage.tick_until(lambda status: status["web"]["state"] == "running")
    assert status["import"] == {"state": "done", "pid": None, "starts": 2, "last_exit": 0}


def test_a_program_that_dies_is_started_again_after_a_pause(stage: Stage) -> None:
    stage.start(stage.program("web", "sleep 60"))
    first = stage.tick()["web"]["pid"]
    os.kill(first, signal.SIGKILL)
    status = stage.tick_until(lambda status: status["web"]["state"] == "waiting")
    assert status["web"]["last_exit"] == -signal.SIGKILL
    assert stage.tick()["web"]["state"] == "waiting"
    stage.now += 0.25
    status = stage.tick_until(lambda status: status["web"]["state"] == "running")
    assert status["web"]["starts"] == 2
    assert status["web"]["pid"] != first


def test_a_program_that_keeps_dying_is_given_up(stage: Stage) -> None:
    stage.start(stage.program("web", "exit 1"))
    for _ in range(MOST_STARTS):
        stage.now += 8
        stage.tick_until(lambda status: status["web"]["state"] in ("waiting", "failed"))
    status = stage.tick_until(lambda status: status["web"]["state"] == "failed")
    assert status["web"]["starts"] == MOST_STARTS
    assert "given up" in stage.said[-1]
    stage.now += 1000
    assert stage.tick()["web"]["state"] == "failed"


def test_a_program_that_dies_now_and_then_is_never_given_up(stage: Stage) -> None:
    stage.start(stage.program("web", "exit 1"))
    for count in range(1, 2 * MOST_STARTS):
        stage.tick_until(lambda status, count=count: status["web"]["starts"] == count)  # type: ignore[misc]
        stage.tick_until(lambda status: status["web"]["state"] != "running")
        stage.now += STARTS_WINDOW / (MOST_STARTS - 2)
    assert stage.tick()["web"]["state"] != "failed"


def test_a_program_that_cannot_be_started_is_named(stage: Stage) -> None:
    missing = Program(name="web", argv=("/nonexistent/program",), log=str(stage.directory / "log"))
    stage.start(missing)
    assert stage.tick()["web"]["state"] == "waiting"
    assert any(text.startswith("web cannot be started") and "/nonexistent/program" in text for text in stage.said)


def test_a_changed_plan_starts_what_is_new_and_ends_what_is_gone(stage: Stage) -> None:
    stays, goes = stage.program("stays", "sleep 60"), stage.program("goes", "sleep 60")
    stage.start(stays, goes)
    before = stage.tick()
    stage.write(stays, stage.program("comes", "sleep 60"))
    assert stage.supervisor
    stage.supervisor.adopt_plan()
    after = stage.tick()
    assert set(after) == {"stays", "comes"}
    assert after["stays"]["pid"] == before["stays"]["pid"]
    wait_for_end(stage.supervisor, before["goes"]["pid"])


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A supervisor of nothing in a process of its own, and the pipe that holds it."""
    plan = tmp_path / "plan.json"
    Plan(status=str(tmp_path / "status.json"), authority="").save(plan)
    reader, writer = os.pipe()
    script = (
        "import sys; from pathlib import Path; from rehearsal.cluster.supervisor import Supervisor;"
        "Supervisor(Path(sys.argv[1]), int(sys.argv[2]), {}, print).run()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(plan), str(reader)], pass_fds=[reader], stdout=subprocess.DEVNULL
    ) as process:
        os.close(reader)
        yield writer, process
        process.kill()


def test_it_ends_with_whoever_brought_the_cluster_up(holder: tuple[int, subprocess.Popen[bytes]]) -> None:
    writer, process = holder
    os.close(writer)
    assert process.wait(timeout=20) == 0


@pytest.mark.thorough
def test_it_stays_once_it_was_told_to(holder: tuple[int, subprocess.Popen[bytes]], tmp_path: Path) -> None:
    writer, process = holder
    os.write(writer, b"+")
    os.close(writer)
    deadline = time.monotonic() + 20
    while not (tmp_path / "status.json").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 0
