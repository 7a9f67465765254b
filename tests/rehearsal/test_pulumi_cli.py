"""The CLI's preparations, with a `pulumi` that only keeps a log of what it is asked."""

from pathlib import Path

import pytest

from campaign.pulumi_cli import PROJECT
from rehearsal.pulumi_cli import PulumiCli
from rehearsal.workspace import Workspace

STACK = "rehearsal-split"


@pytest.fixture
def cli(tmp_path: Path) -> PulumiCli:
    workspace = Workspace(root=tmp_path / "workspace", stack=STACK)
    workspace.create()
    executable = tmp_path / "pulumi"
    executable.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/asked\n')
    executable.chmod(0o755)
    return PulumiCli(executable=executable, plugins=[], project=PROJECT, workspace=workspace, python=Path("python3"))


def asked(cli: PulumiCli) -> list[str]:
    log = cli.executable.with_name("asked")
    return [line.split(" --")[0] for line in log.read_text().splitlines()] if log.exists() else []


def state(cli: PulumiCli, name: str) -> None:
    path = cli.workspace.backend / ".pulumi" / "stacks" / "splitbed" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")


def test_a_stack_is_made_where_there_is_none(cli: PulumiCli) -> None:
    state(cli, "another.json")
    assert cli.prepare() == []
    assert asked(cli) == [f"stack init {STACK}"]


@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_one_that_is_there_is_asked_nothing(cli: PulumiCli, suffix: str) -> None:
    state(cli, f"{STACK}.{suffix}")
    assert cli.prepare() == []
    assert asked(cli) == []


def test_the_lock_of_a_killed_command_is_cancelled_and_that_is_said(cli: PulumiCli) -> None:
    state(cli, f"{STACK}.json")
    lock = cli.workspace.backend / ".pulumi" / "locks" / "organization" / "splitbed" / STACK / "1.json"
    lock.parent.mkdir(parents=True)
    lock.write_text("{}")
    (remark,) = cli.prepare()
    assert "was killed while it held the state's lock" in remark
    assert asked(cli) == ["cancel"]
