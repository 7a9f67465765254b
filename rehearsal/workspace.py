"""The private directory in which one stack is rehearsed: nothing of a rehearsal is written to the tracked tree."""

import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path


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

    @property
    def scratch(self) -> Path:
        """Temporary files of Pulumi and its plugins."""
        return self.root / "tmp"

    def create(self) -> None:
        """Make the directories and the passphrase, where they are missing."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.backend.mkdir(exist_ok=True, mode=0o700)
        self.scratch.mkdir(exist_ok=True, mode=0o700)
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

    def clear_scratch(self) -> None:
        """Remove what Pulumi's plugins left in their temporary directory."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.create()

    def forget_state(self) -> None:
        """Drop the state, of a cluster that is gone with all its objects; results stay."""
        shutil.rmtree(self.backend, ignore_errors=True)
        self.config_file.unlink(missing_ok=True)  # its salt goes with the backend
        self.create()
