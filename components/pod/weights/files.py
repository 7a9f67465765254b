"""The files of a model, as its source lists them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

# The same weights in other formats, which the engine does not read where there are safetensors.
_OTHER_FORMATS = re.compile(
    r".*\.(bin|pt|pth|ckpt|gguf|ggml|onnx|onnx_data|msgpack|h5|ot|tflite|mlmodel)", re.IGNORECASE
)
_REPOSITORY = frozenset({".gitattributes", ".gitignore"})


@dataclass(frozen=True, kw_only=True)
class File:
    """One file.

    Attributes:
        path: relative to the model.
        size: in bytes.
        digest: in hexadecimal; empty if the source tells none.
        kind: of the digest: `sha256`, `git` (git's id of a blob: SHA-1 of a header and the content) or `md5`.
        request: returns where it is to be asked for, headers for every host, and headers for the first one alone.
    """

    path: str
    size: int
    digest: str
    kind: str
    request: Callable[[], tuple[str, dict[str, str], dict[str, str]]]


def needed(files: Sequence[File]) -> list[File]:
    """Return the files that the engine may read, of a repository that may hold the same weights several times."""
    wanted = [file for file in files if file.path not in _REPOSITORY and _harmless(file.path)]
    tensors = [file.path for file in wanted if file.path.endswith(".safetensors") and "/" not in file.path]
    if not tensors:
        return wanted
    # The form in which Mistral's own tools want the same tensors.
    consolidated = [path for path in tensors if path.startswith("consolidated")]
    dropped = set(consolidated) if len(consolidated) < len(tensors) else set()
    return [file for file in wanted if file.path not in dropped and not _OTHER_FORMATS.fullmatch(file.path)]


def _harmless(path: str) -> bool:
    """Tell whether a path stays below the directory that it is put into."""
    parts = PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts
