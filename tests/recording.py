"""Every tracked stack file under the recording monitor, as tests want it."""

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rehearsal import recording
from rehearsal.recording import ARNS, Monitor, Recording, Registered

__all__ = ["ARNS", "PINS", "ROOT", "STACKS", "Monitor", "Recording", "Registered", "recorded", "run", "stack_settings"]

ROOT = Path(__file__).resolve().parent.parent
STACKS = tuple(sorted(path.stem.removeprefix("Pulumi.") for path in (ROOT / "stacks").glob("Pulumi.*.yaml")))
PINS = ROOT / "tests" / "data" / "pins.json"
"""A lock file with digests and versions that are plainly nobody's."""


def stack_settings(stack: str) -> dict[str, Any]:
    """Return the settings in a tracked stack file, as data of our own, with a kubeconfig or an end that is there."""
    document = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())
    settings: dict[str, Any] = document["config"]["splitbed:experiment"]
    if settings["cluster"]["kind"] == "kubeconfig":
        settings["cluster"] = {**settings["cluster"], "kubeconfig": str(ROOT / "tests" / "data" / "kubeconfig.yaml")}
    else:
        settings["end_date"] = "2200-01-01T00:00:00Z"
        settings.pop("budget", None)  # nothing lasts that long for so little
    return settings


def run(
    settings: Mapping[str, Any] | str,
    *,
    pins: Path = PINS,
    preview: bool = False,
    config: Mapping[str, str] | None = None,
    encrypted: Collection[str] = (),
) -> Recording:
    """Run the program with pins that are there; the rest as in `rehearsal.recording.run`."""
    return recording.run(settings, pins=pins, preview=preview, config=config, encrypted=encrypted)


@cache
def recorded(stack: str) -> Recording:
    """Return what a tracked stack file makes; one recording for all tests, which only look at it."""
    return run(stack_settings(stack))
