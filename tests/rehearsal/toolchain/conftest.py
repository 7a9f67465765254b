"""A `go` that builds in no time, and a Go module that it may be asked to build."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rehearsal.toolchain import PROGRAMS, Program, programs

# Behaves as the files beside it say: `version`, `list`, `fails` (text of a failure), `waits` (until gone).
FAKE_GO = """#!/bin/sh
here=$(dirname "$0")/../go
case "$1 $2" in
"version ") echo "go version $(cat $here/version) linux/amd64";;
"env GOVERSION") cat $here/version;;
"env GOMODCACHE") echo $here/modules; echo $here/builds;;
"list -e") cat $here/list;;
"mod download") cat $here/download;;
"build "*)
    echo built >> $here/builds.txt
    env > $here/environment
    cp -r . $here/seen
    if [ -e $here/fails ]; then cat $here/fails; exit 1; fi
    while [ "$1" != -o ]; do
        [ "$1" = -ldflags ] && version=$(echo "$2" | grep -oE '[0-9]+[.][0-9]+[.][0-9]+' | head -n 1)
        shift
    done
    echo half > "$2"
    while [ -e $here/waits ]; do sleep 0.05; done
    [ -n "$version" ] || version=3.6.16  # etcd's source says its version itself
    [ -e $here/says ] && version=$(cat $here/says)
    printf '#!/bin/sh\\necho version %s\\n' "$version" > "$2"
    chmod +x "$2";;
*) echo "unexpected: $*" >&2; exit 64;;
esac
"""


@dataclass(frozen=True)
class FakeGo:
    """The fake's directory, to steer it and to see what it did."""

    directory: Path
    bin: Path

    def write(self, name: str, content: str) -> None:
        (self.directory / name).write_text(content)

    def remove(self, name: str) -> None:
        (self.directory / name).unlink()

    @property
    def builds(self) -> int:
        log = self.directory / "builds.txt"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def install(self, name: str, script: str) -> Path:
        """Put a program on PATH."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGo]:
    fake = FakeGo(tmp_path / "go", tmp_path / "bin")
    fake.directory.mkdir()
    fake.bin.mkdir()
    (fake.bin / "go").write_text(FAKE_GO)
    (fake.bin / "go").chmod(0o755)
    fake.write("version", "go1.26.8\n")
    fake.write("list", "true true \n" * 99 + "false true \n")
    fake.write("download", json.dumps({"Dir": str(fake.directory / "source")}))
    monkeypatch.setenv("PATH", f"{fake.bin}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setattr("rehearsal.toolchain.golang._KNOWN_PLACES", ())
    yield fake
    (fake.directory / "waits").unlink(missing_ok=True)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private copy of the Go modules' pins."""
    copy = tmp_path / "modules"
    for program in PROGRAMS.values():
        target = copy / program.module
        target.mkdir(parents=True, exist_ok=True)
        for path in (program.directory / "go.mod", program.directory / "go.sum"):
            (target / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(programs, "MODULES", copy)
    return copy


@pytest.fixture
def pause() -> Program:
    return PROGRAMS["pause"]
