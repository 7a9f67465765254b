"""`splitbed campaign` as a person types it, on lives that play runs."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scripts import campaign as command
from scripts.main import app
from tests.campaign.conftest import Clock, DoubleOfLives

TWO = ("--topology", "single", "--topology", "split")
STACK = "rehearsal-single"


class Typed:
    """What a command printed, and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            app(["campaign", *arguments])
        printed = self._capsys.readouterr()
        code = ended.value.code
        return (code if isinstance(code, int) else 0), printed.out, " ".join(printed.err.split())


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Typed:
    monkeypatch.chdir(tmp_path)
    return Typed(capsys)


@pytest.fixture
def lives(monkeypatch: pytest.MonkeyPatch) -> DoubleOfLives:
    clock = Clock()
    found = DoubleOfLives(clock)
    monkeypatch.setattr(command, "_own", lambda *_: found)
    return found


def test_a_dry_run_tells_order_time_and_end_and_makes_nothing(typed: Typed, tmp_path: Path) -> None:
    code, printed, _ = typed(STACK, *TWO, "--dry-run")
    assert code == 0
    assert "Order: B A A B" in printed
    assert "A: single; a turn takes at most" in printed
    assert "Look after 4 runs of each" in printed
    assert "In the end: topology: none is set" in printed
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_for_a_program(typed: Typed) -> None:
    code, printed, _ = typed(STACK, *TWO, "--dry-run", "--json", "--looks", "3", "--end", "destroy")
    told = json.loads(printed)
    assert code == 0
    assert (told["order"].replace(" ", "").count("A"), told["end"]) == (3, "destroy")
    assert [look["turns"] for look in told["looks"]] == [6]


@pytest.mark.thorough
def test_a_whole_campaign_ends_with_the_verdict(typed: Typed, lives: DoubleOfLives, tmp_path: Path) -> None:
    code, printed, said = typed(STACK, *TWO, "--looks", "3")
    assert code == 0
    assert "turn 6 of at most 6" in said
    assert "ended: the last planned look, after 3 runs of each, is done." in printed or "narrow enough" in printed
    assert "split (pipeline 2) against single: no difference shown in 1 of 1 judged comparisons." in printed
    results = tmp_path / "results" / STACK
    assert f"splitbed compare {results / 'single'} {results / 'split-pipeline-2'} --looks 3" in printed
    assert lives.left == ["none"]
    text = (results / "report" / "index.html").read_text()
    assert "No difference was shown between single and split." in text
    assert 'href="../single"' in text
    assert f"report: {results / 'report' / 'index.html'}" in said

    again = typed(STACK, *TWO, "--looks", "3", "--json")
    told: dict[str, Any] = json.loads(again[1])
    assert len(lives.measured) == 6, "nothing is measured again"
    assert len(told["turns"]) == 6
    assert told["left"] == "none"
    assert told["verdict"]["method"]["looks"] == [3]


@pytest.mark.thorough
def test_an_interrupted_one_says_that_it_goes_on(typed: Typed, lives: DoubleOfLives) -> None:
    def interrupt(_: object) -> None:
        if len(lives.measured) == 2:
            raise KeyboardInterrupt

    lives.trouble = interrupt
    code, _, said = typed(STACK, *TWO, "--looks", "3")
    assert code == 130
    assert said.endswith(
        "the stack stays as it is now Stopped. The same command goes on from here; finished records are kept."
    )
    lives.trouble = lambda _: None
    assert typed(STACK, *TWO, "--looks", "3")[0] == 0
    assert sorted(lives.measured) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((STACK,), "A campaign takes two topologies, and none is named."),
        ((STACK, "--topology", "single"), "A campaign takes two topologies, and 1 is named."),
        ((STACK, *TWO, "--looks", "x"), "--looks x: these are no numbers of runs."),
        ((STACK, *TWO, "--difference", "0"), "--difference 0: this is no change to be shown."),
        ((STACK, *TWO, "--rehearse", "--end", "destroy"), "a rehearsal takes all down that it has made."),
        ((STACK, *TWO, "--budget", "5"), "pays for nothing itself"),
        (("no-such-stack", *TWO), "There is no stack no-such-stack"),
        ((STACK, *TWO), "benchmark.results: a directory of a cluster's node cannot be read from here."),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    typed: Typed, arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "pulumi"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    code, printed, error = typed(*arguments)
    assert (code, printed) == (2, "")
    assert said in error
    assert "Traceback" not in error
