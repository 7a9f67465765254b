"""A plugin that the language host runs as a process beside the program."""

import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, Literal, Self

from rehearsal.child import tied

Stream = Literal["stdout", "stderr"]
_CHUNK_BYTES = 64 * 1024


class Plugin:
    """A running plugin, with both of its streams; as a context it is gone at the end."""

    def __init__(self, argv: Sequence[str], directory: str, environment: Sequence[str]) -> None:
        """Start it.

        Args:
            argv: the command.
            directory: where it runs.
            environment: all of its variables, as NAME=VALUE; of a name that is there twice the last counts.
        """
        self._process = subprocess.Popen(
            tied(argv),
            cwd=directory or None,
            env=dict(pair.split("=", 1) for pair in environment) or None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._printed: queue.Queue[tuple[Stream, bytes]] = queue.Queue()
        assert self._process.stdout is not None  # noqa: S101
        assert self._process.stderr is not None  # noqa: S101
        self._readers = [
            threading.Thread(target=self._read, args=("stdout", self._process.stdout)),
            threading.Thread(target=self._read, args=("stderr", self._process.stderr)),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: Stream, pipe: IO[bytes]) -> None:
        while chunk := os.read(pipe.fileno(), _CHUNK_BYTES):
            self._printed.put((stream, chunk))
        self._printed.put((stream, b""))

    def output(self) -> Iterator[tuple[Stream, bytes]]:
        """Yield what it prints as it comes, until both streams have ended."""
        open_streams = len(self._readers)
        while open_streams:
            stream, chunk = self._printed.get()
            if chunk:
                yield stream, chunk
            else:
                open_streams -= 1

    def status(self) -> int:
        """Wait for its end and return its exit status."""
        return self._process.wait()

    def end(self) -> None:
        """End it, without waiting: a kill, since a tied command is deaf to less, and a plugin has nothing to save."""
        with suppress(ProcessLookupError):
            self._process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._process.wait()
        for reader in self._readers:
            reader.join()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
