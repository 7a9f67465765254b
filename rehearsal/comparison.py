"""Two versions of a stack, held against each other by the real engine on a throwaway backend."""

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from experiment.cluster import EksCluster
from experiment.pins import Pins
from experiment.settings import KEY, Settings
from rehearsal import standins
from rehearsal.paper import ATTACHED, PaperPulumi, Previewed, objects, on_paper
from rehearsal.progress import Progress
from rehearsal.workspace import Workspace
from review.state import SEALED, api_servers, blanked
from stackfiles.stackfile import StackFile

_REGION = "us-east-1"  # where a given cluster's AWS half would be, which has none
_REACH_S = 5.0


@dataclass(frozen=True, kw_only=True)
class Version:
    """A stack at one commit.

    Attributes:
        project: the tree with the program.
        file: its stack file.
        settings: what is in it.
        pins: that tree's lock file.
    """

    project: Path
    file: StackFile
    settings: Settings
    pins: Pins


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Compares versions of one stack.

    Attributes:
        pulumi: the CLI.
        root: a directory for backend and private files.
        stack: its name.
        now: by which a file's end date has passed.
        end: an end date for files that name none, or one that has passed.
        policies: the policy pack.
        progress: who is told.
    """

    pulumi: Path
    root: Path
    stack: str
    now: datetime
    end: datetime
    policies: Path
    progress: Progress

    def on_paper(self, before: Version | None, after: Version) -> Previewed:
        """Bring one version up over doubles of every provider, and preview the other there.

        Raises:
            PulumiError: the version before cannot be brought up.
        """
        settings = [one.settings for one in (before, after) if one is not None]
        cluster = after.settings.cluster
        with on_paper(cluster.region if isinstance(cluster, EksCluster) else _REGION) as more:
            cli = self._cli(after.project, more)
            if before is not None:
                earlier = replace(cli, project=before.project)
                self._write(before, settings)
                self._prepare(earlier, before)
                earlier.up(self.progress)
            self._write(after, settings)
            self._prepare(cli, after)
            return cli.previewed(self.progress, "--policy-pack", str(self.policies))

    def with_live(self, exported: Mapping[str, Any], after: Version) -> tuple[Previewed, bool]:
        """Preview a version against the state of a live stack, with the providers of this machine.

        Nothing is locked or written where the state comes from, and no secret of it is opened.

        Returns:
            what came of it, and whether the Kubernetes half was compared: not where its API cannot be reached.
        """
        servers = set(api_servers(exported))
        reached = bool(servers) and all(map(_answers, servers))
        with ExitStack() as stack:
            attached = os.environ.get(ATTACHED, "")
            if not reached:
                port = stack.enter_context(objects())
                attached = ",".join(filter(None, [attached, f"kubernetes:{port}"]))
            more = {
                "PULUMI_HOME": os.environ.get("PULUMI_HOME", str(Path.home() / ".pulumi")),
                "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "false",
                **({ATTACHED: attached} if attached else {}),
            }
            cli = self._cli(after.project, more, doubles=False)
            self._write_as_it_is(after)
            self._prepare(cli, after)
            own = json.loads(cli.capture("stack", "export", "--stack", self.stack, cwd=after.project))
            state = self.root / "state.json"
            state.write_text(json.dumps(blanked(exported, own)), encoding="utf-8")
            cli.capture("stack", "import", "--file", str(state), "--stack", self.stack, cwd=after.project)
            previewed = cli.previewed(self.progress, "--policy-pack", str(self.policies))
        return previewed, reached

    @property
    def _workspace(self) -> Workspace:
        return Workspace(root=self.root, stack=self.stack)

    def _cli(self, project: Path, more: Mapping[str, str], *, doubles: bool = True) -> PaperPulumi:
        self._workspace.create()
        return PaperPulumi(
            executable=self.pulumi,
            plugins=[],
            project=project,
            workspace=self._workspace,
            python=Path(sys.executable),
            more=more,
            doubles=doubles,
        )

    def _prepare(self, cli: PaperPulumi, version: Version) -> None:
        cli.prepare()
        file = str(self._workspace.config_file)
        for key in standins.sealed(version.file.document):
            cli.capture(
                "config", "set", "--secret", key, SEALED, "--stack", self.stack, "--config-file", file,
                cwd=version.project,
            )  # fmt: skip

    def _write(self, version: Version, stacks: Sequence[Settings]) -> None:
        pins, kubeconfig = self.root / "pins.lock.json", self.root / "kubeconfig"
        pins.write_text(standins.completed(version.pins, stacks).model_dump_json(), encoding="utf-8")
        kubeconfig.write_text(standins.KUBECONFIG, encoding="utf-8")
        own = version.settings.end_date
        end = self.end if own is None or own <= self.now else None
        document = standins.private(version.file.document, KEY, end=end, pins=pins, kubeconfig=kubeconfig)
        StackFile(document).write(self._workspace.config_file)

    def _write_as_it_is(self, version: Version) -> None:
        pins = self.root / "pins.lock.json"
        pins.write_text(version.pins.model_dump_json(), encoding="utf-8")
        StackFile(standins.unsealed(version.file.document, KEY, pins)).write(self._workspace.config_file)


def _answers(server: str) -> bool:
    """Tell whether something takes connections at a URL's host and port."""
    parts = urlsplit(server)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 443), _REACH_S):
            return True
    except OSError:
        return False
