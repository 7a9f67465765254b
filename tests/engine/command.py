"""The `splitbed` command as a child whose steps can be waited for."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

SPLITBED = Path(sys.executable).with_name("splitbed")


class Command:
    """A running `splitbed`; its progress is read as it comes, for others to wait on."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [SPLITBED, *arguments],
            env={**os.environ, "SPLITBED_HOME": str(home), "COLUMNS": "200"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._lines: list[str] = []
        self._grown = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._grown:
                self._lines.append(line.rstrip())
                self._grown.notify_all()
        with self._grown:
            self._grown.notify_all()

    @property
    def said(self) -> str:
        """What it has printed so far for people."""
        with self._grown:
            return "\n".join(self._lines)

    def wait_for(self, text: str, timeout_s: float = 300) -> bool:
        """Wait until a line has `text` in it; False if the command ended before."""
        deadline = time.monotonic() + timeout_s
        with self._grown:
            while not any(text in line for line in self._lines):
                if not self._reader.is_alive():
                    return False
                if not self._grown.wait(timeout=0.5) and time.monotonic() > deadline:
                    raise TimeoutError(f"no line with {text!r} in {timeout_s} s; so far:\n" + "\n".join(self._lines))
        return True

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send the command itself a signal."""
        self._process.send_signal(number)

    def end(self, timeout_s: float = 600) -> tuple[int, str]:
        """Wait for its end, once; return its exit status and its standard output."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        with self._process.stdout, self._process.stderr:
            output = self._process.stdout.read()
            status = self._process.wait(timeout=timeout_s)
            self._reader.join()
        return status, output

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


def splitbed(home: Path, *arguments: str) -> tuple[int, str, str]:
    """Run `splitbed` to its end; return exit status, standard output and what it said to people."""
    with Command(home, *arguments) as command:
        status, output = command.end()
        return status, output, command.said
