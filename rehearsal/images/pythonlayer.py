"""Layers of Python packages alone, to lie over the stand-in's Debian."""

import hashlib
import tempfile
from pathlib import Path

from rehearsal.images import base
from rehearsal.images.layer import Layer, finished, write_tree
from rehearsal.progress import Progress

AWS_CLI = base.REQUIREMENTS.with_name("aws-cli.txt")


def python_layer(requirements: Path, directory: Path, progress: Progress) -> Layer:
    """Return the layer of these packages, made in `directory` unless it is there.

    Raises:
        ImageError: they cannot be installed.
    """
    digest = hashlib.sha256(requirements.read_bytes() + Path(__file__).read_bytes()).hexdigest()[:12]
    target = directory / f"python-{requirements.stem}-{digest}.tar"
    if target.exists():
        return finished(target)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=directory) as workplace:
        tree = Path(workplace) / "tree"
        # As for the base, whose layers are named by that file's text too, so that a name is not changed lightly there.
        base._install_python_packages(requirements, tree, directory / f"python-{requirements.stem}.log", progress)
        layer = write_tree(tree, Path(workplace) / target.name)
        layer.path.rename(target)
    for outdated in directory.glob(f"python-{requirements.stem}-*.tar"):
        if outdated != target:
            outdated.unlink(missing_ok=True)
    return Layer(target, layer.sha256, layer.size)
