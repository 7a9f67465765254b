"""A repository with this working tree in it, in which branches are prepared, and our commands as run in one."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.recording import ROOT

_RUN = "from scripts.main import app; app()"


@dataclass(frozen=True)
class Prepared:
    """A repository of its own."""

    root: Path

    @classmethod
    def of(cls, root: Path) -> "Prepared":
        """Commit what is in this working tree, whether or not it is committed here."""
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes((ROOT / name).read_bytes())
                (root / name).chmod((ROOT / name).stat().st_mode)
        found = cls(root)
        found.git("init", "--quiet", "--initial-branch", "main")
        found.commit("what was there")
        return found

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.invalid")
        subprocess.run(["git", *who, *arguments], cwd=self.root, capture_output=True, check=True)

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def branch(self, name: str) -> None:
        """Begin a branch at main, without what an earlier one has left uncommitted."""
        self.git("reset", "--quiet", "--hard")
        self.git("clean", "--quiet", "--force", "-d")
        self.git("switch", "--quiet", "--force-create", name, "main")

    def change(self, stack: str, **settings: Any) -> None:
        """Change settings of a stack file, named by their path with `__` for dots; None takes one out."""
        path = self.root / "stacks" / f"Pulumi.{stack}.yaml"
        document = yaml.safe_load(path.read_text())
        for dotted, value in settings.items():
            *above, last = dotted.split("__")
            place = document["config"]["splitbed:experiment"]
            for key in above:
                place = place[key]
            if value is None:
                place.pop(last)
            else:
                place[last] = value
        path.write_text(yaml.safe_dump(document, sort_keys=False))

    def splitbed(self, *arguments: str, more: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        """Run a command by this repository's own code."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "AWS_"))}
        return subprocess.run(
            [sys.executable, "-c", _RUN, *arguments],
            cwd=self.root, env={**own, "PYTHONPATH": str(self.root), **(more or {})},
            capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def shell(self, script: str, more: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
        """Run a workflow's step as a runner does, with this repository's own `.venv/bin/splitbed`."""
        program = self.root / ".venv" / "bin" / "splitbed"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\nPYTHONPATH={self.root} exec {sys.executable} -c '{_RUN}' \"$@\"\n")
        program.chmod(0o755)
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.root, env={**os.environ, **more}, capture_output=True, text=True, check=False, timeout=600,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def review(self, *arguments: str, more: Mapping[str, str] | None = None) -> tuple[int, list[dict[str, Any]]]:
        """Return how `splitbed review` ended, and what it said of each stack."""
        done = self.splitbed("review", "--base", "main", "--json", *arguments, more=more)
        assert done.stdout, done.stderr
        found: list[dict[str, Any]] = json.loads(done.stdout)
        return done.returncode, found
