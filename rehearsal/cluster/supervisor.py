"""Keeps a cluster's programs running: the work of the first process in its namespaces.

Standard library only: it must outlive everything else and stay small.
"""

import http.client
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from rehearsal.cluster.plan import Plan, Program
from stackfiles.atomic import write_atomically

PROGRAM_VARIABLE = "SPLITBED_PROGRAM"
LONGEST_PAUSE = 8.0
MOST_STARTS = 12
MOST_TRIES = 5
"""Of what is to succeed once."""
STARTS_WINDOW = 300.0
TICK = 0.1


@dataclass
class Run:
    """What the supervisor knows of one program."""

    program: Program
    process: subprocess.Popen[bytes] | None = None
    state: str = "waiting"  # then running, again waiting, done or failed
    starts: deque[float] = field(default_factory=deque)
    count: int = 0
    not_before: float = 0.0
    last_exit: int | None = None

    def record(self) -> dict[str, object]:
        """Return what the status file says of it."""
        pid = self.process.pid if self.process else None
        return {"state": self.state, "pid": pid, "starts": self.count, "last_exit": self.last_exit}


def answers(need: str, authority: str) -> bool:
    """Tell whether a need other than `done:` holds now; waits half a second at most."""
    kind, _, rest = need.partition(":")
    try:
        if kind == "unix":
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(0.5)
                client.connect(rest)
            return True
        if kind == "tcp":
            host, _, port = rest.rpartition(":")
            with socket.create_connection((host, int(port)), timeout=0.5):
                return True
        url = urlsplit(need)
        connection = (
            http.client.HTTPConnection(url.netloc, timeout=0.5)
            if kind == "http"
            else http.client.HTTPSConnection(
                url.netloc, timeout=0.5, context=ssl.create_default_context(cafile=authority)
            )
        )
        try:
            connection.request("GET", url.path)
            return connection.getresponse().status == 200
        finally:
            connection.close()
    except (OSError, http.client.HTTPException):
        return False


class Supervisor:
    """Starts what a plan names, in the order of its needs, and starts again what dies.

    A program that dies is started again after a pause that doubles up to `LONGEST_PAUSE` seconds, and is given up
    after `MOST_STARTS` starts within `STARTS_WINDOW` seconds, or `MOST_TRIES` if it is to succeed once. SIGHUP
    reads the plan again: new programs are started, those no longer named are killed. The loop ends when `hold`
    reports end of file before its one byte: whoever brought the cluster up is gone.
    """

    def __init__(
        self,
        plan_path: Path,
        hold: int,
        enter: Mapping[str, Callable[[], None]],
        say: Callable[[str], None],
        probe: Callable[[str, str], bool] = answers,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan_path = plan_path
        self._plan = Plan.load(plan_path)
        self._hold: int | None = hold
        self._enter = enter
        self._say = say
        self._probe = probe
        self._clock = clock
        self._runs: dict[str, Run] = {}
        self._dismissed: list[subprocess.Popen[bytes]] = []
        self._reload = False
        self._ended = False
        self._written = ""

    def run(self) -> None:
        """Supervise until the holder is gone or SIGTERM comes."""
        awake, wake = socket.socketpair()
        awake.setblocking(False)
        wake.setblocking(False)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGHUP, lambda *_: setattr(self, "_reload", True))
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "_ended", True))
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.adopt_plan()
        while not self._ended:
            self.tick()
            watched = [awake.fileno()] if self._hold is None else [awake.fileno(), self._hold]
            waiting = any(run.state == "waiting" for run in self._runs.values())
            ready, _, _ = select.select(watched, [], [], TICK if waiting else 30.0)
            if awake.fileno() in ready:
                awake.recv(4096)
            if self._hold in ready:
                self._heed_holder()

    def tick(self) -> None:
        """Reap, start what can be started, and write the status."""
        if self._reload:
            self._reload = False
            self.adopt_plan()
        self._reap()
        held: dict[str, bool] = {}
        for run in self._runs.values():
            due = run.state == "waiting" and self._clock() >= run.not_before
            if due and all(self._holds(need, held) for need in run.program.needs):
                self._start(run)
        status = json.dumps({name: run.record() for name, run in self._runs.items()}, indent=1)
        if status != self._written:
            write_atomically(Path(self._plan.status), status)
            self._written = status

    def adopt_plan(self) -> None:
        """Read the plan, end what it no longer names, and take up what it newly names."""
        self._plan = Plan.load(self._plan_path)
        wanted = {program.name: program for program in self._plan.programs}
        for name in [name for name, run in self._runs.items() if wanted.get(name) != run.program]:
            gone = self._runs.pop(name)
            if gone.process:
                gone.process.kill()
                self._dismissed.append(gone.process)
                self._say(f"{name} is no longer wanted")
        for name, program in wanted.items():
            self._runs.setdefault(name, Run(program))

    def _heed_holder(self) -> None:
        assert self._hold is not None  # noqa: S101 - the caller has just selected on it
        if not os.read(self._hold, 1):
            self._say("the command that brought this cluster up has ended before it was ready: ending")
            self._ended = True
        os.close(self._hold)
        self._hold = None

    def _holds(self, need: str, held: dict[str, bool]) -> bool:
        if need not in held:
            if need.startswith("done:"):
                run = self._runs.get(need.removeprefix("done:"))
                held[need] = run is not None and run.state == "done"
            else:
                held[need] = self._probe(need, self._plan.authority)
        return held[need]

    def _start(self, run: Run) -> None:
        program, now = run.program, self._clock()
        run.starts.append(now)
        run.count += 1
        environment = {**os.environ, PROGRAM_VARIABLE: program.name}
        try:
            with Path(program.log).open("ab") as log:
                run.process = subprocess.Popen(
                    program.argv,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=environment,
                    cwd="/",
                    start_new_session=True,
                    pass_fds=[program.listener] if program.listener >= 0 else [],
                    preexec_fn=self._enter.get(program.node),  # safe: there are no threads here
                )
        except (OSError, subprocess.SubprocessError) as error:
            self._say(f"{program.name} cannot be started: {error}")
            self._settle(run, 127)
            return
        run.state = "running"
        self._say(f"{program.name} started as {run.process.pid}")

    def _reap(self) -> None:
        """Collect every child that has ended, also those that were left to us by their parents."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            for run in self._runs.values():
                if run.process and run.process.pid == pid:
                    run.process.returncode = code
                    self._settle(run, code)
            for process in [process for process in self._dismissed if process.pid == pid]:
                process.returncode = code
                self._dismissed.remove(process)

    def _settle(self, run: Run, code: int) -> None:
        run.process, run.last_exit = None, code
        name, now = run.program.name, self._clock()
        if run.program.once and code == 0:
            run.state = "done"
            self._say(f"{name} is done")
            return
        while run.starts and run.starts[0] < now - STARTS_WINDOW:
            run.starts.popleft()
        if len(run.starts) >= (MOST_TRIES if run.program.once else MOST_STARTS):
            run.state = "failed"
            self._say(f"{name} ended with {code}, {len(run.starts)} starts in {STARTS_WINDOW:.0f} s: given up")
            return
        pause = min(0.25 * 2 ** (len(run.starts) - 1), LONGEST_PAUSE) if run.starts else 0.0
        run.state, run.not_before = "waiting", now + pause
        self._say(f"{name} ended with {code}: again in {pause:.2f} s")


def say(text: str) -> None:
    """Write a line with the time to the supervisor's log."""
    print(time.strftime("%H:%M:%S", time.gmtime()), text, file=sys.stderr, flush=True)
