"""The cache of finished builds: one directory each, named by everything the build depends on."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from rehearsal.toolchain.golang import BUILD_FLAGS
from rehearsal.toolchain.programs import Program, version_in

_RECORD = "build.json"
_VERSION_SECONDS = 30


class Record(BaseModel):
    """What is written beside a finished binary."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    program: str
    version: str
    go: str
    sha256: str
    seconds: float


@dataclass(frozen=True)
class Build:
    """A program's place in the cache under `root`, for one version of Go."""

    program: Program
    root: Path
    go: str

    @property
    def directory(self) -> Path:
        """Named by program, version and a hash over sources, flags and compiler."""
        digest = hashlib.sha256()
        for part in self._ingredients():
            digest.update(len(part).to_bytes(8, "big") + part)
        return self.root / f"{self.program.name}-{self.program.version}-{digest.hexdigest()[:12]}"

    @property
    def binary(self) -> Path:
        """The finished program, if it is there."""
        return self.directory / self.program.name

    @property
    def log(self) -> Path:
        """What the last build printed; it outlives a failed one."""
        return self.root / f"{self.program.name}.log"

    def _ingredients(self) -> Iterable[bytes]:
        for path in sources(self.program):
            yield path.name.encode()
            yield path.read_bytes()
        yield self.program.package.encode()
        yield self.program.ldflags.encode()
        yield " ".join([*BUILD_FLAGS, os.uname().machine, self.go]).encode()

    def flaw(self) -> str | None:
        """Say what is wrong with the finished build: "" if it is just not there, None if it is good."""
        if not self.directory.exists():
            return ""
        try:
            record = Record.model_validate_json((self.directory / _RECORD).read_bytes())
            found = sha256(self.binary)
        except (OSError, ValidationError):
            return "it is not complete"
        if found != record.sha256:
            return f"its checksum is {found[:12]}, and {record.sha256[:12]} was built"
        return wrong_version(self.program, self.binary)

    def publish(self, workplace: Path, seconds: float) -> None:
        """Turn a work directory that holds the new binary into the finished build, in one step."""
        binary = workplace / self.program.name
        record = Record(
            program=self.program.name,
            version=self.program.version,
            go=self.go,
            sha256=sha256(binary),
            seconds=round(seconds, 1),
        )
        finished = workplace / "finished"
        finished.mkdir()
        binary.rename(finished / self.program.name)
        (finished / _RECORD).write_text(json.dumps(record.model_dump(), indent=1) + "\n")
        for name in (self.program.name, _RECORD):
            _sync(finished / name)
        if self.directory.exists():  # a flawed one: it was looked at under the lock
            shutil.rmtree(self.directory)
        finished.rename(self.directory)


def sources(program: Program) -> list[Path]:
    """Return the files of the program's Go module that decide what is built."""
    directory = program.directory
    return [directory / "go.mod", directory / "go.sum", *sorted(directory.glob("*.go"))]


def wrong_version(program: Program, binary: Path) -> str | None:
    """Say how the program's own word on its version differs from the pinned one; None if it does not."""
    said = stated_version(program, binary)
    return None if said == program.version else f"it says {said or 'no version'}, not {program.version}"


def stated_version(program: Program, binary: Path) -> str | None:
    """Return the version a program prints; None if it does not run or prints none."""
    try:
        answer = subprocess.run(
            [binary, program.version_argument],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_VERSION_SECONDS,
            stdin=subprocess.DEVNULL,
            env=os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return version_in(answer.stdout + answer.stderr)


def sha256(path: Path) -> str:
    """Return a file's checksum in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
