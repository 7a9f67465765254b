"""Stacks on paper: the real engine and program over doubles of every provider, in seconds and without any account.

An `up` there leaves a state as a real one would, which is what a preview of a change can then be held against.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campaign.pulumi_cli import PulumiError
from rehearsal.aws.kubernetes import Paper
from rehearsal.aws.plugin import Server
from rehearsal.aws.world import BIN, world
from rehearsal.kubernetesprovider import KubernetesProvider
from rehearsal.progress import Progress
from rehearsal.pulumi_cli import PulumiCli

ATTACHED = "PULUMI_DEBUG_PROVIDERS"


@contextmanager
def on_paper(region: str) -> Iterator[dict[str, str]]:
    """Let there be an empty account and clusters on paper; yield the environment that leads there."""
    with world(Paper(), region) as found, objects() as port:
        yield {**found.environment(), ATTACHED: f"{found.providers},kubernetes:{port}"}


@contextmanager
def objects() -> Iterator[int]:
    """Serve the double of the Kubernetes provider alone; yield its port."""
    with Server(KubernetesProvider()) as server:
        yield server.port


@dataclass(frozen=True)
class Previewed:
    """What came of a preview.

    Attributes:
        events: of the engine, as its event log has them.
        refused: its diagnostics where it failed; nothing otherwise.
    """

    events: Sequence[Mapping[str, Any]]
    refused: str


@dataclass(frozen=True, kw_only=True)
class PaperPulumi(PulumiCli):
    """The CLI on a throwaway backend, with what its providers are attached to in `more`."""

    more: Mapping[str, str] = field(default_factory=dict)
    doubles: bool = True

    def environment(self) -> Mapping[str, str]:
        """See `Pulumi`; beside doubles the `aws` program is one, too."""
        found = dict(super().environment())
        path = os.pathsep.join([str(BIN), found["PATH"]]) if self.doubles else found["PATH"]
        return {**found, "PATH": path, "PULUMI_DEBUG_COMMANDS": "true", **self.more}

    def previewed(self, progress: Progress, *flags: str) -> Previewed:
        """Preview the stack, and return every event of the engine's, also where it fails."""
        log = self.workspace.root / "events.json"
        log.unlink(missing_ok=True)
        refused = ""
        try:
            self._run(progress, "preview", "--event-log", str(log), *flags)
        except PulumiError as error:
            refused = error.message
        return Previewed(tuple(_events(log)), refused)


def _events(log: Path) -> Iterator[Mapping[str, Any]]:
    if log.exists():
        for line in log.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)
