"""Puts loads on a server that only a cluster's own network reaches: `nsenter` starts it there.

`python -m rehearsal.vllm.loadclient HOST PORT MODEL` reads one load a line, `{"streams":4,"stagger_ms":0,"tokens":80,
"seed":"..."}`, and answers each with a line: the run, or `{"error":"..."}`.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rehearsal.child import tied
from rehearsal.vllm.environment import VllmError
from rehearsal.vllm.modes import Load, Target, run
from report.modes import LoadRun


class LoadClient:
    """A client in the network of another process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def run(self, load: Load, seed: str) -> LoadRun:
        """Put a load on the server; engine, machine and setting of what is returned are the caller's to fill.

        Raises:
            VllmError: the server did not answer to the end.
        """
        assert self._process.stdin is not None  # noqa: S101
        assert self._process.stdout is not None  # noqa: S101
        asked = {"streams": load.streams, "stagger_ms": load.stagger_ms, "tokens": load.tokens, "seed": seed}
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError as error:
            raise VllmError(f"The load client is gone: {error}.", "Run this again.") from error
        if not answer:
            raise VllmError("The load client ended.", "What it said is above.")
        found = json.loads(answer)
        if "error" in found:
            raise VllmError(f"A load was not answered: {found['error']}", "Look at the engine's log; run this again.")
        return LoadRun.model_validate(found)


@contextmanager
def load_client(network_of: int, host: str, port: int, model: str) -> Iterator[LoadClient]:
    """Run a client in the network namespace of process `network_of` for the length of the block."""
    argv = ["nsenter", f"--net=/proc/{network_of}/ns/net", "--", sys.executable, "-m", __name__, host, str(port), model]
    with subprocess.Popen(
        tied(argv),
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield LoadClient(process)
        finally:
            process.kill()


def main() -> None:
    """Answer loads until there are no more."""
    host, port, model = sys.argv[1:]
    target = Target("", False, "", int(port), host, model)
    for line in sys.stdin:
        asked = json.loads(line)
        load = Load(asked["streams"], asked["stagger_ms"], asked["tokens"])
        try:
            answer = asyncio.run(run(target, load, asked["seed"])).model_dump_json()
        except (OSError, TimeoutError) as error:
            answer = json.dumps({"error": f"{type(error).__name__}: {error}"})
        print(answer, flush=True)


if __name__ == "__main__":
    main()
