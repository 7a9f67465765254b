"""The plain Pulumi CLI, driven for one rehearsed stack."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from experiment.errors import SplitbedError
from rehearsal.child import tied
from rehearsal.progress import Progress
from rehearsal.pulumi_output import diagnostics, finished_step
from rehearsal.workspace import Workspace

PROJECT = Path(__file__).resolve().parent.parent
LANGUAGE_HOST = Path(__file__).parent / "languagehost" / "bin"
STOP_GRACE_S = 60.0  # what Pulumi gets after Ctrl-C to save its state


class PulumiError(SplitbedError):
    """A Pulumi command failed; the message has the diagnostics it printed."""


@dataclass(frozen=True, kw_only=True)
class PulumiCli:
    """Runs Pulumi commands on a workspace's stack, with its private configuration and backend."""

    executable: Path
    plugins: Sequence[Path]
    project: Path
    workspace: Workspace
    python: Path

    @classmethod
    def of(cls, tools: Mapping[str, Path], workspace: Workspace) -> "PulumiCli":
        """Return the CLI among `tools`, with its Kubernetes provider, for this project's program."""
        return cls(
            executable=tools["pulumi"],
            plugins=[tools["pulumi-resource-kubernetes"].parent],
            project=PROJECT,
            workspace=workspace,
            python=Path(sys.executable),
        )

    def prepare(self) -> list[str]:
        """Create the stack if need be and undo the lock of a killed command; returns remarks for the user."""
        remarks = []
        self.workspace.clear_scratch()
        if not self._exists():
            self._init()
        if self._locked():
            self._capture("cancel", "--yes", "--stack", self.workspace.stack, cwd=self.project)
            remarks.append(
                f"an earlier command on stack {self.workspace.stack} was killed while it held the state's lock; "
                "the lock is cancelled"
            )
        return remarks

    def up(self, progress: Progress) -> None:
        """Bring the stack up, without a preview before it."""
        self._run(progress, "up", "--yes", "--skip-preview")

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
        """Return the stack's outputs; secrets stay masked."""
        text = self._capture("stack", "output", "--json", "--stack", self.workspace.stack, cwd=self.project)
        outputs: dict[str, Any] = json.loads(text)
        return outputs

    def _init(self) -> None:
        # `stack init` writes the stack's file beside Pulumi.yaml, which is tracked: it runs on a copy.
        with tempfile.TemporaryDirectory(dir=self.workspace.root) as directory:
            shutil.copy(self.project / "Pulumi.yaml", directory)
            (Path(directory) / "stacks").mkdir()
            self._capture("stack", "init", self.workspace.stack, "--no-select", cwd=Path(directory))

    def _exists(self) -> bool:
        # As `pulumi stack ls` would say, without half a second for starting it.
        stacks = self.workspace.backend / ".pulumi" / "stacks"
        names = (f"{self.workspace.stack}.json", f"{self.workspace.stack}.json.gz")
        return any(path.is_file() for name in names for path in stacks.rglob(name))

    def _locked(self) -> bool:
        locks = self.workspace.backend / ".pulumi" / "locks"
        return any(path.is_file() for path in locks.rglob(f"{self.workspace.stack}/*.json"))

    def _environment(self) -> Mapping[str, str]:
        workspace = self.workspace
        path = [*self.plugins, self.executable.parent, Path(os.environ.get("PATH", os.defpath))]
        if not self._has_language_host():
            path.insert(0, LANGUAGE_HOST)
        return {
            **{key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")},
            "PATH": os.pathsep.join(map(str, path)),
            "PULUMI_BACKEND_URL": workspace.backend.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(workspace.passphrase_file),
            "PULUMI_HOME": str(workspace.root / "pulumi-home"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "SPLITBED_PYTHON": str(self.python),
            # The Kubernetes provider leaves copies of the kubeconfig, keys and all, in the temporary directory.
            "TMPDIR": str(workspace.scratch),
            # The SDKs' own deprecations, which nobody who runs a stack can mend, would fill Pulumi's diagnostics.
            "PYTHONWARNINGS": "ignore",
        }

    def _has_language_host(self) -> bool:
        return (self.executable.parent / "pulumi-language-python").exists()

    def _argv(self, *arguments: str) -> list[str]:
        return [str(self.executable), *arguments, "--non-interactive", "--color", "never"]

    def _capture(self, *arguments: str, cwd: Path) -> str:
        done = subprocess.run(
            tied(self._argv(*arguments)),
            cwd=cwd,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise self._failure(arguments[0], done.stderr.splitlines() or done.stdout.splitlines())
        return done.stdout

    def _run(self, progress: Progress, verb: str, *flags: str) -> None:
        argv = self._argv(
            verb, *flags, "--stack", self.workspace.stack, "--config-file", str(self.workspace.config_file)
        )
        tail: deque[str] = deque(maxlen=200)
        with (
            self.workspace.log.open("a") as log,
            subprocess.Popen(
                tied(argv),
                cwd=self.project,
                env=self._environment(),
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
            f"pulumi {verb} failed on stack {self.workspace.stack}:\n{diagnostics(lines)}\n",
            f"All it printed is in {self.workspace.log}.",
        )


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
