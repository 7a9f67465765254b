"""The whole life of rehearsed stacks: cluster up, stack up, measured, destroyed, cluster down, all proven."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from campaign.measuring import Measuring
from campaign.stacklives import StackLives, longest_s
from experiment.errors import SplitbedError
from rehearsal import run as runs
from rehearsal.locks import locked
from rehearsal.observer import PodPlace
from rehearsal.progress import Progress
from rehearsal.pulumi_cli import PulumiCli
from rehearsal.site import ClusterSite
from rehearsal.target import Target
from rehearsal.workspace import Workspace
from report.verdict.reading import label_of
from stackfiles.stackfile import StackFile

ATTEMPTS = 3  # Jobs that are tried for one run within one command

Turns = Callable[[StackLives, Path], None]
"""What is done with a stack that lives, topology after topology; the directory is its own, and kept."""


class RehearsalError(SplitbedError):
    """The rehearsal cannot go on."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the life of one stack left behind."""

    stack: str
    run: str
    topology: str
    results: Path
    places: tuple[PodPlace, ...]
    destroyed: bool
    about: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """Takes stacks, one after another, through their lives on one cluster.

    Attributes:
        target: the cluster.
        pulumi: makes the CLI for a workspace.
        home: where workspaces are.
        progress: who is told.
        keep: whether the last stack stays up.
        turns: what is done with the last stack once it was measured, before it is destroyed.
        about: what a reader of the figures must know.
    """

    target: Target
    pulumi: Callable[[Workspace], PulumiCli]
    home: Path
    progress: Progress
    keep: bool = False
    turns: Turns | None = None
    about: tuple[str, ...] = ()

    def stack(self, name: str, *, last: bool) -> Outcome:
        """Bring the stack up, wait for its benchmark, and destroy it unless it is the last and to be kept.

        A run that an earlier command did not finish is gone on with: its records are kept.

        Raises:
            RehearsalError: the benchmark failed `ATTEMPTS` times, or the stack left objects behind.
            PulumiError: Pulumi failed, twice.
        """
        workspace = self._workspace(name)
        with locked(workspace.root / "lock", self.progress.note):
            return self._live(workspace, keep=self.keep and last, turns=self.turns if last else None)

    def campaign(self, name: str, file: StackFile, turns: Turns) -> None:
        """Let the topologies of a stack take turns, and destroy it unless it is to be kept; raises as `stack`."""
        workspace = self._workspace(name)
        with locked(workspace.root / "lock", self.progress.note):
            run, lives = self._begin(workspace, file)
            runs.save(run, workspace.root / "run.json")
            turns(lives, self._directory(workspace, run))
            self._finish(workspace, lives.measuring, lives.measuring.pulumi.outputs(), keep=self.keep)
            runs.save(replace(run, measured=True), workspace.root / "run.json")

    def _live(self, workspace: Workspace, *, keep: bool, turns: Turns | None) -> Outcome:
        name = workspace.stack
        run, lives = self._begin(workspace, StackFile.of(name))
        if records := len(list(workspace.results.glob(f"{run.id}/*/*.json"))):
            self.progress.note(f"{name}: going on with run {run.id}, {records} finished records are kept")
        lives.begin()
        measuring = lives.measuring

        outputs, run = self._measure(lives, workspace, run)
        places = self._site(workspace).pods(outputs)
        self.progress.step(f"{name}: pulumi preview (nothing may change)")
        measuring.safely(partial(measuring.pulumi.preview, self.progress, expect_no_changes=True))
        if turns is not None:
            turns(lives, self._directory(workspace, run))
        self._finish(workspace, measuring, outputs, keep=keep)
        # Only now: a command killed before is gone on with by the next, which then has these figures to show.
        runs.save(replace(run, measured=True), workspace.root / "run.json")
        return Outcome(
            stack=name,
            run=run.id,
            topology=label_of(outputs["topology"]) or name,
            results=workspace.results / run.id,
            places=places,
            destroyed=not keep,
            about=self.about,
        )

    def _workspace(self, name: str) -> Workspace:
        workspace = Workspace(root=self.home / "rehearsals" / self.target.name / name, stack=name)
        workspace.create()
        return workspace

    def _directory(self, workspace: Workspace, run: runs.Run) -> Path:
        return workspace.root / "campaigns" / run.id

    def _begin(self, workspace: Workspace, file: StackFile) -> tuple[runs.Run, StackLives]:
        run = runs.load(workspace.root / "run.json", datetime.now(UTC))
        if run.cluster and run.cluster != self.target.identity:
            self.progress.note(f"{workspace.stack}: the cluster of an earlier rehearsal is gone, its state is dropped")
            workspace.forget_state()
        measuring = Measuring(
            pulumi=self.pulumi(workspace),
            site=self._site(workspace),
            progress=self.progress,
            up_takes="about 40 s",
        )
        lives = StackLives(file=file, measuring=measuring, overrides=partial(self._overrides, workspace))
        return replace(run, cluster=self.target.identity), lives

    def _site(self, workspace: Workspace) -> ClusterSite:
        return ClusterSite(target=self.target, note=self.progress.note, written=workspace.results)

    def _measure(self, lives: StackLives, workspace: Workspace, run: runs.Run) -> tuple[dict[str, Any], runs.Run]:
        """Bring the stack up and wait for its Job; a Job that failed or vanished is tried again."""
        for _ in range(ATTEMPTS):
            runs.save(run, workspace.root / "run.json")
            chosen = {"benchmark.run": run.id, "benchmark.attempt": run.attempt}
            file = lives.file.replaced({**self._overrides(workspace), **chosen})
            file.write(workspace.config_file)
            outputs = lives.measuring.attempt(run.id, run.attempt, workspace.results, longest_s(file))
            if outputs is not None:
                return outputs, run
            run = run.next_attempt()
        runs.save(run, workspace.root / "run.json")
        raise RehearsalError(
            f"The benchmark of {workspace.stack} failed {ATTEMPTS} times; "
            f"what it measured is in {workspace.results / run.id}.",
            "Look at its last words above; the same command tries again and keeps finished records.",
        )

    def _overrides(self, workspace: Workspace) -> dict[str, Any]:
        return {
            "end_date": (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="seconds"),
            **self.target.overrides(workspace.results),
        }

    def _finish(self, workspace: Workspace, measuring: Measuring, outputs: dict[str, Any], *, keep: bool) -> None:
        if keep:
            return
        self.progress.step(f"{workspace.stack}: pulumi destroy")
        measuring.safely(partial(measuring.pulumi.destroy, self.progress))
        workspace.clear_scratch()
        # A stack that was destroyed already, by a command that was killed then, does not say where it was.
        self._prove_gone(workspace.stack, outputs.get("namespace", ""))

    def _prove_gone(self, stack: str, namespace: str) -> None:
        self.progress.step(f"{stack}: looking for anything that is left on the API server")
        if left := self.target.left_behind(namespace):
            raise RehearsalError(
                f"{stack} was destroyed, and these objects are left: {', '.join(sorted(left))}.",
                "This is a fault in Splitbed; please report it with this list.",
            )
        self.progress.note("nothing is left")
