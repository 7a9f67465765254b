"""The command lines of all processes that were there while something ran: whoever is on the machine can read them."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

_BEAT_S = 0.2


class Argvs:
    """Looks five times a second; what lives shorter may be missed."""

    def __init__(self) -> None:
        self.all: set[str] = set()

    @contextmanager
    def seen(self) -> Iterator[None]:
        """Look until the end of the block."""
        ended = Event()
        watcher = Thread(target=self._look, args=(ended,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    def _look(self, ended: Event) -> None:
        while not ended.wait(_BEAT_S):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                with suppress(OSError):  # ended meanwhile
                    self.all.add(path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
