"""The plain Pulumi CLI on one stack, with a private copy of its file: started, watched, interrupted.

PulumiError
    a command failed; the message has the diagnostics it printed.
"""

import json
import os
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from campaign.progress import Progress
from campaign.pulumi_output import diagnostics, finished_step
from experiment.errors import SplitbedError

PROJECT = Path(__file__).resolve().parent.parent
STOP_GRACE_S = 60.0  # what Pulumi gets after Ctrl-C to save its state


class PulumiError(SplitbedError):
    """A Pulumi command failed; the message has the diagnostics it printed."""


class Pulumi(ABC):
    """Runs Pulumi commands on a stack; who owns its backend says with what environment."""

    executable: Path
    project: Path

    @property
    @abstractmethod
    def stack(self) -> str:
        """Its name."""

    @property
    @abstractmethod
    def config_file(self) -> Path:
        """The private copy of the stack file, for `--config-file`."""

    @property
    @abstractmethod
    def log(self) -> Path:
        """All that the CLI printed, newest last."""

    @abstractmethod
    def prepare(self) -> list[str]:
        """See to it that the stack can be worked on; returns remarks for the user.

        Raises:
            PulumiError: it cannot.
        """

    @abstractmethod
    def environment(self) -> Mapping[str, str]:
        """Return the environment of every command."""

    def wrapped(self, argv: list[str]) -> list[str]:
        """Return the command that runs another."""
        return argv

    def up(self, progress: Progress, replaced: Sequence[str] = ()) -> None:
        """Bring the stack up, without a preview before it; the resources of these URNs are made anew in any case."""
        flags = [flag for urn in replaced for flag in ("--replace", urn)]
        self._run(progress, "up", "--yes", "--skip-preview", *flags)

    def preview(self, progress: Progress, *, expect_no_changes: bool = False) -> None:
        """Preview the stack; with `expect_no_changes`, a change is an error."""
        self._run(progress, "preview", *(["--expect-no-changes"] if expect_no_changes else []))

    def refresh(self, progress: Progress) -> None:
        """Read the cluster's truth into the state, and drop creations that never finished."""
        self._run(progress, "refresh", "--yes", "--skip-preview", "--clear-pending-creates")

    def destroy(self, progress: Progress) -> None:
        """Take the stack down; the state stays, empty."""
        self._run(progress, "destroy", "--yes", "--skip-preview")

    def outputs(self) -> dict[str, Any]:
        """Return the stack's outputs, none if it is not up; secrets stay masked."""
        text = self.capture("stack", "output", "--json", "--stack", self.stack, cwd=self.project)
        outputs: dict[str, Any] = json.loads(text)
        return outputs

    def urns(self, kind: str) -> list[str]:
        """Return the URNs of all resources in the state whose type ends with `kind`."""
        text = self.capture("stack", "export", "--stack", self.stack, cwd=self.project)
        resources = (json.loads(text)["deployment"] or {}).get("resources") or []
        return [one["urn"] for one in resources if one["type"].endswith(f":{kind}") and not one.get("delete")]

    def capture(self, *arguments: str, cwd: Path) -> str:
        """Run a command without a progress of its own, and return what it printed.

        Raises:
            PulumiError: it failed.
        """
        done = subprocess.run(
            self.wrapped(self._argv(*arguments)),
            cwd=cwd,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise self._failure(arguments[0], done.stderr.splitlines() or done.stdout.splitlines())
        return done.stdout

    def _argv(self, *arguments: str) -> list[str]:
        return [str(self.executable), *arguments, "--non-interactive", "--color", "never"]

    def _run(self, progress: Progress, verb: str, *flags: str) -> None:
        argv = self._argv(verb, *flags, "--stack", self.stack, "--config-file", str(self.config_file))
        tail: deque[str] = deque(maxlen=200)
        with (
            self.log.open("a") as log,
            subprocess.Popen(
                self.wrapped(argv),
                cwd=self.project,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,  # Ctrl-C is passed on once, by us
            ) as child,
        ):
            assert child.stdout is not None  # noqa: S101
            log.write(f"$ pulumi {verb} {' '.join(flags)}\n")
            try:
                for line in child.stdout:
                    log.write(line)
                    log.flush()
                    tail.append(line.rstrip())
                    if step := finished_step(line):
                        progress.note(step)
                status = child.wait()
            except KeyboardInterrupt:
                progress.note("stopping Pulumi; it saves what it has done")
                _interrupt(child)
                raise
        if status:
            raise self._failure(verb, list(tail))

    def _failure(self, verb: str, lines: list[str]) -> PulumiError:
        return PulumiError(
            f"pulumi {verb} failed on stack {self.stack}:\n{diagnostics(lines)}\n",
            f"All it printed is in {self.log}.",
        )


@dataclass(frozen=True, kw_only=True)
class OwnPulumi(Pulumi):
    """The user's own CLI with the user's own backend, as `pulumi up` would use them.

    It is not ended with us: what it has begun it finishes, whatever becomes of this command or its terminal.
    """

    executable: Path
    project: Path
    name: str
    directory: Path

    @classmethod
    def of(cls, stack: str, directory: Path) -> "OwnPulumi":
        """Return the CLI on PATH for a stack of this project, its private copy and its log in `directory`.

        Raises:
            SplitbedError: there is no CLI.
        """
        found = shutil.which("pulumi")
        if found is None:
            raise SplitbedError("pulumi is not on PATH.", "Install Pulumi's CLI, then run the same command.")
        return cls(executable=Path(found), project=PROJECT, name=stack, directory=directory)

    @property
    def stack(self) -> str:
        """See `Pulumi`."""
        return self.name

    @property
    def config_file(self) -> Path:
        """See `Pulumi`."""
        return self.directory / f"Pulumi.{self.name}.yaml"

    @property
    def log(self) -> Path:
        """See `Pulumi`."""
        return self.directory / "pulumi.log"

    def prepare(self) -> list[str]:
        """See `Pulumi`; a stack that is not there is not made: where its state is kept, its owner decides.

        A lock is left alone, too: who holds it may be at work.
        """
        try:
            self.outputs()
        except PulumiError as error:
            remedy = f"If there is no such stack yet, make it: pulumi stack init {self.name}"
            raise PulumiError(error.message, remedy) from None
        return []

    def environment(self) -> Mapping[str, str]:
        """See `Pulumi`."""
        return {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}


def _interrupt(child: subprocess.Popen[str]) -> None:
    """Ask the CLI behind `child` to wind down, and end it if it does not."""
    with suppress(psutil.NoSuchProcess):
        for process in [psutil.Process(child.pid), *psutil.Process(child.pid).children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):  # it may end by itself while we look
                if process.name() == "pulumi":
                    process.send_signal(signal.SIGINT)
    try:
        child.communicate(timeout=STOP_GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()
