"""One stack on the real engine as a person would run it: its private copy, its commands, its events."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any

import yaml

from tests.engine.argvs import Argvs
from tests.engine.plain_pulumi import environment_of
from tests.recording import ROOT

SKIP = ("--yes", "--skip-preview")
UNCHANGED = ("--expect-no-changes",)
HOURS = 4
"""To the end date: short enough for the stacks' budgets, of which some pay for a node by the hour."""
_SPLITBED = Path(sys.executable).with_name("splitbed")
# Whoever runs the tests in the background has interrupts ignored, and so would all that they start.
_INTERRUPTIBLE = ("env", "--default-signal=INT")


@dataclass(frozen=True)
class Ran:
    """What came of a command."""

    status: int
    said: str
    seconds: float
    events: tuple[Mapping[str, Any], ...] = ()

    def done(self, *operations: str) -> Iterator[tuple[str, str]]:
        """Return the steps of an engine's command that were done, by operation and URN, in their order."""
        for event in self.events:
            metadata = event.get("resOutputsEvent", {}).get("metadata")
            if metadata and metadata["op"] in (operations or (metadata["op"],)):
                yield metadata["op"], metadata["urn"]

    def changed(self) -> list[tuple[str, str]]:
        """Return the steps that changed something."""
        return [step for step in self.done() if step[0] not in ("same", "read", "refresh")]

    def deleted(self) -> list[str]:
        """Return type and name of what was deleted, in the order of its end."""
        return [f"{type_of(urn)} {urn.rpartition('::')[2]}" for _, urn in self.done("delete")]


def type_of(urn: str) -> str:
    """Return a resource's own type."""
    return urn.split("::")[2].rpartition("$")[2]


def good(ran: Ran) -> Ran:
    """Return it, of a command that did what it was told to."""
    assert ran.status == 0, ran.said
    return ran


