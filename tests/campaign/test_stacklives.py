"""Topologies switched on one stack, with doubles of Pulumi and of where it runs."""

from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from campaign import topologies
from campaign.lives import Lives
from campaign.measuring import PATIENCE_S, Measuring
from campaign.order import Turn
from campaign.pulumi_cli import Pulumi, PulumiError
from campaign.stacklives import StackLives
from experiment.settings import KEY
from stackfiles.stackfile import StackFile
from tests.rehearsal.conftest import Recorder

SINGLE, SPLIT = topologies.parsed(["single", "split"])
URN = "urn:pulumi:x::splitbed::kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet::serving"


class DoubleOfPulumi:
    """A stack as its file says; a log of what was done to it."""

    def __init__(self, directory: Path) -> None:
        self.stack, self.config_file = "rehearsal-single", directory / "Pulumi.yaml"
        self.done: list[str] = []
        self.up_is: dict[str, Any] = {}
        self.remarks: list[str] = []
        self.failing = 0

    def prepare(self) -> list[str]:
        return self.remarks

    def up(self, _: object, replaced: tuple[str, ...] = ()) -> None:
        settings = yaml.safe_load(self.config_file.read_text())["config"][KEY]
        kind, run = settings["topology"]["kind"], settings["benchmark"]["run"]
        self.done.append(
            f"up {kind} {run}.{settings['benchmark']['attempt']}{' anew' if list(replaced) == [URN] else ''}"
        )
        if self.failing:
            self.failing -= 1
            raise PulumiError("up failed.")
        self.up_is = {"run": run} if kind != "none" else {"namespace": "x"}

    def refresh(self, _: object) -> None:
        self.done.append("refresh")

    def destroy(self, _: object) -> None:
        self.done.append("destroy")

    def outputs(self) -> dict[str, Any]:
        return self.up_is

    def urns(self, kind: str) -> list[str]:
        assert kind == "LeaderWorkerSet"
        return [URN] if "run" in self.up_is else []


class DoubleOfSite:
    """Jobs that end as listed."""

    def __init__(self) -> None:
        self.jobs: list[bool] = []
        self.waited: list[float] = []

    def wait_until_alive(self) -> bool:
        return True

    def succeeded(self, outputs: dict[str, Any], patience_s: float) -> bool:
        self.waited.append(patience_s)
        return self.jobs.pop(0) if self.jobs else True

    def collect(self, outputs: dict[str, Any], into: Path) -> bool:
        return True

    def last_words(self, outputs: dict[str, Any]) -> str:
        return "its last words"

    def places(self, outputs: dict[str, Any]) -> tuple[str, ...]:
        return (f"leader of {outputs['run']}",)


@pytest.fixture
def pulumi(tmp_path: Path) -> DoubleOfPulumi:
    return DoubleOfPulumi(tmp_path)


@pytest.fixture
def site() -> DoubleOfSite:
    return DoubleOfSite()


@pytest.fixture
def lives(pulumi: DoubleOfPulumi, site: DoubleOfSite, recorder: Recorder) -> Lives:
    measuring = Measuring(pulumi=cast("Pulumi", pulumi), site=site, progress=recorder)
    return StackLives(file=StackFile.of("rehearsal-single"), measuring=measuring)


def turn(number: int) -> Turn:
    return Turn(number=number, topology=0, pass_number=1, run=f"c20261201-120000-{number:03d}")


def test_every_turn_is_a_deployment_of_its_own(lives: Lives, pulumi: DoubleOfPulumi, tmp_path: Path) -> None:
    assert lives.measure(turn(1), SINGLE, 1, tmp_path) == ("leader of c20261201-120000-001",)
    lives.measure(turn(2), SPLIT, 1, tmp_path)
    lives.measure(turn(3), SPLIT, 1, tmp_path)
    assert pulumi.done == [
        "up single c20261201-120000-001.1",
        "up split c20261201-120000-002.1 anew",
        "up split c20261201-120000-003.1 anew",
    ]


def test_a_turn_that_a_killed_command_has_set_is_not_set_anew(
    lives: Lives, pulumi: DoubleOfPulumi, tmp_path: Path
) -> None:
    lives.measure(turn(1), SPLIT, 1, tmp_path)
    lives.measure(turn(1), SPLIT, 1, tmp_path)
    assert pulumi.done == ["up split c20261201-120000-001.1"] * 2


def test_a_failed_job_is_told_with_its_last_words(
    lives: Lives, site: DoubleOfSite, recorder: Recorder, tmp_path: Path
) -> None:
    site.jobs = [False]
    assert lives.measure(turn(1), SPLIT, 1, tmp_path) is None
    assert "did not finish; its last words:\nits last words" in recorder.text


def test_a_job_is_waited_for_as_long_as_its_plan_may_take(lives: Lives, site: DoubleOfSite, tmp_path: Path) -> None:
    lives.measure(turn(1), SPLIT, 1, tmp_path)
    assert site.waited == [180 + 8 * 30 + PATIENCE_S], "to be ready, and eight repeats"


def test_a_command_that_fails_once_is_tried_again_after_a_refresh(
    lives: Lives, pulumi: DoubleOfPulumi, tmp_path: Path
) -> None:
    pulumi.failing = 1
    lives.measure(turn(1), SINGLE, 1, tmp_path)
    assert [word.split()[0] for word in pulumi.done] == ["up", "refresh", "up"]
    pulumi.failing = 2
    with pytest.raises(PulumiError):
        lives.measure(turn(2), SINGLE, 1, tmp_path)


def test_in_the_end_nothing_is_served_or_nothing_is_left_or_all_is(
    lives: Lives, pulumi: DoubleOfPulumi, tmp_path: Path
) -> None:
    lives.measure(turn(1), SPLIT, 1, tmp_path)
    lives.end("keep")
    assert len(pulumi.done) == 1
    lives.end("none")
    assert pulumi.done[1].startswith("up none")
    lives.end("destroy")
    assert pulumi.done[2] == "destroy"


def test_what_a_killed_command_left_is_put_right_first(
    lives: Lives, pulumi: DoubleOfPulumi, recorder: Recorder
) -> None:
    assert not lives.begin()
    assert pulumi.done == []
    pulumi.remarks = ["the lock is cancelled"]
    pulumi.up_is = {"namespace": "x"}
    assert lives.begin()
    assert pulumi.done == ["refresh"]
    assert "the lock is cancelled" in recorder.text


def test_the_tracked_file_is_not_changed(lives: Lives, pulumi: DoubleOfPulumi, tmp_path: Path) -> None:
    before = StackFile.of("rehearsal-single")
    lives.measure(turn(1), SPLIT, 1, tmp_path)
    assert StackFile.of("rehearsal-single") == before
    assert StackFile.read(pulumi.config_file) != before
