"""The lower layer of an engine's image: a small Debian, with Python packages where they are not brought otherwise."""

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from experiment.errors import SplitbedError
from rehearsal.child import duration, run_to_log
from rehearsal.disk import require_space
from rehearsal.images.errors import ImageError
from rehearsal.images.layer import Layer, finished, write_tree
from rehearsal.images.mirror import debian_mirror
from rehearsal.packages import ensure_packages, update_lists
from rehearsal.progress import Progress

SUITE = "bookworm"
PYTHON = "3.11"  # that suite's
SITE = f"usr/local/lib/python{PYTHON}/dist-packages"
REQUIREMENTS = Path(__file__).parents[2] / "requirements" / "standin.txt"

_PYTHON = ("python3-minimal", "libpython3-stdlib", "ca-certificates")
_MINUTES = 2.0  # as measured on 2 cores
_MONTH_SECONDS = 30 * 24 * 3600  # after that it is made anew, for Debian's own updates
# What no program in the image reads; Debian's essential packages bring it along.
_SUPERFLUOUS = (
    "usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian",
    "usr/share/bug", "usr/share/zoneinfo", "usr/lib/*-linux-gnu/gconv", "var/cache/*", "var/log/*",
    "var/lib/apt/lists/*", "var/lib/dpkg/info/*.md5sums", "tmp/*", "debootstrap",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a Debian is made for.

    Attributes:
        name: begins the names of its files.
        whose: whose image it is for, as in "Making ... image".
        packages: Debian packages in it.
        requirements: Python packages in it; None for none.
        disk_mib: room that making it takes.
    """

    name: str
    whose: str
    packages: tuple[str, ...]
    requirements: Path | None
    disk_mib: int

    def digest(self) -> str:
        """Name everything the layer is made from, this file included."""
        digest = hashlib.sha256(" ".join(self.packages).encode())
        if self.requirements is not None:
            digest.update(self.requirements.read_bytes())
        for source in (Path(__file__), Path(__file__).with_name("layer.py")):
            digest.update(source.read_bytes())
        digest.update(os.uname().machine.encode())
        return digest.hexdigest()[:12]


def for_standin() -> Recipe:
    """Return the stand-in's: with the Python packages of the real image that the benchmark needs too."""
    return Recipe(name="base", whose="the stand-in's", packages=_PYTHON, requirements=REQUIREMENTS, disk_mib=1500)


def for_vllm() -> Recipe:
    """Return real vLLM's: with what it links to, and the compiler and headers that torch calls at run time."""
    packages = (*_PYTHON, "libpython3-dev", "g++", "openssl", "libnuma1", "libgomp1")
    return Recipe(name="debian-vllm", whose="vLLM's", packages=packages, requirements=None, disk_mib=2500)


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str
    made: float  # seconds since 1970


def base_layer(recipe: Recipe, directory: Path, progress: Progress) -> Layer:
    """Return the layer of a recipe, made in `directory` unless a sound one of this recipe is there.

    One that is over a month old is made anew; if that fails (no network, perhaps), it is still used.

    Raises:
        ImageError: it is not there and cannot be made.
        PackageError: it is not there, and what makes it cannot be installed.
        DiskError: it is not there, and there is no room for it.
    """
    target = directory / f"{recipe.name}-{recipe.digest()}.tar"
    there, made = _present(target)
    if there is not None and time.time() - made < _MONTH_SECONDS:
        return there
    try:
        return _made(recipe, target, directory, progress)
    except SplitbedError as error:  # of the packages or the disk, too
        if there is None:
            raise
        progress.note(f"the base image is over a month old, and could not be made anew: {error.message}")
        return there


def _present(target: Path) -> tuple[Layer | None, float]:
    try:
        record = _Record.model_validate_json(target.with_suffix(".json").read_bytes())
        layer = finished(target)
    except (OSError, ValidationError):
        return None, 0.0
    return (layer, record.made) if layer.sha256 == record.sha256 else (None, 0.0)


def _made(recipe: Recipe, target: Path, directory: Path, progress: Progress) -> Layer:
    if os.geteuid() != 0:
        raise ImageError(
            f"Making {recipe.whose} image takes root: it is a Debian system in a directory.", "Run this as root."
        )
    ensure_packages(("images",), progress)
    mirror = debian_mirror(lambda: update_lists(progress))
    require_space(f"Making {recipe.whose} image", {directory: recipe.disk_mib})
    progress.step(f"Making the base of {recipe.whose} image: about {_MINUTES:.0f} min, once a month")
    start = time.monotonic()
    log = directory / f"{recipe.name}.log"
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=directory) as workplace:
        tree = Path(workplace) / "tree"
        _bootstrap(recipe, tree, mirror, log, progress)
        if recipe.requirements is not None:
            _install_python_packages(recipe.requirements, tree, log, progress)
        _trim(tree)
        _compile(tree, log, progress)
        layer = write_tree(tree, Path(workplace) / target.name)
        record = Path(workplace) / "record.json"
        record.write_text(_Record(sha256=layer.sha256, made=time.time()).model_dump_json())
        record.rename(target.with_suffix(".json"))
        layer.path.rename(target)
    for outdated in directory.glob(f"{recipe.name}-*"):
        if outdated.stem != target.stem:
            outdated.unlink(missing_ok=True)
    progress.note(f"base image: {layer.size // 1024**2} MiB, made in {duration(time.monotonic() - start)}")
    return Layer(target, layer.sha256, layer.size)


