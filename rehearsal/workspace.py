"""The private directory in which one stack is rehearsed: nothing of a rehearsal is written to the tracked tree."""

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from experiment.errors import SplitbedError

SETTINGS_KEY = "splitbed:experiment"


class StackFileError(SplitbedError):
    """A stack file is missing or is not what Pulumi would read."""


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """Where a rehearsed stack has its copy of the stack file, its backend, its passphrase and its results.

    Everything is readable by its owner only. The results are apart from the rest: they outlive a
    forgotten state.
    """

    root: Path
    stack: str

    @property
    def config_file(self) -> Path:
        """The private copy of the stack file, for `pulumi --config-file`."""
        return self.root / f"Pulumi.{self.stack}.yaml"

    @property
    def backend(self) -> Path:
        """The directory behind the `file://` backend."""
        return self.root / "backend"

    @property
    def passphrase_file(self) -> Path:
        """The passphrase that seals secrets in this backend; random, made once."""
        return self.root / "passphrase"

    @property
    def results(self) -> Path:
        """Records of the benchmark, kept across attempts and runs."""
        return self.root / "results"

    @property
    def log(self) -> Path:
        """All that the Pulumi CLI printed, newest last."""
        return self.root / "pulumi.log"

    def create(self) -> None:
        """Make the directories and the passphrase, where they are missing."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.backend.mkdir(exist_ok=True, mode=0o700)
        self.results.mkdir(exist_ok=True)
        # The Job runs as a user of its own. The parent directory keeps everybody else out.
        self.results.chmod(0o777)
        if not self.passphrase_file.exists():
            fresh = self.passphrase_file.with_suffix(".new")
            fresh.unlink(missing_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(32))
            fresh.rename(self.passphrase_file)

    def write_config(self, source: Path, overrides: Mapping[str, Any]) -> None:
        """Write the private copy of `source`, with settings replaced at the dotted paths of `overrides`.

        The copy's own `encryptionsalt`, which belongs to the private backend, is kept.

        Raises:
            StackFileError: `source` is missing, is no YAML mapping, or lacks the settings.
        """
        document = _read(source)
        config = document.get("config")
        settings = config.get(SETTINGS_KEY) if isinstance(config, dict) else None
        if not isinstance(settings, dict):
            raise StackFileError(
                f"{source}: config has no mapping under {SETTINGS_KEY}.",
                "See stacks/Pulumi.rehearsal-split.yaml for one.",
            )
        for path, value in overrides.items():
            replace(settings, path, value)
        if self.config_file.exists() and (salt := _read(self.config_file).get("encryptionsalt")):
            document["encryptionsalt"] = salt
        fresh = self.config_file.with_suffix(".new")
        fresh.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
        fresh.chmod(0o600)
        fresh.rename(self.config_file)

    def forget_state(self) -> None:
        """Drop the state, of a cluster that is gone with all its objects; results stay."""
        shutil.rmtree(self.backend, ignore_errors=True)
        self.config_file.unlink(missing_ok=True)  # its salt goes with the backend
        self.create()


def replace(settings: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a dotted path, making mappings on the way."""
    *parents, last = path.split(".")
    for key in parents:
        child = settings.setdefault(key, {})
        if not isinstance(child, dict):
            raise StackFileError(f"{path}: {key} is {child!r}, not a mapping, so nothing can be set below it.")
        settings = child
    settings[last] = value


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise StackFileError(f"{path}: {error.strerror}.", "Check the name of the stack.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise StackFileError(f"{path} is not YAML: {error}.", "Mend the file and run again.") from error
    if not isinstance(document, dict):
        raise StackFileError(f"{path} holds {type(document).__name__}, not a mapping.", "Mend the file.")
    return document
