"""Linters in environments of their own, each installed from its lock once: they pin versions that clash with ours."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from rehearsal.locks import locked
from tests.recording import ROOT


def ensure(home: Path, name: str) -> Path:
    """Return a linter's program, installed from `requirements/<name>.txt` if need be."""
    lock = ROOT / "requirements" / f"{name}.txt"
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:12]
    environment = home / name / digest
    program = environment / "bin" / name
    with locked(home / "locks" / name, lambda _: None):
        if (environment / "whole").exists():
            return program
        shutil.rmtree(environment, ignore_errors=True)
        uv = str(Path(sys.executable).with_name("uv"))
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(environment)], check=True)
        install = ["pip", "install", "--quiet", "--no-deps", "--require-hashes", "--requirements", str(lock)]
        subprocess.run([uv, *install, "--python", str(environment / "bin" / "python")], check=True)
        (environment / "whole").touch()
    return program
