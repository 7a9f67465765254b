"""`splitbed logs` as it is typed."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from experiment.errors import SplitbedError
from experiment.logline import Line
from scripts import logs
from scripts.verbs import command
from stackfiles.stackfile import STACKS
from tests.cloud.conftest import VirtualClock

NOW_NS = int(datetime.now(UTC).timestamp()) * 10**9
ENGINE = Line(
    time_ns=NOW_NS, text="crash", pod="exp-a-0", uid="0123456789", container="engine", restart="0", offset=1, group="0"
)
AGAIN = Line(
    time_ns=NOW_NS - 1, text="first life", pod="exp-a-0", uid="f123456789", container="engine", restart="1", offset=2
)
CLIENT = Line(
    time_ns=NOW_NS - 2 * 3600 * 10**9, text="\x1b[2Jmeasured", pod="bench-1-x", uid="a", container="benchmark", run="1"
)
SHIPPED = [[ENGINE, ENGINE], [AGAIN, CLIENT]]


class Played:
    """What a log returns at each look."""

    def __init__(self, *looks: Sequence[Sequence[Line]]) -> None:
        self.looks = list(looks)
        self.made: list[Any] = []

    def __call__(self, *made: Any) -> "Played":
        self.made.append(made)
        return self

    def lines(self, *asked: Any) -> Iterator[Sequence[Line]]:
        self.made.append(asked)
        if not self.looks:
            raise KeyboardInterrupt
        yield from self.looks.pop(0)


@pytest.fixture
def cloudwatch(monkeypatch: pytest.MonkeyPatch) -> Played:
    played = Played(SHIPPED)
    monkeypatch.setattr(logs, "PodLog", played)
    monkeypatch.setattr(logs, "Account", lambda profile: f"account of {profile}")
    return played


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command("logs"), list(arguments), catch_exceptions=False)


def said(*arguments: str) -> list[str]:
    return [json.loads(line)["text"] for line in run("gemma-1b-split", "--json", *arguments).stdout.splitlines()]


def test_every_line_is_printed_once_and_in_order(cloudwatch: Played) -> None:
    assert said() == ["\x1b[2Jmeasured", "first life", "crash"]
    made, asked = cloudwatch.made
    assert made == ("account of None", "us-east-1", "/splitbed/exp-gemma-1b-split", "pods")
    assert asked == (0,)


def test_lives_and_restarts_are_told_apart_and_a_terminal_is_told_nothing(cloudwatch: Played) -> None:
    client, again, engine = run("gemma-1b-split").stdout.splitlines()
    assert engine.endswith(" exp-a-0/engine 01234567: crash")
    assert again.endswith(" exp-a-0/engine f1234567 (restart 1): first life")
    assert client.endswith(r"bench-1-x/benchmark a: \x1b[2Jmeasured")


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (("--pod", "exp-a-*"), ["first life", "crash"]),
        (("--pod", "exp-a"), []),
        (("--container", "benchmark"), ["\x1b[2Jmeasured"]),
        (("--run", "1"), ["\x1b[2Jmeasured"]),
        (("--run", "2"), []),
        (("--since", "1"), ["first life", "crash"]),
    ],
)
def test_filters(cloudwatch: Played, arguments: tuple[str, ...], texts: list[str]) -> None:
    assert said(*arguments) == texts


def test_following_goes_on_until_it_is_interrupted(clock: VirtualClock) -> None:
    played = Played([[AGAIN]], [], [[AGAIN, ENGINE]])
    following = logs.read(played.lines, clock, follow=True)
    assert [next(following), next(following)] == [AGAIN, ENGINE]
    with pytest.raises(KeyboardInterrupt):
        next(following)
    assert clock.slept == [2.0, 2.0, 2.0]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


def stack_file(tmp_path: Path, stack: str, logs_: dict[str, Any]) -> str:
    document = yaml.safe_load((STACKS / f"Pulumi.{stack}.yaml").read_text())
    document["config"]["splitbed:experiment"]["logs"] = logs_
    path = tmp_path / f"Pulumi.{stack}.yaml"
    path.write_text(yaml.safe_dump(document))
    return str(path)


def test_files_are_read_from_the_nodes_of_both_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(SHIPPED)
    monkeypatch.setattr(logs, "NodeFiles", played)
    stdout = run(stack_file(tmp_path, "rehearsal-split", {"kind": "files"}), "--pod", "exp-a-0").stdout
    assert len(stdout.splitlines()) == 2
    (_, _, namespace), (selectors,) = played.made
    assert namespace == "exp-rehearsal-split"
    assert selectors == [{"splitbed.dev/group": "system"}, {"splitbed.dev/group": "engine"}]


def test_a_stack_that_ships_none_is_told_so() -> None:
    with pytest.raises(SplitbedError, match=r"ships no logs: its logs\.kind is none"):
        run("rehearsal-split")


def test_files_on_eks_are_told_to_be_gone(tmp_path: Path) -> None:
    with pytest.raises(SplitbedError, match="AWS takes away"):
        run(stack_file(tmp_path, "gemma-1b-split", {"kind": "files"}))
