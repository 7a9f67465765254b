"""A lease on a run, for results directories that several machines share: it ends by itself when its holder is gone.

On one machine the lock is enough, since the kernel lets go of it with the process. Over a network file system it may
not reach the other machine; there the holder's renewals are seen, or seen to have stopped.
"""

import json
import os
import secrets
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiment.errors import SplitbedError

LEASE_S = 30.0
"""A lease that nobody has renewed for that long has ended."""
_RENEWALS = 3
_LOOK_S = 1.0
BOOT = Path("/proc/sys/kernel/random/boot_id")


class RunLeasedError(SplitbedError):
    """Another machine measures this run."""


@dataclass
class Lease:
    """One holder's lease, kept in a file.

    Attributes:
        path: of the file.
        holder: who holds it, for people.
        seconds: after which it ends unless it is renewed.
        boot: what tells this machine from others.
        sleep: waits so many seconds.
        on_lost: called if somebody else has taken it, since this process was taken for dead.
    """

    path: Path
    holder: str
    seconds: float = LEASE_S
    boot: str = field(default_factory=lambda: _boot())
    sleep: Callable[[float], None] = time.sleep
    on_lost: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGTERM)
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    _renewed: int = 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold it; only for who has the lock of this machine already.

        Raises:
            RunLeasedError: its holder on another machine is alive.
        """
        self._wait_for_its_end()
        self.renew()
        over = threading.Event()
        renewing = threading.Thread(target=self._go_on, args=(over,), name="lease", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            over.set()
            renewing.join()
            if self._read().get("token") == self.token:
                self.path.unlink(missing_ok=True)

    def renew(self) -> None:
        """Write that it is held; what cannot be written is tried again with the next renewal."""
        self._renewed += 1
        content = {"token": self.token, "holder": self.holder, "boot": self.boot, "renewed": self._renewed}
        part = self.path.with_name(f".{self.path.name}.{self.token}.part")
        try:
            part.write_text(json.dumps(content))
            part.replace(self.path)
        except OSError:
            part.unlink(missing_ok=True)

    def _wait_for_its_end(self) -> None:
        found = self._read()
        if not found or found.get("boot") == self.boot:
            return  # of this machine, whose lock we have: it was left by a process that was killed
        waited_s = 0.0
        while waited_s < self.seconds:
            self.sleep(_LOOK_S)
            waited_s += _LOOK_S
            now = self._read()
            if not now:
                return
            if now != found:
                raise RunLeasedError(
                    f"{self.path}: this run is being measured already, by {now.get('holder')}.",
                    "Wait for its end, or give another run id.",
                )

    def _go_on(self, over: threading.Event) -> None:
        while not over.wait(self.seconds / _RENEWALS):
            if self._read().get("token", self.token) != self.token:
                self.on_lost()
                return
            self.renew()

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _boot() -> str:
    try:
        return BOOT.read_text().strip()
    except OSError:
        return ""
