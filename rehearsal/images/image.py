"""Image archives: an OCI layout in a tar file that `ctr images import`, kind and Docker can all load."""

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from experiment.images import REHEARSED
from rehearsal.images.layer import Layer

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_KEPT = 3  # archives of one name: another cluster may be importing an older one right now


@dataclass(frozen=True)
class Image:
    """An image: the reference that pods name, and the archive to import."""

    reference: str
    archive: Path


@dataclass(frozen=True, kw_only=True)
class ImageConfig:
    """What a container is started with where the pod does not say otherwise.

    Attributes:
        user: numeric "uid:gid", so that a kubelet can tell that it is not root.
        entrypoint: argv.
        env: "NAME=value" each.
    """

    user: str
    entrypoint: tuple[str, ...]
    env: tuple[str, ...] = ("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",)

    def document(self, layers: Sequence[Layer]) -> bytes:
        """The OCI image configuration."""
        return _json(
            {
                "architecture": architecture(),
                "os": "linux",
                "config": {
                    "User": self.user,
                    "Entrypoint": list(self.entrypoint),
                    "Env": list(self.env),
                    "WorkingDir": "/",
                },
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer.sha256}" for layer in layers]},
            }
        )


class _Record(BaseModel):
    """What is written beside an archive."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reference: str
    sha256: str


def architecture() -> str:
    """This machine's, as images call it."""
    machine = os.uname().machine
    return _ARCHITECTURES.get(machine, machine)


def published(name: str, config: ImageConfig, layers: Sequence[Layer], directory: Path) -> Image:
    """Return the image `name` of these layers, written to `directory` unless a sound one is there."""
    document = config.document(layers)
    digest = hashlib.sha256(document).hexdigest()
    image = Image(f"{REHEARSED}/{name}:{digest[:12]}", directory / f"{name}-{digest[:12]}.tar")
    record = image.archive.with_suffix(".json")
    if not _is_sound(image, record):
        with tempfile.TemporaryDirectory(prefix=".writing-", dir=directory) as workplace:
            archive = Path(workplace) / "archive.tar"
            _write(archive, image.reference, document, layers)
            written = Path(workplace) / "archive.json"
            written.write_text(_Record(reference=image.reference, sha256=_sha256(archive)).model_dump_json())
            written.rename(record)  # a record without its archive counts as nothing
            archive.rename(image.archive)
        _prune(name, directory)
    return image


def _is_sound(image: Image, record: Path) -> bool:
    try:
        written = _Record.model_validate_json(record.read_bytes())
        return written == _Record(reference=image.reference, sha256=_sha256(image.archive))
    except (OSError, ValidationError):
        return False


def _write(target: Path, reference: str, config: bytes, layers: Sequence[Layer]) -> None:
    blobs = {hashlib.sha256(config).hexdigest(): config}
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": _descriptor("application/vnd.oci.image.config.v1+json", config),
            "layers": [
                {
                    "mediaType": "application/vnd.oci.image.layer.v1.tar",
                    "digest": f"sha256:{layer.sha256}",
                    "size": layer.size,
                }
                for layer in layers
            ],
        }
    )
    blobs[hashlib.sha256(manifest).hexdigest()] = manifest
    named = _descriptor("application/vnd.oci.image.manifest.v1+json", manifest) | {
        "platform": {"architecture": architecture(), "os": "linux"},
        "annotations": {
            "io.containerd.image.name": reference,
            "org.opencontainers.image.ref.name": reference.rpartition(":")[2],
        },
    }
    documents = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": _json({"schemaVersion": 2, "manifests": [named]}),
        # For `docker load` and `kind load image-archive`, which look for the older layout.
        "manifest.json": _json(
            [
                {
                    "Config": _blob(hashlib.sha256(config).hexdigest()),
                    "RepoTags": [reference],
                    "Layers": [_blob(layer.sha256) for layer in layers],
                }
            ]
        ),
    } | {_blob(digest): content for digest, content in blobs.items()}
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in documents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
        for layer in {layer.sha256: layer for layer in layers}.values():
            info = tarfile.TarInfo(_blob(layer.sha256))
            info.size = layer.size
            with layer.path.open("rb") as file:
                tar.addfile(info, file)


def _prune(name: str, directory: Path) -> None:
    """Drop the oldest archives of that name: each edit of the stand-in makes one of some 200 MiB."""
    archives = sorted(directory.glob(f"{name}-{'[0-9a-f]' * 12}.tar"), key=lambda path: path.stat().st_mtime)
    for archive in archives[:-_KEPT]:
        archive.unlink(missing_ok=True)
        archive.with_suffix(".json").unlink(missing_ok=True)


def _blob(digest: str) -> str:
    return f"blobs/sha256/{digest}"


def _descriptor(media_type: str, content: bytes) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return {"mediaType": media_type, "digest": digest, "size": len(content)}


def _json(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
