"""The LeaderWorkerSet chart, as the pinned Go module carries it."""

import hashlib
import re
import shutil
import tempfile
from pathlib import Path

import yaml

from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.golang import Go
from rehearsal.toolchain.programs import Program


def copied_chart(program: Program, go: Go, root: Path) -> Path:
    """Copy `charts/lws` of the program's source module below `root` and return the directory.

    The module's chart has a placeholder for its own version; the copy is given the module's, as the
    published chart has it.

    Raises:
        ToolchainError: the module cannot be fetched, or the chart is for another version of the controller.
    """
    original = go.source_directory(program) / "charts" / "lws"
    _check(original, program)
    target = root / f"lws-chart-{program.version}-{_digest(original)}" / "lws"
    if target.exists():
        return target
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".chart-", dir=root) as workplace:
        copy = Path(workplace) / "finished" / "lws"
        shutil.copytree(original, copy, copy_function=shutil.copyfile)
        for path in (copy, *copy.rglob("*")):  # Go keeps its modules read-only
            path.chmod(0o755 if path.is_dir() else 0o644)
        described = copy / "Chart.yaml"
        described.write_text(
            re.sub(r"^version:.*$", f"version: {program.version}", described.read_text(), flags=re.MULTILINE)
        )
        copy.parent.chmod(0o755)
        copy.parent.rename(target.parent)
    return target


def _check(chart: Path, program: Program) -> None:
    described = yaml.safe_load((chart / "Chart.yaml").read_text())
    versions = {str(described.get("version")), str(described.get("appVersion")).removeprefix("v")}
    if str(described.get("appVersion")).removeprefix("v") != program.version or not versions <= {
        program.version,
        "0.1.0",
    }:
        raise ToolchainError(
            f"{chart / 'Chart.yaml'} is of version {described.get('version')} for controller "
            f"{described.get('appVersion')}, and {program.version} is pinned.",
            "Run `go clean -modcache` if the module cache may be damaged, and try again.",
        )


def _digest(directory: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        digest.update(f"{path.relative_to(directory)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]
