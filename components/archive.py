"""Code that runs in a pod as one zip, the same bytes for the same code."""

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOMAIN = (
    *("__init__", "asked", "errors", "handout", "labels", "record", "strict", "versions", "workload"),
    *(f"catalogue/{module}" for module in ("__init__", "data", "engines")),
    *(f"kinds/{module}" for module in ("__init__", "alone", "base", "loads", "profiles", "sharing")),
    *(
        f"measure/{module}"
        for module in (
            *("__init__", "client", "counters", "endurance", "figures", "load", "part", "pods", "proof", "request"),
            "sharing",
        )
    ),
)
"""Modules of `experiment` that the benchmark needs in the engine's image; a test imports it from the zip alone."""
DATA = ("data/engines.json",)
"""And what they read."""

_EPOCH = (1980, 1, 1, 0, 0, 0)


def benchmark_zip(root: Path = ROOT) -> bytes:
    """Return the zip of the `benchmark` package and its part of `experiment`, to be put on PYTHONPATH."""
    modules = sorted((root / "benchmark").rglob("*.py"))
    domain = [*(f"{module}.py" for module in DOMAIN), *DATA]
    return _packed(root, [*modules, *(root / "experiment" / name for name in domain)])


def weights_zip(root: Path = ROOT) -> bytes:
    """Return the zip of `components.pod.weights` and the packages above it, to be put on PYTHONPATH."""
    package = root / "components" / "pod" / "weights"
    above = [root / "components" / "__init__.py", root / "components" / "pod" / "__init__.py"]
    # As it is: what names it by its digest is not to be another one with another version of zlib.
    return _packed(root, [*above, *package.glob("*.py")], zipfile.ZIP_STORED)


def _packed(root: Path, members: Iterable[Path], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(members):
            # No clock, no rights, no system of the machine that packs.
            entry = zipfile.ZipInfo(path.relative_to(root).as_posix(), date_time=_EPOCH)
            entry.compress_type = compression
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, path.read_bytes(), compresslevel=9)
    return buffer.getvalue()
