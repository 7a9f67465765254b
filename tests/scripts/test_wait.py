"""`splitbed wait`: a benchmark followed to its end, on a clock that does not wait."""

import io
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from experiment.errors import SplitbedError
from rehearsal.benchmarkjob import Look
from rehearsal.observer import ClusterRefusedError, ClusterUnreachableError
from scripts.measured import measured
from scripts.stack import read
from scripts.verbs import command
from scripts.wait import Bar, Followed, JobGoneError, Lines, follow
from tests.apiserver import Answers
from tests.cloud.conftest import VirtualClock
from tests.rehearsal.benchmarkpod import BEGUN, ONE, THREE, TWO, ended
from tests.scripts.conftest import of_the_stack

STACK = "rehearsal-split"
LOST = ClusterUnreachableError("The API server at https://a does not answer: timed out.")
RUN = Look(state="running", before=1, measured=(ONE,), doing=ONE)
END = Look(state="succeeded", exit_code=0, before=1, measured=(ONE, THREE), doing="2 of 2")


class Job:
    """Looks in a row; the last one again and again."""

    def __init__(self, *looks: Look | Exception) -> None:
        self.looks = list(looks)

    def look(self) -> Look:
        look = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(look, Exception):
            raise look
        return look

    def others(self) -> Sequence[str]:
        return ["bench-2-0123456789ab-a1"]


class Shown:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.states: list[tuple[int, str]] = []

    def line(self, text: str) -> None:
        self.lines.append(text)

    def at(self, done: int, doing: str) -> None:
        self.states.append((done, doing))


def followed(*looks: Look | Exception, minutes: float | None = None) -> tuple[Followed, Shown, VirtualClock]:
    shown, clock = Shown(), VirtualClock()
    deadline = clock.now() + timedelta(minutes=minutes) if minutes is not None else None
    return follow(Job(*looks), "j in n", clock, shown, deadline), shown, clock


def test_each_repeat_is_told_once_and_its_end_is_the_jobs() -> None:
    found, shown, clock = followed(Look(state="running", doing="its pod: Pending"), RUN, RUN, END)
    assert found == Followed(END)
    assert found.exit_code == 0
    assert shown.lines == [ONE, THREE]
    assert shown.states == [(0, "its pod: Pending"), (2, ONE), (2, ONE), (3, "2 of 2")]
    assert clock.slept == [5.0, 5.0, 5.0]


@pytest.mark.parametrize(("code", "ends_with"), [(1, 1), (2, 2), (143, 143), (None, 1), (0, 1)])
def test_a_failed_job_ends_with_the_clients_code(code: int | None, ends_with: int) -> None:
    assert followed(Look(state="failed", exit_code=code))[0].exit_code == ends_with


def test_a_lost_connection_is_said_and_waited_for() -> None:
    found, shown, clock = followed(RUN, *[LOST] * 7, RUN, LOST, END)
    assert found.exit_code == 0
    assert shown.lines == [
        ONE,
        f"the connection is lost, and tried again until it is back: {LOST.message}",
        "connected again, after 255 s",
        f"the connection is lost, and tried again until it is back: {LOST.message}",
        "connected again, after 5 s",
        THREE,
    ]
    assert clock.slept[1:8] == [5, 10, 20, 40, 60, 60, 60], "patient, and not in a tight loop"


def test_a_connection_that_never_was_is_no_loss() -> None:
    with pytest.raises(ClusterUnreachableError):
        followed(LOST)


def test_a_refusal_is_not_tried_again() -> None:
    with pytest.raises(ClusterRefusedError):
        followed(RUN, ClusterRefusedError("no"))


def test_the_time_ends_the_wait_and_not_the_job() -> None:
    found, _, clock = followed(RUN, minutes=1)
    assert (found, found.exit_code) == (Followed(RUN, timed_out=True), 124)
    assert sum(clock.slept) == 60
    found, _, clock = followed(RUN, LOST, minutes=1)
    assert (found, found.exit_code) == (Followed(RUN, timed_out=True), 124)
    assert 60 <= sum(clock.slept) <= 120


def test_a_log_that_is_gone_takes_nothing_back() -> None:
    found, shown, _ = followed(RUN, Look(state="succeeded", exit_code=0))
    assert found.look.measured == (ONE,)
    assert found.look.before == 1
    assert shown.lines == [ONE]


def test_no_job_is_said_with_what_is_there() -> None:
    with pytest.raises(JobGoneError) as refusal:
        followed(Look(state="missing"))
    assert refusal.value.message == "There is no Job j in n."
    assert refusal.value.remedy.startswith("There are bench-2-0123456789ab-a1: ")
    with pytest.raises(JobGoneError, match="was removed before it had ended"):
        followed(RUN, Look(state="missing"))


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command("wait"), [STACK, *arguments], catch_exceptions=False)


@pytest.mark.usefixtures("at_api")
def test_the_command_ends_as_the_benchmark_does(answers: Answers) -> None:
    answers |= of_the_stack(STACK, ended(f"{BEGUN}{ONE}\n{TWO}\nmeasured 1, failed 1\n", 1, "backoff limit"))
    done = run()
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [ONE, TWO]
    assert done.stdout.endswith("failed (backoff limit); the last it said: measured 1, failed 1\n")
    answers |= of_the_stack(STACK, ended(f"{BEGUN}{ONE}\n", 0))
    done = run()
    assert (done.exit_code, done.stdout.endswith(f"splitbed fetch {STACK}\n")) == (0, True)


@pytest.mark.usefixtures("at_api")
def test_the_command_says_it_as_json(answers: Answers) -> None:
    answers |= of_the_stack(STACK, ended(f"{BEGUN}{ONE}\n{TWO}\nmeasured\n", 1, "backoff limit"))
    done = run("--json")
    assert done.exit_code == 1
    what = measured(read(STACK), None, None)
    assert json.loads(done.stdout) == {
        "stack": STACK,
        "namespace": what.namespace,
        "job": what.job,
        "state": "failed",
        "timed_out": False,
        "why": "backoff limit",
        "exit_code": 1,
        "planned": len(what.plan.repeats),
        "finished": 2,
        "measured": [ONE, TWO],
    }


@pytest.mark.usefixtures("at_api")
def test_another_run_or_attempt_is_another_job() -> None:
    with pytest.raises(JobGoneError, match=r"There is no Job bench-9-[0-9a-f]{12}-a7 in exp-rehearsal-split\."):
        run("--run", "9", "--attempt", "7")
    for wrong in (("--run", "../x"), ("--attempt", "0")):
        with pytest.raises(SplitbedError, match=rf"{wrong[0]} {wrong[1]}: .*\."):
            run(*wrong)


def test_a_terminal_gets_a_bar_below_the_lines() -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=120)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[doing]}"))
    with Progress(*columns, console=console) as progress:
        bar = Bar(progress, "bench-1", 4)
        bar.line("one \x1b[2Jline")
        bar.at(3, "now \x1b[2Jthis")
        progress.refresh()
    assert r"one \x1b[2Jline" in text.getvalue()
    assert "3/4" in text.getvalue()
    assert r"now \x1b[2Jthis" in text.getvalue()


def test_elsewhere_a_line_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(Console(stderr=True, width=20))
    lines.line("a line of many words that no width may break [bold]")
    lines.at(1, "nothing of this")
    assert capsys.readouterr().err == "a line of many words that no width may break [bold]\n"
