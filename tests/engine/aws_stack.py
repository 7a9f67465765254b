"""One stack of the AWS half on the real engine, over the doubles: its private copy, its commands, its events."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from cloud import lookup
from experiment.pins import ADDONS_AFTER_NODES, ADDONS_BEFORE_NODES, Pins
from rehearsal.aws.world import BIN, World
from rehearsal.pulumi_cli import LANGUAGE_HOST
from scripts import stack as stacks
from tests.recording import ROOT

HOURS = 8
"""To the end date: short enough for the stacks' budgets, of which one pays for a node by the hour."""
SPLITBED = Path(sys.executable).with_name("splitbed")
_FAKE = "fa4e" * 10


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
        return [step for step in self.done() if step[0] not in ("same", "read")]


@dataclass
class AwsStack:
    """A stack in a directory of its own.

    Attributes:
        name: of a tracked stack.
        root: for its private copy, its backend and its logs.
        tools: pulumi, its Kubernetes provider, and the LWS chart by `chart`.
        world: the doubles.
    """

    name: str
    root: Path
    tools: Mapping[str, Path]
    world: World
    profile: str | None = None
    _logs: list[Path] = field(default_factory=list)

    @property
    def file(self) -> Path:
        """The private copy of its file."""
        return self.root / f"Pulumi.{self.name}.yaml"

    def create(self, **changes: Any) -> None:
        """Write the private copy, with an end date, plainly fake pins and a chart of this machine; make the state."""
        (self.root / "backend").mkdir(parents=True)
        (self.root / "tmp").mkdir()
        document = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{self.name}.yaml").read_text())
        self._write(document)
        end = (datetime.now(UTC) + timedelta(hours=HOURS)).isoformat(timespec="seconds")
        self.change(end_date=end, lws={"mode": "install", "chart": str(self.tools["chart"])}, **changes)
        pins = self.root / "pins.lock.json"
        pins.write_text(lookup.text(fake_pins(self.file)))
        self._write(self._document() | {"config": self._document()["config"] | {"splitbed:pins": str(pins)}})
        project = self.root / "project"
        (project / "stacks").mkdir(parents=True)
        shutil.copy(ROOT / "Pulumi.yaml", project)
        # Writes a stack file beside Pulumi.yaml, where a tracked one is: on a copy.
        ran = subprocess.run(
            [self.tools["pulumi"], "stack", "init", self.name, "--no-select", "--non-interactive"],
            cwd=project, env=self.environment(), capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr

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

    def environment(self) -> dict[str, str]:
        """Return what commands run in."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "AWS_"))}
        places = [BIN, LANGUAGE_HOST, self.tools["pulumi"].parent, self.tools["pulumi-resource-kubernetes"].parent]
        self.world.eks.profile = self.profile
        return {
            **own,
            **self.world.environment(),
            **({"AWS_PROFILE": self.profile} if self.profile else {}),
            "PATH": os.pathsep.join([*map(str, places), os.environ["PATH"]]),
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",
            "SPLITBED_PYTHON": sys.executable,
            "PULUMI_HOME": str(self.root / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.root / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "a test's",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
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
            str(self.tools["pulumi"]), verb, *flags, "--stack", self.name, "--config-file", str(self.file),
            "--non-interactive", "--color", "never", "--event-log", str(log),
        ]  # fmt: skip
        began = time.monotonic()
        output = log.with_suffix(".txt")
        with output.open("w") as file, subprocess.Popen(
            argv, cwd=ROOT, env=self.environment(), stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                if interrupt_at is not None:
                    _interrupt(process, log, interrupt_at)
                process.wait(timeout=timeout_s)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return Ran(process.returncode, output.read_text(), time.monotonic() - began, tuple(_events(log)))

    def splitbed(self, *arguments: str) -> Ran:
        """Run one of our own commands."""
        began = time.monotonic()
        ran = subprocess.run(
            [SPLITBED, *arguments], cwd=self.root, env=self.environment(), capture_output=True, text=True, check=False,
            timeout=300,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout + ran.stderr, time.monotonic() - began)

    def state(self) -> dict[str, Any]:
        """Return the state as the backend keeps it."""
        (path,) = (self.root / "backend").rglob(f"stacks/**/{self.name}.json")
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    def _document(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load(self.file.read_text())
        return found

    def _write(self, document: Mapping[str, Any]) -> None:
        self.file.write_text(yaml.safe_dump(document, sort_keys=False))


def fake_pins(file: Path) -> Pins:
    """Return pins of all that a stack takes from outside, which nobody can take for real ones."""
    wanted = lookup.wanted([stacks.read(str(file)).settings])
    addons = dict.fromkeys((*ADDONS_BEFORE_NODES, *ADDONS_AFTER_NODES), "v0.0.0-eksbuild.1")
    return Pins(
        day=date(2000, 1, 1),
        images=dict.fromkeys(wanted.images, f"sha256:{_FAKE}{'fa4e' * 6}"),
        revisions=dict.fromkeys(wanted.models, _FAKE),
        addons=dict.fromkeys(wanted.regions, addons),
        releases={version: dict.fromkeys(families, "0.0.0-20000101") for version, families in wanted.families.items()},
    )


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
        time.sleep(0.1)
