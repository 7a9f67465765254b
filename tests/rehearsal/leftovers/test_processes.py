"""Which processes may be ours, in made-up process tables."""

import os
import subprocess
from pathlib import Path

import pytest

from rehearsal.cluster.layout import Layout
from rehearsal.leftovers.processes import COMMAND as COMMAND_MARK
from rehearsal.leftovers.processes import Process, Processes, mark_command

OURS, THEIRS = "0::/session-1\n", "0::/system.slice/cron.service\n"
INIT, SHELL, COMMAND, CHILD = 1, 100, 200, 300


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLITBED_HOME", str(tmp_path))
    monkeypatch.delenv(COMMAND_MARK, raising=False)


def process(
    pid: int,
    parent: int,
    cgroups: str = OURS,
    cluster: str = "",
    ended: bool = False,
    command: str = "x",
    marked_by: str | None = None,
) -> Process:
    return Process(pid, parent, pid, command, cluster, cgroups, ended, marked_by)


def may_be_ours(*more: Process) -> bool:
    """Tell whether the last of `more` may be ours, beside the command that looks, its shell and its child."""
    table = [
        process(INIT, 0, "0::/init.scope\n"),
        process(2, 0, "0::/\n"),
        process(SHELL, INIT),
        process(COMMAND, SHELL),
        process(CHILD, COMMAND),
        process(400, SHELL),
        process(500, INIT, THEIRS),
        *more,
    ]
    return Processes({entry.pid: entry for entry in table}, COMMAND).may_be_ours(more[-1].pid)


def test_what_descends_from_the_command_is() -> None:
    assert may_be_ours(process(600, CHILD))
    assert may_be_ours(process(600, COMMAND, ended=True))
    assert may_be_ours(process(600, COMMAND, THEIRS))


def test_an_orphan_of_our_session_is_and_one_of_a_service_is_not() -> None:
    assert may_be_ours(process(600, INIT))
    assert not may_be_ours(process(600, INIT, THEIRS))
    assert not may_be_ours(process(600, INIT, ended=True))


def test_an_orphan_without_the_commands_mark_is_somebody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container all are in one control group: a job of the shell beside us looks as ours would."""
    monkeypatch.setenv(COMMAND_MARK, "200-1")
    assert may_be_ours(process(600, INIT, marked_by="200-1"))
    assert may_be_ours(process(600, SHELL, marked_by=None)), "it shows no environment, so nobody can tell"
    assert not may_be_ours(process(600, INIT, marked_by=""))
    assert not may_be_ours(process(600, SHELL, marked_by="77-1"))


def test_what_a_marked_process_starts_carries_its_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(COMMAND_MARK, raising=False)
    mark_command()
    mark = os.environ[COMMAND_MARK]
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as child:
        try:
            found = {entry.pid: entry.marked_by for entry in Processes.take().ours()}
        finally:
            child.kill()
    assert found[child.pid] == mark
    mark_command()
    assert os.environ[COMMAND_MARK] == mark, "a command within a command is a part of it"


def test_other_peoples_children_are_not() -> None:
    assert not may_be_ours(process(600, 400), process(601, 600))
    assert not may_be_ours(process(600, 500, THEIRS))


def test_kernel_threads_are_not() -> None:
    assert not may_be_ours(process(600, 2, "0::/\n"))


def test_the_mark_of_a_cluster_tells_wherever_the_process_is() -> None:
    assert may_be_ours(process(600, 500, THEIRS, cluster=str(Layout.of("a").path)))
    assert not may_be_ours(process(600, COMMAND, cluster="/elsewhere/clusters/a"))
    assert not may_be_ours(process(600, COMMAND, cluster="/elsewhere/clusters/a"), process(601, 600))


def test_pods_are_told_by_their_control_groups() -> None:
    ours = f"5:memory:/{Layout.of('a').cgroup}/engine-0/kubepods/pod1\n"
    theirs = f"5:memory:/{Layout(Path('/elsewhere/clusters/a')).cgroup}/engine-0/kubepods/pod1\n"
    assert may_be_ours(process(600, 500, ours))
    assert not may_be_ours(process(600, 500, theirs))


def test_a_process_that_is_not_in_the_table_is_not() -> None:
    assert not Processes({}, COMMAND).may_be_ours(600)
