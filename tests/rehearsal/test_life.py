"""The life of a stack, against doubles of Pulumi and of the cluster that fail where they are told to."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from campaign.order import Turn
from campaign.pulumi_cli import PulumiError
from campaign.stacklives import StackLives
from experiment.settings import KEY
from experiment.topology import Split
from rehearsal import life
from rehearsal.life import ATTEMPTS, Rehearsal, RehearsalError
from rehearsal.observer import ClusterUnreachableError, JobState, PodPlace
from rehearsal.pulumi_cli import PulumiCli
from rehearsal.target import Target
from rehearsal.workspace import Workspace
from stackfiles.stackfile import StackFile
from tests.rehearsal.conftest import Recorder

STACK = "rehearsal-split"
SPLIT = Split(kind="split", pipeline=2)
Trouble = Callable[[str], None]


class DoubleOfPulumi:
    """Says what the stack's outputs would be, and keeps a log of its commands."""

    def __init__(self, workspace: Workspace, commands: list[str], trouble: Trouble) -> None:
        self.workspace, self.commands, self._trouble = workspace, commands, trouble
        self.stack, self.config_file = workspace.stack, workspace.config_file

    remarks: tuple[str, ...] | list[str] = ()

    def _run(self, command: str) -> None:
        self.commands.append(command)
        self._trouble(command)

    def prepare(self) -> tuple[str, ...] | list[str]:
        self._run("prepare")
        return self.remarks

    def up(self, progress: object, replaced: Sequence[str] = ()) -> None:
        anew = f", {len(replaced)} made anew" if replaced else ""
        self._run(f"up attempt {self._settings()['benchmark']['attempt']}{anew}")

    def refresh(self, progress: object) -> None:
        self._run("refresh")

    def preview(self, progress: object, *, expect_no_changes: bool) -> None:
        assert expect_no_changes
        self._run("preview")

    def destroy(self, progress: object) -> None:
        self._run("destroy")

    def outputs(self) -> dict[str, Any]:
        if not self.config_file.exists():
            return {}
        return {
            "namespace": "ours",
            "topology": {"kind": "split", "pipeline": 2},
            "job_name": "bench",
            "run": self._settings()["benchmark"]["run"],
            "results": {"kind": "local"},
        }

    def urns(self, kind: str) -> list[str]:
        return [f"urn of the {kind}"]

    def _settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = yaml.safe_load(self.workspace.config_file.read_text())["config"][KEY]
        return settings


class DoubleOfCluster:
    """Answers as an API server of a given identity whose Jobs end as listed."""

    name, exclusive = "double", True

    def __init__(self, identity: str = "uid-1", jobs: list[JobState] | None = None, left: frozenset[str] = frozenset()):
        self.identity, self.jobs, self.left, self.alive = identity, jobs or ["succeeded"], left, True
        self.observer = self

    def overrides(self, results: Path) -> dict[str, Any]:
        return {"benchmark.results": {"kind": "local", "path": str(results)}, "cluster.kubeconfig": "/k"}

    def wait_until_alive(self) -> bool:
        return self.alive

    def left_behind(self, namespace: str) -> frozenset[str]:
        return self.left

    def job(self, namespace: str, name: str) -> JobState:
        state = self.jobs.pop(0)
        if state == "running":
            raise ClusterUnreachableError("away for a moment.")
        return state

    def pods(self, namespace: str) -> list[PodPlace]:
        return [PodPlace("a", "engine-0", "leader")]

    def last_words(self, namespace: str, job: str) -> str:
        return "its last words"


class Stage:
    """A rehearsal on doubles, in a home that outlives it."""

    def __init__(self, home: Path, recorder: Recorder) -> None:
        self.home, self.recorder, self.commands = home, recorder, list[str]()

    def live(
        self,
        cluster: DoubleOfCluster,
        trouble: Trouble = lambda _: None,
        *,
        keep: bool = False,
        turns: life.Turns | None = None,
    ) -> life.Outcome:
        return self._rehearsal(cluster, trouble, keep=keep, turns=turns).stack(STACK, last=True)

    def campaign(self, cluster: DoubleOfCluster, turns: life.Turns) -> None:
        self._rehearsal(cluster, lambda _: None).campaign(STACK, StackFile.of(STACK), turns)

    def _rehearsal(self, cluster: DoubleOfCluster, trouble: Trouble, **more: Any) -> Rehearsal:
        self.commands.clear()
        return Rehearsal(
            target=cast("Target", cluster),
            pulumi=lambda workspace: cast("PulumiCli", DoubleOfPulumi(workspace, self.commands, trouble)),
            home=self.home,
            progress=self.recorder,
            **more,
        )

    @property
    def memory(self) -> dict[str, Any]:
        memory: dict[str, Any] = json.loads((self.home / "rehearsals" / "double" / STACK / "run.json").read_text())
        return memory


@pytest.fixture
def stage(tmp_path: Path, recorder: Recorder) -> Stage:
    return Stage(tmp_path, recorder)


def failing(*times: str) -> Trouble:
    """Fail each of these commands once."""
    left = list(times)

    def trouble(command: str) -> None:
        if command in left:
            left.remove(command)
            raise PulumiError(f"{command} failed.")

    return trouble


def interrupted(at: str) -> Trouble:
    def trouble(command: str) -> None:
        if command == at:
            raise KeyboardInterrupt

    return trouble


def test_a_life_from_up_to_nothing_left(stage: Stage) -> None:
    outcome = stage.live(DoubleOfCluster())

    assert stage.commands == ["prepare", "up attempt 1", "preview", "destroy"]
    assert (outcome.topology, outcome.destroyed) == ("split (pipeline 2)", True)
    assert stage.memory["measured"] is True


