"""A side channel of truth: when, on the monotonic clock, each request was read and each piece was written.

One JSON object a line: `ns` (CLOCK_MONOTONIC), `event` (`read`, `headers`, `write`, `end`), `request` (its id),
`bytes`; for a read `arrived_ns`, when the kernel had the last of it, which this process, busy with others, may come to
much later; for a write `tokens` and `engine_ns`, the engine's own time of the newest token in it.
"""

import json
import time
from pathlib import Path
from typing import IO

STAMPS_VARIABLE = "SPLITBED_STANDIN_STAMPS"


class Stamps:
    """Writes stamps to a file; without one it does nothing."""

    def __init__(self, path: Path | None) -> None:
        self._file: IO[str] | None = path.open("a") if path is not None else None

    def note(
        self,
        event: str,
        request: str,
        size: int = 0,
        tokens: int = 0,
        engine_s: float | None = None,
        arrived_ns: int | None = None,
    ) -> None:
        """Stamp an event now."""
        if self._file is None:
            return
        entry: dict[str, object] = {
            "ns": time.monotonic_ns(),
            "event": event,
            "request": request,
            "bytes": size,
        }
        if event == "read":
            entry["arrived_ns"] = arrived_ns
        if event == "write":
            entry["tokens"] = tokens
            entry["engine_ns"] = None if engine_s is None else round(engine_s * 1e9)
        self._file.write(json.dumps(entry) + "\n")
        if event == "end":
            self._file.flush()

    def close(self) -> None:
        """Write out what is left."""
        if self._file is not None:
            self._file.close()
            self._file = None
