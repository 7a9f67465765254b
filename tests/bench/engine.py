"""The stand-in engine in a process of its own, and what it stamped itself: the truth that clients are held against."""

import json
import os
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

MODEL = "google/gemma-3-1b-it"
PARAMETERS: Mapping[str, float] = {  # a token takes 20 ms, and all else nothing
    "step_s": 0.02,
    "sequence_s": 0,
    "prefill_token_s": 0,
    "frontend_s": 0,
    "schedule_s": 0,
    "jitter": 0,
    "end_of_text": 0,
}


@dataclass
class Truth:
    """What the engine stamped of one request, in seconds of the monotonic clock.

    Attributes:
        arrived_s: when the engine's kernel had all of the request.
        read_s: when the engine came to it.
        writes: of each piece that held tokens, when it was written and the engine's own time of its newest token.
    """

    arrived_s: float = 0.0
    read_s: float = 0.0
    writes: list[tuple[float, float]] = field(default_factory=list)

    @property
    def ttft_s(self) -> float:
        """From the request's being there to the first token's being written."""
        return self.writes[0][0] - self.arrived_s

    @property
    def gaps_s(self) -> list[float]:
        """Between what was written."""
        return [later - earlier for (earlier, _), (later, _) in pairwise(self.writes)]


class Engine:
    """A stand-in engine, running from `with` to its end; it may be killed and started again at the same address."""

    def __init__(
        self, stamps: Path, *flags: str, profile: str = "fast", parameters: Mapping[str, float] = PARAMETERS
    ) -> None:
        self.stamps = stamps
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self._command = [sys.executable, "-m", "rehearsal.engine", "serve", MODEL, "--max-model-len=4096"]
        self._command += [f"--port={port}", "--host=127.0.0.1", *flags]
        self._environ = os.environ | {
            "SPLITBED_STANDIN_STAMPS": str(stamps),
            "SPLITBED_STANDIN_PROFILE": profile,
            "SPLITBED_STANDIN_PARAMETERS": json.dumps(dict(parameters)),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, without waiting until it answers."""
        self._process = subprocess.Popen(self._command, env=self._environ, stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        """Let it write down its stamps, and be gone."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def truths(stamps: Path) -> dict[str, Truth]:
    """Return what was stamped, by the name that the client gave the request, or else the engine."""
    found: dict[str, Truth] = defaultdict(Truth)
    for line in stamps.read_text().splitlines():
        entry: dict[str, Any] = json.loads(line)
        truth = found[str(entry["request"]).removeprefix("cmpl-")]
        if entry["event"] == "read":
            truth.read_s = entry["ns"] / 1e9
            truth.arrived_s = (entry["arrived_ns"] or entry["ns"]) / 1e9
        elif entry["event"] == "write" and entry["tokens"]:
            truth.writes.append((entry["ns"] / 1e9, (entry["engine_ns"] or entry["ns"]) / 1e9))
    return found
