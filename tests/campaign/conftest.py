"""Campaigns on doubles: lives that play the stand-in's timing model, a clock that is set, a journal that crashes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from campaign import topologies
from campaign.campaign import Campaign, End
from campaign.forecast import Expected, Forecast
from campaign.journal import Begun, Entry, Journal
from campaign.limits import Limits
from campaign.loop import Loop
from campaign.order import Turn
from experiment.kinds.alone import OneUser
from experiment.topology import Topology
from rehearsal.engine.profile import PROFILES
from tests.rehearsal.conftest import Recorder
from tests.report.verdict.standin import played

BEGAN = datetime(2026, 12, 1, 12, tzinfo=UTC)
TURN_S = 600.0
ONE_USER = OneUser(kind="one-user")


class Killed(BaseException):
    """The process ends here, as by SIGKILL: nothing of ours runs any more."""


@dataclass
class Clock:
    """A moment that moves when it is told to."""

    now: datetime = BEGAN

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class CrashingJournal(Journal):
    """A journal that is written by a process that is killed, before or after a line is on the disk."""

    kill_at: int | None = None
    before: bool = False

    def add(self, entry: Entry) -> None:
        if self.kill_at is not None:
            self.kill_at -= 1
            if self.kill_at < 0 and self.before:
                raise Killed
        super().add(entry)
        if self.kill_at is not None and self.kill_at < 0:
            raise Killed


@dataclass
class DoubleOfLives:
    """A stack on which turns take ten minutes; its records are of the stand-in's timing model, as of a real engine.

    Attributes:
        speed: by topology in words, by how much its steps are longer.
        fails: of each turn, how many of its attempts are to fail.
        trouble: called at each measuring; raises what is to happen there.
    """

    clock: Clock
    speed: Mapping[str, float] = field(default_factory=dict)
    scatter: float = 0.005
    fails: dict[int, int] = field(default_factory=dict)
    trouble: Callable[[Turn], None] = lambda _: None
    up: bool = True
    disturbed: bool = False
    begun: int = 0
    measured: list[int] = field(default_factory=list)
    attempts: list[tuple[int, int]] = field(default_factory=list)
    left: list[End] = field(default_factory=list)

    def begin(self) -> bool:
        self.begun += 1
        return self.up

    def measure(self, turn: Turn, topology: Topology, attempt: int, into: Path) -> tuple[str, ...] | None:
        self.attempts.append((turn.number, attempt))
        self.trouble(turn)
        self.clock.pass_by(TURN_S)
        if self.fails.get(turn.number, 0):
            self.fails[turn.number] -= 1
            return None
        self._write(turn, topology, into)
        self.measured.append(turn.number)
        return (f"leader engine-0 on node-{turn.topology}",)

    def end(self, how: End) -> None:
        self.left.append(how)

    def _write(self, turn: Turn, topology: Topology, into: Path) -> None:
        drift = 1 + 0.01 * turn.number + self.scatter * ((turn.number * 7919) % 13 - 6) / 6
        factor = drift * self.speed.get(topologies.label(topology), 1.0)
        profile = PROFILES["post-1b-single"]
        profile = profile.model_copy(
            update={name: getattr(profile, name) * factor for name in ("step_s", "sequence_s", "prefill_token_s")}
        )
        record = played(
            ONE_USER, "one-user", 1, 1, profile, 1, 0.0, turn.number,
            run=turn.run, topology=topologies.mapping(topology), started_at=self.clock.now,
            disturbed=("another benchmark ran",) if self.disturbed else (),
        )  # fmt: skip
        path = into / turn.run / "hash" / "one-user-1.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record.to_json())


@dataclass
class Stage:
    """A campaign in a directory, which outlives the commands that carry it out."""

    directory: Path
    clock: Clock
    recorder: Recorder
    lives: DoubleOfLives
    fields: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    end: End = "none"
    ground_s: float = 0.0

    @property
    def campaign(self) -> Campaign:
        return made(**self.fields)

    def journal(self, kind: type[Journal] = Journal) -> Journal:
        return kind.opened(self.directory / "journal.jsonl")

    def command(self, journal: Journal | None = None) -> str:
        """Carry the campaign out, as one process does."""
        journal = journal or self.journal()
        if journal.campaign is None:
            journal.add(Begun(campaign=self.campaign))
        return Loop(
            campaign=self.campaign,
            journal=journal,
            lives=self.lives,
            limits=Limits(begun_at=BEGAN, **self.limits),
            forecast=Forecast([Expected(TURN_S, "planned")] * len(self.campaign.topologies), ground_s=self.ground_s),
            directory=self.directory,
            money={},
            end=self.end,
            clock=self.clock,
            progress=self.recorder,
            watch=lambda _: None,
        ).carry_out()


def made(**changes: Any) -> Campaign:
    """Return a campaign of single against split."""
    fields: dict[str, Any] = {
        "id": "c20261201-120000",
        "stack": "x",
        "settings_hash": "0",
        "topologies": topologies.parsed(["single", "split"]),
        "seed": 0,
        "looks": (2,),
        "difference": 0.1,
        "begun_at": BEGAN,
    }
    return Campaign(**(fields | changes))


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    clock = Clock()
    return Stage(tmp_path, clock, Recorder(), DoubleOfLives(clock))
