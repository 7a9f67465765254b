"""The plain Pulumi CLI, driven for one rehearsed stack."""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from campaign.pulumi_cli import PROJECT, Pulumi
from rehearsal.child import tied
from rehearsal.workspace import Workspace

LANGUAGE_HOST = Path(__file__).parent / "languagehost" / "bin"


@dataclass(frozen=True, kw_only=True)
class PulumiCli(Pulumi):
    """Runs Pulumi commands on a workspace's stack, with its private configuration and backend; they end with us."""

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

    @property
    def stack(self) -> str:
        """See `Pulumi`."""
        return self.workspace.stack

    @property
    def config_file(self) -> Path:
        """See `Pulumi`."""
        return self.workspace.config_file

    @property
    def log(self) -> Path:
        """See `Pulumi`."""
        return self.workspace.log

    def prepare(self) -> list[str]:
        """Create the stack if need be and undo the lock of a killed command; returns remarks for the user."""
        remarks = []
        self.workspace.clear_scratch()
        if not self._exists():
            self._init()
        if self._locked():
            self.capture("cancel", "--yes", "--stack", self.stack, cwd=self.project)
            remarks.append(
                f"an earlier command on stack {self.stack} was killed while it held the state's lock; "
                "the lock is cancelled"
            )
        return remarks

    def wrapped(self, argv: list[str]) -> list[str]:
        """See `Pulumi`."""
        return tied(argv)

    def environment(self) -> Mapping[str, str]:
        """See `Pulumi`."""
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

    def _init(self) -> None:
        # `stack init` writes the stack's file beside Pulumi.yaml, which is tracked: it runs on a copy.
        with tempfile.TemporaryDirectory(dir=self.workspace.root) as directory:
            shutil.copy(self.project / "Pulumi.yaml", directory)
            (Path(directory) / "stacks").mkdir()
            self.capture("stack", "init", self.stack, "--no-select", cwd=Path(directory))

    def _exists(self) -> bool:
        # As `pulumi stack ls` would say, without half a second for starting it.
        stacks = self.workspace.backend / ".pulumi" / "stacks"
        names = (f"{self.stack}.json", f"{self.stack}.json.gz")
        return any(path.is_file() for name in names for path in stacks.rglob(name))

    def _locked(self) -> bool:
        locks = self.workspace.backend / ".pulumi" / "locks"
        return any(path.is_file() for path in locks.rglob(f"{self.stack}/*.json"))

    def _has_language_host(self) -> bool:
        return (self.executable.parent / "pulumi-language-python").exists()
