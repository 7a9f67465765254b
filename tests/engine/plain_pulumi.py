"""The plain Pulumi CLI as a person would run it, with a home and a backend of a test's own."""

import os
import sys
from pathlib import Path

from rehearsal.progress import Progress
from rehearsal.pulumi_cli import LANGUAGE_HOST
from tests.recording import ROOT


class Quiet(Progress):
    """Nobody listens."""

    def step(self, text: str) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


def environment_of(directory: Path, *programs: Path) -> dict[str, str]:
    """Return what Pulumi runs in: a home and a backend in that directory, our language host, these programs first."""
    places = [LANGUAGE_HOST, *(program.parent for program in programs), os.environ["PATH"]]
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("PULUMI_")},
        "PATH": os.pathsep.join(map(str, places)),
        "PYTHONPATH": str(ROOT),
        "SPLITBED_PYTHON": sys.executable,
        "PULUMI_HOME": str(directory / "home"),
        "PULUMI_BACKEND_URL": f"file://{directory / 'backend'}",
        "PULUMI_CONFIG_PASSPHRASE": "a test's",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
