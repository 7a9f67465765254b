"""The images a rehearsal needs."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rehearsal.images.base import SITE, base_layer, for_standin, for_vllm
from rehearsal.images.image import Image, ImageConfig, published
from rehearsal.images.layer import Entry, write_entries
from rehearsal.images.pythonlayer import AWS_CLI, python_layer
from rehearsal.locks import locked
from rehearsal.progress import Progress

_REHEARSAL = Path(__file__).parents[1]
_AWS = b'#!/bin/sh\nexec python3 -m awscli "$@"\n'
_VLLM = b'#!/bin/sh\nexec python3 -m rehearsal.engine "$@"\n'


def pause_image(binary: Path, home: Path, progress: Progress) -> Image:
    """Return the image that holds a pod's namespaces, of one static binary."""
    config = ImageConfig(user="65535:65535", entrypoint=("/pause",))
    return _of_entries("pause", config, [Entry("pause", binary.read_bytes(), 0o755)], home, progress)


def lws_manager_image(binary: Path, home: Path, progress: Progress) -> Image:
    """Return the image of the LeaderWorkerSet controller, at the path that its chart starts."""
    config = ImageConfig(user="65532:65532", entrypoint=("/manager",))
    entries = [Entry("manager", binary.read_bytes(), 0o755), Entry("tmp", None, 0o1777)]
    return _of_entries("lws-manager", config, entries, home, progress)


def collector_image(binary: Path, home: Path, progress: Progress) -> Image:
    """Return the image of the log shipper's collector; like the contrib distribution's it takes arguments only."""
    config = ImageConfig(user="10001:10001", entrypoint=("/otelcol",))
    return _of_entries("otelcol", config, [Entry("otelcol", binary.read_bytes(), 0o755)], home, progress)


def aws_cli_image(endpoint: str, home: Path, progress: Progress) -> Image:
    """Return an image with the AWS CLI as PyPI has it, which is version 1, on the stand-in's Debian.

    Args:
        endpoint: address of the services that it asks.
        home: has the images.
        progress: hears of it.

    Raises:
        ImageError: it cannot be made.
        DiskError: there is no room for it.
    """
    found = ImageConfig(user="0:0", entrypoint=("aws",))
    # Pods may not write where the packages are, and a start without compiled modules takes three times as long.
    env = (*found.env, f"AWS_ENDPOINT_URL={endpoint}", "PYTHONPYCACHEPREFIX=/tmp/compiled")
    config = replace(found, env=env)
    with _directory(home, progress) as directory:
        base = base_layer(for_standin(), directory, progress)
        packages = python_layer(AWS_CLI, directory, progress)
        with _scratch(directory) as scratch:
            program = write_entries([Entry("usr/local/bin/aws", _AWS, 0o755)], scratch / "program.tar")
            return published("aws-cli", config, (base, packages, program), directory)


def standin_image(home: Path, progress: Progress) -> Image:
    """Return the image of the stand-in for vLLM: Debian, the Python packages, and the engine of this tree.

    Only its upper layer depends on the engine's code, so that an edit costs about a second. Like the real
    image it starts as root, and has `vllm` and `python3` on PATH.

    Raises:
        ImageError: it cannot be made.
        DiskError: there is no room for it.
    """
    config = ImageConfig(user="0:0", entrypoint=("vllm", "serve"))
    with _directory(home, progress) as directory:
        base = base_layer(for_standin(), directory, progress)
        with _scratch(directory) as scratch:
            code = write_entries(_engine(), scratch / "code.tar")
            return published("standin", config, (base, code), directory)


def vllm_image(packages: str, home: Path, progress: Progress) -> Image:
    """Return the image that runs a real vLLM: Debian, its Python, and `vllm` on PATH.

    Args:
        packages: the directory, as containers see it, of vLLM's Python packages. They are not in the image: it
            would be 6 GiB, and be copied to each node.
        home: has the images.
        progress: hears of it.

    Raises:
        ImageError: it cannot be made.
        DiskError: there is no room for it.
    """
    config = ImageConfig(user="0:0", entrypoint=("vllm", "serve"))
    run = b'#!/bin/sh\nexec python3 -m vllm.entrypoints.cli.main "$@"\n'
    with _directory(home, progress) as directory:
        base = base_layer(for_vllm(), directory, progress)
        entries = [Entry("usr/local/bin/vllm", run, 0o755), Entry(f"{SITE}/vllm.pth", f"{packages}\n".encode())]
        with _scratch(directory) as scratch:
            return published("vllm", config, (base, write_entries(entries, scratch / "code.tar")), directory)


def _of_entries(name: str, config: ImageConfig, entries: list[Entry], home: Path, progress: Progress) -> Image:
    with _directory(home, progress) as directory, _scratch(directory) as scratch:
        return published(name, config, (write_entries(entries, scratch / "layer.tar"),), directory)


def _engine() -> Iterator[Entry]:
    yield Entry("usr/local/bin/vllm", _VLLM, 0o755)
    package = _REHEARSAL / "engine"
    for path in (_REHEARSAL / "__init__.py", *sorted(package.rglob("*"))):
        if path.is_file() and "__pycache__" not in path.parts:
            yield Entry(f"{SITE}/rehearsal/{path.relative_to(_REHEARSAL)}", path.read_bytes())


@contextmanager
def _directory(home: Path, progress: Progress) -> Iterator[Path]:
    """The images' directory, locked, and rid of what killed processes left there."""
    directory = home / "images"
    directory.mkdir(parents=True, exist_ok=True)
    with locked(home / "locks" / "images", progress.note):
        for pattern in (".writing-*", ".making-*", ".scratch-*"):
            for abandoned in directory.glob(pattern):
                shutil.rmtree(abandoned, ignore_errors=True)
        yield directory


@contextmanager
def _scratch(directory: Path) -> Iterator[Path]:
    scratch = directory / ".scratch-layers"
    scratch.mkdir()
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch)
