"""One start of the benchmark: from a plan and an address to an exit code, with signals, a lock and last words."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue

from benchmark.cluster.apiserver import ApiServer
from benchmark.cluster.surroundings import in_cluster
from benchmark.endpoint import Endpoint
from benchmark.lock import run_lock
from benchmark.session import RefusedPlanError, Session, Surroundings, Tally
from benchmark.store import Store, StoreError
from experiment.asked import Asked
from experiment.errors import SplitbedError
from experiment.handout import record_line
from experiment.record import Client, SessionRecord
from experiment.workload import Plan

FAILED = 1
KEY_VARIABLE = "SPLITBED_API_KEY"
"""Environment variable with the server's key, sent as a bearer token and written nowhere."""

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Run:
    """What to measure, where, and whom to tell.

    Attributes:
        plan: the tests.
        url: address under test.
        results: directory for the records.
        replicas: addresses of the replicas themselves.
        asked: what the stack asked for, inside its cluster; there, pods are looked at, and killed for the loss test.
        topology: as the stack deployed it.
        client: where this runs.
        print_records: print every record at the end, one a line.
        say: takes a line of a log.
        complain: takes a line about what went wrong.
        watch: hears how far the run is, after each repeat.
    """

    plan: Plan
    url: str
    results: Path
    client: Client
    say: Say
    complain: Say
    replicas: Sequence[str] = ()
    asked: Asked | None = None
    topology: dict[str, JsonValue] | None = None
    print_records: bool = False
    watch: Callable[[Tally], None] = lambda _: None

    @property
    def store(self) -> Store:
        """Where the records of this run and plan lie."""
        return Store(self.results, self.plan.run, self.plan.hash)

    def carry_out(self) -> int:
        """Measure; 0: all measured, 1: not all, 128 + n: stopped by signal n.

        Raises:
            SplitbedError: refused before anything was measured.
        """
        endpoint, *replicas = (Endpoint(url, time.monotonic, os.environ.get(KEY_VARIABLE)) for url in self._urls())
        surroundings = Surroundings(topology=self.topology, replicas=replicas)
        if self.asked is not None:
            api = ApiServer.of_this_pod(time.monotonic)
            surroundings = in_cluster(surroundings, self.asked, api, time.monotonic, self.client.node)
        store = self.store
        store.prepare()
        since = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        holder = f"process {os.getpid()} of {self.client.pod or self.client.host}, since {since}"
        with run_lock(store.lock_path, holder):
            store.tidy()
            session = Session(self.plan, endpoint, store, self.client, surroundings, self.say)
            return self._measure(session, store)

    def _urls(self) -> tuple[str, ...]:
        return (self.url, *self.replicas)

    def _measure(self, session: Session, store: Store) -> int:
        """Run the session to its end, whatever ends it, and leave a session record."""
        started_at = datetime.now(UTC)
        session.on_progress = self.watch
        try:
            stopped_by = asyncio.run(_until_signal(session))
        except RefusedPlanError:
            raise
        except SplitbedError as error:
            code, ending = FAILED, str(error)
        else:
            if stopped_by is not None:
                code, ending = 128 + stopped_by, f"stopped by {stopped_by.name}."
            else:
                code = 0 if session.tally.complete and not session.tally.failed else FAILED
                ending = "" if code == 0 else "Not every request succeeded."
        record = SessionRecord(
            run=self.plan.run,
            plan_hash=self.plan.hash,
            started_at=started_at,
            ended_at=datetime.now(UTC),
            exit_code=code,
            ending=ending or "complete",
            measured=session.tally.measured,
            failed=session.tally.failed,
            client=self.client,
        )
        try:
            store.keep(record)
        except StoreError as error:
            self.complain(str(error))
            code = code or FAILED
        if self.print_records:  # before the last words, which are to be the last
            handed_out = self._hand_out(store)
            code = code or handed_out
        self.say(f"{session.tally}; records in {store.directory}")
        if ending:
            self.complain(ending)
        return code

    def _hand_out(self, store: Store) -> int:
        try:
            for path, record in store.records():
                self.say(record_line(path, record))
        except StoreError as error:
            self.complain(str(error))
            return FAILED
        return 0


def this_client() -> Client:
    """Return where this process runs, by the environment that the Job gives it."""
    return Client(pod=os.environ.get("POD_NAME"), node=os.environ.get("NODE_NAME"), host=socket.gethostname())


async def _until_signal(session: Session) -> signal.Signals | None:
    """Run the session; SIGTERM or SIGINT ends it where it stands, and is returned."""
    received: list[signal.Signals] = []
    task = asyncio.ensure_future(session.run())

    def stop(number: signal.Signals) -> None:
        received.append(number)
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    try:
        await task
    except asyncio.CancelledError:
        if not received:
            raise
    return received[0] if received else None
