"""The whole life of rehearsed stacks: cluster up, stack up, measured, destroyed, cluster down, all proven."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from experiment.errors import SplitbedError
from rehearsal import run as runs
from rehearsal.locks import locked
from rehearsal.observer import ClusterUnreachableError, PodPlace
from rehearsal.progress import Progress
from rehearsal.pulumi_cli import PulumiCli, PulumiError
from rehearsal.records import ClaimedRecords, LocalRecords, Records
from rehearsal.target import Target
from rehearsal.workspace import Workspace
from stackfiles.stackfile import StackFile

ATTEMPTS = 3  # Jobs that are tried for one run within one command
_PATIENCE_S = 900.0  # beyond what the plan may take; the Job itself gives up earlier


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
    """Takes stacks, one after another, through their lives on one cluster."""

    target: Target
    pulumi: Callable[[Workspace], PulumiCli]
    home: Path
    progress: Progress
    keep: bool = False

    def stack(self, name: str, *, last: bool) -> Outcome:
        """Bring the stack up, wait for its benchmark, and destroy it unless it is the last and to be kept.

        A run that an earlier command did not finish is gone on with: its records are kept.

        Raises:
            RehearsalError: the benchmark failed `ATTEMPTS` times, or the stack left objects behind.
            PulumiError: Pulumi failed, twice.
        """
        workspace = Workspace(root=self.home / "rehearsals" / self.target.name / name, stack=name)
        workspace.create()
        with locked(workspace.root / "lock", self.progress.note):
            return self._live(workspace, keep=self.keep and last)

    def _live(self, workspace: Workspace, *, keep: bool) -> Outcome:
        name = workspace.stack
        memory = workspace.root / "run.json"
        run = runs.load(memory, datetime.now(UTC))
        if run.cluster and run.cluster != self.target.identity:
            self.progress.note(f"{name}: the cluster of an earlier rehearsal is gone, its state is dropped")
            workspace.forget_state()
        if records := len(list(workspace.results.glob(f"{run.id}/*/*.json"))):
            self.progress.note(f"{name}: going on with run {run.id}, {records} finished records are kept")
        run = replace(run, cluster=self.target.identity)
        cli = self.pulumi(workspace)
        if remarks := cli.prepare():
            for remark in remarks:
                self.progress.note(remark)
            # What the killed command did last is not in its state: objects it deleted would be missed by nobody.
            self.progress.step(f"{name}: pulumi refresh")
            cli.refresh(self.progress)

        outputs, run, places = self._measure(cli, run)
        self.progress.step(f"{name}: pulumi preview (nothing may change)")
        self._twice(cli, partial(cli.preview, self.progress, expect_no_changes=True))
        if not keep:
            self.progress.step(f"{name}: pulumi destroy")
            self._twice(cli, partial(cli.destroy, self.progress))
            workspace.clear_scratch()
            self._prove_gone(name, outputs)
        # Only now: a command killed before is gone on with by the next, which then has these figures to show.
        runs.save(replace(run, measured=True), memory)
        return Outcome(
            stack=name,
            run=run.id,
            topology=_label(outputs["topology"]),
            results=workspace.results / run.id,
            places=tuple(places),
            destroyed=not keep,
        )

    def _measure(self, cli: PulumiCli, run: runs.Run) -> tuple[dict[str, Any], runs.Run, list[PodPlace]]:
        """Bring the stack up and wait for its Job; a Job that failed or vanished is tried again."""
        workspace = cli.workspace
        for _ in range(ATTEMPTS):
            runs.save(run, workspace.root / "run.json")
            stack = StackFile.of(workspace.stack).replaced(self._overrides(workspace, run))
            stack.write(workspace.config_file)
            self.progress.step(f"{workspace.stack}: pulumi up (about 40 s)")
            self._twice(cli, partial(cli.up, self.progress))
            outputs = cli.outputs()
            self.progress.step(f"{workspace.stack}: benchmark, run {run.id}, attempt {run.attempt}")
            records = self._records(workspace, outputs, run)
            succeeded = self._succeeded(records, outputs, _longest_s(stack) + _PATIENCE_S)
            if records.collect() and succeeded:
                return outputs, run, self.target.observer.pods(outputs["namespace"])
            words = self.target.observer.last_words(outputs["namespace"], outputs["job_name"])
            fault = "finished, but no record of it arrived" if succeeded else "did not finish"
            self.progress.note(f"the benchmark's Job {fault}; its last words:\n{words}")
            run = run.next_attempt()
        runs.save(run, workspace.root / "run.json")
        raise RehearsalError(
            f"The benchmark of {workspace.stack} failed {ATTEMPTS} times; "
            f"what it measured is in {workspace.results / run.id}.",
            "Look at its last words above; the same command tries again and keeps finished records.",
        )

    def _twice(self, cli: PulumiCli, command: Callable[[], None]) -> None:
        """Run a Pulumi command; if it fails and the cluster is there, refresh the state and run it once more."""
        try:
            command()
        except PulumiError as error:
            if not self.target.wait_until_alive():
                raise
            self.progress.note(f"{error.message}\nThe state is refreshed and the command tried once more.")
            cli.refresh(self.progress)
            command()

    def _overrides(self, workspace: Workspace, run: runs.Run) -> dict[str, Any]:
        return {
            "end_date": (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="seconds"),
            **self.target.overrides(workspace.results),
            "benchmark.run": run.id,
            "benchmark.attempt": run.attempt,
        }

    def _records(self, workspace: Workspace, outputs: dict[str, Any], run: runs.Run) -> Records:
        if outputs["results"]["kind"] == "local":
            return LocalRecords(workspace.results / run.id)
        read_log = partial(self.target.observer.log, outputs["namespace"], outputs["job_name"])
        return ClaimedRecords(read_log, workspace.results, run.id, self.progress.note)

    def _succeeded(self, records: Records, outputs: dict[str, Any], patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        seen = 0
        while time.monotonic() < deadline:
            try:
                state = self.target.observer.job(outputs["namespace"], outputs["job_name"])
                finished = records.finished()  # after the state: of an ended Job it is all
            except ClusterUnreachableError:
                if not self.target.wait_until_alive():
                    raise
                continue
            for name in finished[seen:]:
                self.progress.note(f"finished {name}")
            seen = len(finished)
            if state != "running":
                return state == "succeeded"
            time.sleep(records.poll_s)
        return False

    def _prove_gone(self, stack: str, outputs: dict[str, Any]) -> None:
        self.progress.step(f"{stack}: looking for anything that is left on the API server")
        if left := self.target.left_behind(outputs["namespace"]):
            raise RehearsalError(
                f"{stack} was destroyed, and these objects are left: {', '.join(sorted(left))}.",
                "This is a fault in Splitbed; please report it with this list.",
            )
        self.progress.note("nothing is left")


def _longest_s(stack: StackFile) -> float:
    """Return the seconds that the benchmark of a stack may take by its own plan."""
    settings = stack.check(datetime.now(UTC))
    return settings.benchmark.plan(settings.model.served_name).longest_s if settings.benchmark else 0.0


def _label(topology: Mapping[str, Any]) -> str:
    """Write a topology for a person: its kind and its sizes."""
    sizes = ", ".join(f"{name} {size}" for name, size in topology.items() if name != "kind")
    return f"{topology['kind']} ({sizes})" if sizes else str(topology["kind"])
