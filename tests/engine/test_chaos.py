"""A rehearsal in which something is killed at a random moment: the next run must put it right.

Each seed draws a moment within its phase; phases and victims go round, so that every pair comes up in a campaign.
"""

import json
import random
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from rehearsal.leftovers import Listing, diff
from tests.engine.command import Command, splitbed
from tests.engine.victims import kill

REPEATS = 8  # of the one test in the rehearsal's plan


@dataclass(frozen=True)
class Phase:
    """A stretch of the rehearsal: the line that begins it, about how long it lasts, and who can be killed in it."""

    name: str
    begins: str
    lasts_s: float
    victims: tuple[str, ...]


PHASES = (
    Phase("build", "Building", 2.5, ("command",)),
    Phase("cluster up", "cluster rehearsal: starting", 18, ("command", "apiserver", "kubelet")),
    Phase("pulumi up", "pulumi up", 22, ("command", "controller", "apiserver", "kubelet", "worker")),
    Phase("benchmark", "benchmark, run", 7, ("job", "worker", "command", "controller", "apiserver", "kubelet")),
    Phase("destroy", "pulumi destroy", 8, ("command", "apiserver", "controller", "kubelet")),
    Phase("down", "cluster rehearsal: down", 1.5, ("command",)),
)
PAIRS = [(phase, victim) for phase in PHASES for victim in phase.victims]


def drawn(seed: int) -> tuple[Phase, str, float]:
    """Return phase, victim and the delay in seconds after the phase's first line."""
    # A stride that shares no factor with the number of pairs visits each of them, far ones soon.
    phase, victim = PAIRS[seed * 7 % len(PAIRS)]
    return phase, victim, random.Random(seed).uniform(0, phase.lasts_s)  # noqa: S311


@pytest.mark.engine
@pytest.mark.chaos
def test_the_next_run_recovers(seed: int, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLITBED_HOME", str(own_home))  # so that victims and listings are of this home
    phase, victim, delay_s = drawn(seed)
    stack = "rehearsal-split"
    arguments = ("rehearse", "--stack", stack, "--json")
    before = Listing.take()
    if phase.name == "build":
        spoil_builds(own_home)
    with Command(own_home, *arguments) as command:
        assert command.wait_for(phase.begins), command.said
        time.sleep(delay_s)
        struck = kill(victim, command)
        status, output = command.end()
        said = command.said
    hit = "hit" if struck else "none there at that moment"
    print(f"seed {seed}: {phase.name}: {victim} killed {delay_s:.1f} s into it ({hit}), status {status}")
    first = records(own_home, stack)
    if status != 0:
        print("".join(f"    it said: {line}\n" for line in said.splitlines()[-3:]), end="")
        if victim != "command":
            assert "error:" in said, said
            assert "Traceback" not in said, said
        status, output, said = splitbed(own_home, *arguments)
        assert status == 0, said
    (figures,) = json.loads(output)
    assert figures["tests"][0]["repeats"] == REPEATS, figures
    after = records(own_home, stack)
    assert first.items() <= after.items(), "a finished record was lost or written again"
    assert diff(before, Listing.take()) == []


def records(home: Path, stack: str) -> dict[tuple[str, str], float]:
    """Return run and record names with the moment each was written."""
    results = home / "rehearsals" / "local" / stack / "results"
    return {(path.parts[-3], path.name): path.stat().st_mtime for path in results.glob("*/*/*.json")}


def spoil_builds(home: Path) -> None:
    """Make the next command build something again: the smallest program, and the engine's image."""
    spoilt = [path for name in ("pause", "standin") for path in home.glob(f"*/{name}-*")]
    for path in spoilt:
        for file in [path] if path.is_file() else list(path.iterdir()):
            file.unlink()
