"""Which processes may be ours, in made-up process tables."""

from pathlib import Path

import pytest

from rehearsal.cluster.layout import Layout
from rehearsal.leftovers.processes import Process, Processes

OURS, THEIRS = "0::/session-1\n", "0::/system.slice/cron.service\n"
INIT, SHELL, COMMAND, CHILD = 1, 100, 200, 300


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLITBED_HOME", str(tmp_path))


def process(
    pid: int, parent: int, cgroups: str = OURS, cluster: str = "", ended: bool = False, command: str = "x"
) -> Process:
    return Process(pid, parent, pid, command, cluster, cgroups, ended)


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