def _bootstrap(recipe: Recipe, tree: Path, mirror: str, log: Path, progress: Progress) -> None:
    argv = [
        "debootstrap", "--variant=minbase", f"--include={','.join(recipe.packages)}", SUITE, str(tree), mirror,
    ]  # fmt: skip
    _run(argv, f"debootstrap of {SUITE}", log, progress)


def _install_python_packages(requirements: Path, tree: Path, log: Path, progress: Progress) -> None:
    argv = [
        *_installer(), "--target", str(tree / SITE), "--python-version", PYTHON,
        "--only-binary", ":all:", "--require-hashes", "-r", str(requirements),
    ]  # fmt: skip
    _run(argv, "installing the Python packages", log, progress)


def _installer() -> list[str]:
    platform = f"{os.uname().machine}-manylinux_2_28"
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if os.access(beside, os.X_OK) else shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--link-mode", "copy", "--python-platform", platform]
    reversed_platform = f"manylinux_2_28_{os.uname().machine}"
    return [sys.executable, "-m", "pip", "install", "--no-deps", "--platform", reversed_platform]


def _trim(tree: Path) -> None:
    for path in _superfluous(tree):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _superfluous(tree: Path) -> Iterator[Path]:
    for pattern in _SUPERFLUOUS:
        yield from tree.glob(pattern)
    for name in ("tests", "__pycache__"):
        yield from [path for path in tree.rglob(name) if path.is_dir() and "python3" in str(path)]


def _compile(tree: Path, log: Path, progress: Progress) -> None:
    """Compile all modules: pods may not write, and their files' times are not the compiler's."""
    argv = [
        "chroot", str(tree), "python3", "-m", "compileall", "-q", "-j", "0",
        "--invalidation-mode", "unchecked-hash", f"/usr/lib/python{PYTHON}",
        *([f"/{SITE}"] if (tree / SITE).is_dir() else []),
    ]  # fmt: skip
    _run(argv, "compiling the Python modules", log, progress)


def _run(argv: list[str], what: str, log: Path, progress: Progress) -> None:
    progress.note(what)
    status = run_to_log(
        argv,
        log,
        beat=lambda elapsed: progress.note(f"{what}: {duration(elapsed)} so far"),
        private_mounts=True,
    )
    if status != 0:
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines if line.startswith(("E:", "W:", "error:", "ERROR:"))] or lines
        raise ImageError(
            f"{what[0].upper()}{what[1:]} failed: {telling[-1] if telling else 'it printed nothing'} "
            f"(all of it is in {log}).",
            "Check the network and apt's sources, then run this again.",
        )
