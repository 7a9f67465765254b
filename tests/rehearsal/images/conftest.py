"""Stand-ins for the programs that make a Debian: each writes what the real one would, in small."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = {
    # The last arguments are suite, target and mirror.
    "debootstrap": """
echo "$*" >> "$FAKES/debootstrap.txt"
while [ $# -gt 2 ]; do shift; done
mkdir -p "$1/usr/bin" "$1/usr/share/doc/apt" "$1/usr/lib/python3.11/__pycache__" "$1/proc/1"
mkdir -p "$1/var/cache/apt"
echo python > "$1/usr/bin/python3"; chmod 755 "$1/usr/bin/python3"
ln -s python3 "$1/usr/bin/python"
echo text > "$1/usr/share/doc/apt/copyright"
echo old > "$1/usr/lib/python3.11/__pycache__/os.pyc"
echo deb > "$1/var/cache/apt/x.deb"
mkfifo "$1/usr/lib/fifo"
if [ -e "$FAKES/fails" ]; then echo "I: Retrieving"; echo "E: Couldn't download packages: apt"; exit 1; fi
while [ -e "$FAKES/waits" ]; do sleep 0.05; done
""",
    "uv": """
echo "$*" >> "$FAKES/uv.txt"
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/numpy/tests"; echo numpy > "$2/numpy/__init__.py"; echo test > "$2/numpy/tests/test_x.py"
""",
    "chroot": """echo "$*" >> "$FAKES/chroot.txt" """,
    "unshare": """while [ "$1" != -- ]; do shift; done; shift; exec "$@" """,
    "apt-get": """[ "$1" = update ] && exit 0; cat "$FAKES/apt.txt" """,
}


@dataclass(frozen=True)
class Fakes:
    """Where the fakes write, and the files that steer them."""

    directory: Path

    def write(self, name: str, content: str = "") -> None:
        (self.directory / name).write_text(content)

    def calls(self, program: str) -> list[str]:
        log = self.directory / f"{program}.txt"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fakes:
    directory, programs = tmp_path / "fakes", tmp_path / "bin"
    directory.mkdir()
    programs.mkdir()
    for name, script in SCRIPTS.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}")
        (programs / name).chmod(0o755)
    (directory / "apt.txt").write_text("Debian Packages main http://mirror.invalid/debian\n")
    monkeypatch.setenv("FAKES", str(directory))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setattr("sys.executable", str(programs / "python"))  # uv is looked for beside it
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return Fakes(directory)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Write the stand-in's code, in a tree of its own."""
    package = tmp_path / "rehearsal"
    (package / "engine" / "data").mkdir(parents=True)
    (package / "engine" / "__pycache__").mkdir()
    (package / "__init__.py").write_text("")
    (package / "engine" / "data" / "profile.json").write_text("{}")
    (package / "engine" / "__pycache__" / "server.pyc").write_text("old")
    monkeypatch.setattr("rehearsal.images.catalogue._REHEARSAL", package)

    def write(code: str) -> None:
        (package / "engine" / "__main__.py").write_text(code)

    write("first = 1\n")
    return write
