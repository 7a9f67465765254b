"""`python3 -m benchmark run`: the command of the benchmark Job, and of anybody with a server's URL."""

import argparse
import asyncio
import os
import shlex
import signal
import socket
import sys
import textwrap
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue, TypeAdapter, ValidationError

from benchmark.endpoint import Endpoint
from benchmark.lock import run_lock
from benchmark.session import Session, Surroundings
from benchmark.store import Store, StoreError
from experiment.errors import SplitbedError
from experiment.handout import record_line
from experiment.record import Client, SessionRecord
from experiment.workload import Plan

FAILED, REFUSED = 1, 2


class PlanFileError(SplitbedError):
    """The plan cannot be read."""


class TopologyError(SplitbedError):
    """The topology told by the environment cannot be read."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; exit code 0: all measured, 1: not all, 2: refused, 128 + n: stopped by signal n."""
    parser = argparse.ArgumentParser(prog="python3 -m benchmark", description="Measure an OpenAI-compatible server.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="measure what a plan asks for and has no record yet")
    run.add_argument("--plan", type=Path, required=True, help="the plan, a JSON file")
    run.add_argument("--url", required=True, help="the server, such as http://127.0.0.1:8000")
    run.add_argument("--results", type=Path, required=True, help="directory for the records")
    run.add_argument(
        "--print-records", action="store_true", help="print every record of the run at its end, one a line"
    )
    arguments = parser.parse_args(argv)
    try:
        plan = _read_plan(arguments.plan)
        topology = _read_topology(os.environ.get("SPLITBED_TOPOLOGY"))
        endpoint = Endpoint(arguments.url, time.monotonic)
        store = Store(arguments.results, plan.run, plan.hash)
        store.prepare()
        client = Client(pod=os.environ.get("POD_NAME"), node=os.environ.get("NODE_NAME"), host=socket.gethostname())
        since = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
        holder = f"process {os.getpid()} of {client.pod or client.host}, since {since}"
        with run_lock(store.lock_path, holder):
            store.tidy()
            session = Session(plan, endpoint, store, client, Surroundings(topology=topology), _say)
            code = _measure(session, plan, store, client, print_records=arguments.print_records)
    except SplitbedError as error:
        _complain(str(error))
        return REFUSED
    if code:
        _complain(_how_to_resume(arguments, client))
    return code


def _measure(session: Session, plan: Plan, store: Store, client: Client, *, print_records: bool) -> int:
    """Run the session to its end, whatever ends it, and leave a session record; print all records if asked to."""
    started_at = datetime.now(UTC)
    try:
        stopped_by = asyncio.run(_until_signal(session))
    except SplitbedError as error:
        code, ending = FAILED, str(error)
    else:
        if stopped_by is not None:
            code, ending = 128 + stopped_by, f"stopped by {stopped_by.name}."
        else:
            code = 0 if session.tally.complete and not session.tally.failed else FAILED
            ending = "" if code == 0 else "Not every request succeeded."
    record = SessionRecord(
        run=plan.run,
        plan_hash=plan.hash,
        started_at=started_at,
        ended_at=datetime.now(UTC),
        exit_code=code,
        ending=ending or "complete",
        measured=session.tally.measured,
        failed=session.tally.failed,
        client=client,
    )
    try:
        store.keep(record)
    except StoreError as error:
        _complain(str(error))
        code = code or FAILED
    if print_records:  # before the last words, which are to be the last
        handed_out = _hand_out(store)
        code = code or handed_out
    _say(f"{session.tally}; records in {store.directory}")
    if ending:
        _complain(ending)
    return code


def _hand_out(store: Store) -> int:
    try:
        for path, record in store.records():
            _say(record_line(path, record))
    except StoreError as error:
        _complain(str(error))
        return FAILED
    return 0


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


def _read_plan(path: Path) -> Plan:
    try:
        return Plan.model_validate_json(path.read_bytes())
    except OSError as error:
        raise PlanFileError(f"--plan {path}: {error.strerror or error}.", "Give the path of a plan.") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        found = textwrap.shorten(repr(first["input"]), 100)
        raise PlanFileError(
            f"--plan {path}: {where}: {first['msg']}, found {found}.",
            "Mend the plan, or let Splitbed write it from a stack file.",
        ) from None


def _read_topology(text: str | None) -> dict[str, JsonValue] | None:
    if text is None:
        return None
    try:
        return TypeAdapter(dict[str, JsonValue]).validate_json(text)
    except ValidationError:
        raise TopologyError(f"SPLITBED_TOPOLOGY: {text!r} is no JSON object.", "Unset it, or mend it.") from None


def _how_to_resume(arguments: argparse.Namespace, client: Client) -> str:
    if client.pod:
        return "To resume (finished repeats are kept): set the stack's benchmark.attempt one higher, then `up`."
    words = ["python3", "-m", "benchmark", "run", "--plan", str(arguments.plan), "--url", arguments.url]
    words += ["--results", str(arguments.results), *(["--print-records"] if arguments.print_records else [])]
    command = shlex.join(words)
    return f"To resume (finished repeats are kept), run again: {command}"


def _say(line: str) -> None:
    print(line, flush=True)


def _complain(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
