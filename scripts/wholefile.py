"""Files of a command's output that are there whole or not at all."""

from pathlib import Path


def put(path: Path, content: bytes) -> None:
    """Write a file in place of what is there, and make the directories on the way to it.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