def test_what_is_to_be_kept_is_not_destroyed(stage: Stage) -> None:
    assert not stage.live(DoubleOfCluster(), keep=True).destroyed
    assert "destroy" not in stage.commands


def test_a_failed_and_a_vanished_job_are_tried_again_under_the_same_run(stage: Stage) -> None:
    stage.live(DoubleOfCluster(jobs=["failed", "missing", "succeeded"]))

    assert [command for command in stage.commands if command.startswith("up")] == [
        "up attempt 1",
        "up attempt 2",
        "up attempt 3",
    ]


def test_a_job_that_never_succeeds_ends_in_a_sentence_and_can_be_tried_again(stage: Stage) -> None:
    with pytest.raises(RehearsalError, match=f"failed {ATTEMPTS} times"):
        stage.live(DoubleOfCluster(jobs=["failed"] * ATTEMPTS))
    run = stage.memory["id"]

    outcome = stage.live(DoubleOfCluster())

    assert outcome.run == run
    assert "up attempt 4" in stage.commands


@pytest.mark.parametrize("command", ["up attempt 1", "preview", "destroy"])
def test_a_command_that_fails_while_the_cluster_lives_is_tried_once_more(stage: Stage, command: str) -> None:
    stage.live(DoubleOfCluster(), failing(command))

    at = stage.commands.index(command)
    assert stage.commands[at : at + 3] == [command, "refresh", command]


def test_a_command_that_fails_twice_ends_in_what_pulumi_said(stage: Stage) -> None:
    with pytest.raises(PulumiError, match="destroy failed"):
        stage.live(DoubleOfCluster(), failing("destroy", "destroy"))


def test_nothing_is_tried_again_on_a_cluster_that_is_gone(stage: Stage) -> None:
    cluster = DoubleOfCluster()
    cluster.alive = False
    with pytest.raises(PulumiError, match="up attempt 1 failed"):
        stage.live(cluster, failing("up attempt 1"))

    assert "refresh" not in stage.commands


@pytest.mark.parametrize("moment", ["up attempt 1", "preview", "destroy"])
def test_a_killed_command_is_gone_on_with_under_the_same_run(stage: Stage, moment: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        stage.live(DoubleOfCluster(), interrupted(moment))
    run = stage.memory["id"]

    assert stage.live(DoubleOfCluster()).run == run
    assert stage.memory == {"id": run, "attempt": 1, "measured": True, "cluster": "uid-1"}


def test_after_a_killed_command_the_state_is_read_anew_before_anything_else(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DoubleOfPulumi, "remarks", ["the lock is cancelled"])

    stage.live(DoubleOfCluster())

    assert stage.commands[:3] == ["prepare", "refresh", "up attempt 1"]


def test_the_state_of_a_cluster_that_is_gone_is_dropped_and_its_records_are_kept(stage: Stage) -> None:
    with pytest.raises(KeyboardInterrupt):
        stage.live(DoubleOfCluster("uid-1"), interrupted("preview"))
    workspace = Workspace(root=stage.home / "rehearsals" / "double" / STACK, stack=STACK)
    (workspace.backend / "state").write_text("of uid-1")
    record = workspace.results / stage.memory["id"] / "hash" / "one-user-1.json"
    record.parent.mkdir(parents=True)
    record.write_text("{}")

    stage.live(DoubleOfCluster("uid-2"))

    assert not (workspace.backend / "state").exists()
    assert record.exists()
    assert "1 finished records are kept" in stage.recorder.text


def test_an_api_server_that_is_away_for_a_moment_costs_nothing(stage: Stage) -> None:
    assert stage.live(DoubleOfCluster(jobs=["running", "succeeded"])).destroyed
    assert stage.commands.count("up attempt 1") == 1


def test_what_is_left_is_named(stage: Stage) -> None:
    with pytest.raises(RehearsalError, match="core/ConfigMap ours/x"):
        stage.live(DoubleOfCluster(left=frozenset({"core/ConfigMap ours/x"})))


def test_topologies_take_turns_on_the_last_stack_before_it_is_destroyed(stage: Stage) -> None:
    def turns(lives: StackLives, directory: Path) -> None:
        stage.commands.append(f"turns in {directory.parent.name}/{directory.name}")
        lives.begin()
        lives.measure(turn, SPLIT, 1, directory)

    turn = Turn(number=1, topology=0, pass_number=1, run="c20261201-120000-001")
    outcome = stage.live(DoubleOfCluster(jobs=["succeeded"] * 2), turns=turns)
    assert stage.commands == [
        "prepare",
        "up attempt 1",
        "preview",
        f"turns in campaigns/{outcome.run}",
        "prepare",
        "up attempt 1, 1 made anew",
        "destroy",
    ]
    assert (stage.home / "rehearsals" / "double" / STACK / "run.json").exists()


def test_a_campaign_alone_is_taken_down_and_gone_on_with_in_its_own_directory(stage: Stage) -> None:
    directories = []

    def turns(lives: StackLives, directory: Path) -> None:
        directories.append(directory)
        lives.begin()
        lives.measure(Turn(number=1, topology=0, pass_number=1, run="c20261201-120000-001"), SPLIT, 1, directory)
        if len(directories) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stage.campaign(DoubleOfCluster(), turns)
    assert "destroy" not in stage.commands
    stage.campaign(DoubleOfCluster(), turns)
    assert stage.commands[-1] == "destroy"
    stage.campaign(DoubleOfCluster(), turns)
    assert directories[0] == directories[1]


def test_of_a_stack_that_was_destroyed_by_a_command_killed_then_the_absence_is_proven(stage: Stage) -> None:
    with pytest.raises(RehearsalError, match="core/ConfigMap ours/x"):
        stage.campaign(DoubleOfCluster(left=frozenset({"core/ConfigMap ours/x"})), lambda *_: None)
