"""The peers' programs, each in an environment of its own in the cache, installed from locked requirements once."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from rehearsal.locks import locked
from rehearsal.progress import Progress
from rehearsal.vllm.environment import REQUIREMENTS

PYTHON = "3.11"


def ensure(name: str, home: Path, progress: Progress) -> Path:
    """Return the environment of `requirements/NAME.txt`, installed if need be.

    Raises:
        subprocess.CalledProcessError: it cannot be installed; uv has said why.
    """
    requirements = REQUIREMENTS / f"{name}.txt"
    digest = hashlib.sha256(requirements.read_bytes() + PYTHON.encode()).hexdigest()[:12]
    directory = home / "peers"
    target = directory / f"{name}-{digest}"
    with locked(home / "locks" / f"peer-{name}", progress.note):
        if (target / "whole").exists():
            return target
        progress.step(f"Installing {name} from {requirements.name}, once (guidellm brings torch: 5 GiB)")
        directory.mkdir(parents=True, exist_ok=True)
        uv = str(Path(sys.executable).with_name("uv"))
        environ = os.environ | {"UV_NO_CONFIG": "1"}  # the project's overrides are for its own requirements
        make = ["venv", "--clear", "--quiet", "--no-python-downloads", "--python", PYTHON, str(target)]
        install = ["pip", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
        install += ["--python", str(target / "bin" / "python"), "-r", str(requirements)]
        for arguments in (make, install):
            subprocess.run([uv, *arguments], check=True, env=environ)
        (target / "whole").touch()
    return target