@dataclass
class EngineStack:
    """A stack in a directory of its own.

    Attributes:
        name: of a tracked stack.
        root: for its private copy, its backend and its logs.
        tools: pulumi, its Kubernetes provider, and the LWS chart by `chart`.
        argvs: command lines of all processes that were there during its commands.
    """

    name: str
    root: Path
    tools: Mapping[str, Path]
    argvs: Argvs = field(default_factory=Argvs)
    _logs: list[Path] = field(default_factory=list)

    @property
    def file(self) -> Path:
        """The private copy of its file."""
        return self.root / f"Pulumi.{self.name}.yaml"

    def create(self, **changes: Any) -> None:
        """Write the private copy, with an end date and a chart of this machine; make the state."""
        for name in ("backend", "tmp", "project/stacks"):
            (self.root / name).mkdir(parents=True)
        self._write(yaml.safe_load((ROOT / "stacks" / f"Pulumi.{self.name}.yaml").read_text()))
        end = (datetime.now(UTC) + timedelta(hours=HOURS)).isoformat(timespec="seconds")
        self.change(end_date=end, lws={"mode": "install", "chart": str(self.tools["chart"])}, **changes)
        shutil.copy(ROOT / "Pulumi.yaml", self.root / "project")
        # Writes a stack file beside Pulumi.yaml, where a tracked one is: on a copy.
        argv = [str(self.tools["pulumi"]), "stack", "init", self.name, "--no-select", "--non-interactive"]
        good(self._run(argv, self.root / "project"))

    def change(self, **settings: Any) -> None:
        """Change settings in the private copy, named by their path with `__` for dots."""
        document = self._document()
        for path, value in settings.items():
            *above, last = path.split("__")
            place = document["config"]["splitbed:experiment"]
            for key in above:
                place = place[key]
            place[last] = value
        self._write(document)

    def configure(self, **config: str) -> None:
        """Set keys of the private copy beside the experiment's."""
        document = self._document()
        document["config"] |= {f"splitbed:{key}": value for key, value in config.items()}
        self._write(document)

    def keep_secret(self, key: str, value: str) -> None:
        """Set a secret of the configuration as a person is told to, who is asked for it."""
        argv = [
            str(self.tools["pulumi"]), "config", "set", "--secret", f"splitbed:{key}", "--stack", self.name,
            "--config-file", str(self.file), "--non-interactive",
        ]  # fmt: skip
        good(self._run(argv, ROOT, value))

    def environment(self) -> dict[str, str]:
        """Return what commands run in."""
        return {
            **environment_of(self.root, self.tools["pulumi"], self.tools["pulumi-resource-kubernetes"]),
            "PYTHONWARNINGS": "ignore",
            "PULUMI_DEBUG_COMMANDS": "true",  # for --event-log
            "TMPDIR": str(self.root / "tmp"),
            "COLUMNS": "200",
        }

    def pulumi(self, verb: str, *flags: str, interrupt_at: int | None = None, timeout_s: float = 900) -> Ran:
        """Run a command of the engine to its end.

        Args:
            verb: such as `up`.
            flags: more.
            interrupt_at: after so many steps that changed something it is interrupted as by Ctrl-C.
            timeout_s: for all of it.
        """
        log = self.root / f"events-{len(self._logs)}.json"
        self._logs.append(log)
        argv = [
            *_INTERRUPTIBLE, str(self.tools["pulumi"]), verb, *flags, "--stack", self.name, "--config-file",
            str(self.file), "--non-interactive", "--color", "never", "--event-log", str(log),
        ]  # fmt: skip
        began = time.monotonic()
        output = log.with_suffix(".txt")
        with output.open("w") as file, self.argvs.seen(), _process(argv, self.environment(), file) as process:
            if interrupt_at is not None:
                _interrupt(process, log, interrupt_at)
            process.wait(timeout=timeout_s)
        ran = Ran(process.returncode, output.read_text(), time.monotonic() - began, tuple(_events(log)))
        sys.stderr.write(f"{self.name}: pulumi {verb}: {ran.seconds:.1f} s, status {ran.status}\n")
        return ran

    def splitbed(self, *arguments: str) -> Ran:
        """Run one of our own commands."""
        with self.argvs.seen():
            ran = self._run([str(_SPLITBED), *arguments], self.root)
        sys.stderr.write(f"{self.name}: splitbed {arguments[0]}: {ran.seconds:.1f} s, status {ran.status}\n")
        return ran

    def state(self) -> dict[str, Any]:
        """Return the state as the backend keeps it."""
        (path,) = (self.root / "backend").rglob(f"stacks/**/{self.name}.json")
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    def resources(self) -> list[str]:
        """Return the URNs in the state, but for that of the stack itself."""
        found = (self.state()["checkpoint"].get("latest") or {}).get("resources", [])
        return [one["urn"] for one in found if one["type"] != "pulumi:pulumi:Stack"]

    def _run(self, argv: list[str], where: Path, text: str = "") -> Ran:
        began = time.monotonic()
        ran = subprocess.run(
            argv, cwd=where, env=self.environment(), input=text, capture_output=True, text=True, check=False,
            timeout=300,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout + ran.stderr, time.monotonic() - began)

    def _document(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load(self.file.read_text())
        return found

    def _write(self, document: Mapping[str, Any]) -> None:
        self.file.write_text(yaml.safe_dump(document, sort_keys=False))


@contextmanager
def _process(argv: list[str], environment: Mapping[str, str], output: IO[str]) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(
        argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    ) as process:
        try:
            yield process
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def _events(log: Path) -> Iterator[Mapping[str, Any]]:
    if log.exists():
        for line in log.read_text().splitlines():
            try:
                yield json.loads(line)
            except ValueError:  # cut off by the end of what wrote it
                return


def _interrupt(process: "subprocess.Popen[bytes]", log: Path, steps: int) -> None:
    while process.poll() is None:
        if len(Ran(0, "", 0, tuple(_events(log))).changed()) >= steps:
            os.kill(process.pid, signal.SIGINT)
            return
        time.sleep(0.2)
