"""Image layers: tar files that are the same byte for byte whenever their content is."""

import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_EPOCH = 1_700_000_000  # every file's time: a fixed one, late enough for zip files
_KERNEL = frozenset({"dev", "proc", "run", "sys"})  # a container gets its own; only their mount points go in


@dataclass(frozen=True)
class Layer:
    """A finished layer: an uncompressed tar file, its SHA-256 (also its "diff id") and its size in bytes."""

    path: Path
    sha256: str
    size: int


@dataclass(frozen=True)
class Entry:
    """A file or, with `content` None, a directory that a layer is written from."""

    name: str  # without a leading "/"
    content: bytes | None
    mode: int = 0o644


def write_entries(entries: Iterable[Entry], target: Path) -> Layer:
    """Write a layer from entries, all of them root's; missing parent directories are added."""
    by_name = {entry.name: entry for entry in entries}
    for name in list(by_name):
        for parent in list(Path(name).parents)[:-1]:
            by_name.setdefault(str(parent), Entry(str(parent), None, 0o755))
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(by_name):
            entry = by_name[name]
            info = _normal(tarfile.TarInfo(name))
            info.mode = entry.mode
            if entry.content is None:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            else:
                info.size = len(entry.content)
                tar.addfile(info, io.BytesIO(entry.content))
    return finished(target)


def write_tree(tree: Path, target: Path) -> Layer:
    """Write a layer from a root directory, owners and modes kept (which takes root to read)."""
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for directory, names, files in os.walk(tree):
            names.sort()
            here = Path(directory)
            for name in sorted([*names, *files]):
                path = here / name
                if not _is_special(path):
                    arcname = str(path.relative_to(tree))
                    tar.add(path, arcname=arcname, recursive=False, filter=_normal)
            if here == tree:
                names[:] = [name for name in names if name not in _KERNEL]
    return finished(target)


def finished(path: Path) -> Layer:
    """Describe a layer that lies at `path`."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Layer(path, digest, path.stat().st_size)


def _normal(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.mtime = _EPOCH
    info.uname = info.gname = ""
    return info


def _is_special(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISSOCK(mode) or stat.S_ISBLK(mode) or stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)
