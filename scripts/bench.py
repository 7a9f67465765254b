"""`splitbed bench`: the benchmark from this machine, against any server that completes as vLLM does."""

import asyncio
import json
import os
import shlex
import time
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from benchmark.endpoint import Endpoint, json_object
from benchmark.planfile import PlanFileError, parse_plan
from benchmark.run import KEY_VARIABLE, Run, this_client
from benchmark.session import Tally
from benchmark.telling import special
from experiment.errors import SplitbedError
from experiment.posts import posts_plan
from experiment.printable import printable
from experiment.record import RepeatRecord
from experiment.workload import Plan

RESULTS = Path("results")
WIDTH = 160
"""Of the table where there is no terminal."""


class NoModelError(SplitbedError):
    """What the server serves cannot be learnt."""


class AlreadyBegunError(SplitbedError):
    """The run has records, and nobody said that it is to go on."""


def bench(
    url: Annotated[str, typer.Argument(help="The server, such as http://127.0.0.1:8000; its key in SPLITBED_API_KEY.")],
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A plan in JSON or YAML. Default: the tests of the posts.")
    ] = None,
    results: Annotated[Path, typer.Option(metavar="DIR", help="Directory for the records.")] = RESULTS,
    model: Annotated[str | None, typer.Option(help="Served name. Default: the plan's, or the first served.")] = None,
    run: Annotated[str | None, typer.Option(help="Run id: records are filed under it. Default: the plan's.")] = None,
    replica: Annotated[
        list[str] | None, typer.Option(metavar="URL", help="A replica's own address; may be given again.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run: what is finished is kept.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print what was measured as JSON.")] = False,
) -> None:
    """Measure a server by a plan, from this machine; each repeat is a record that stays, whatever ends the run.

    Ends with 0 if all was measured, with 1 if not, with 2 if it was refused, with 128 and its number after a signal.
    """
    errors = Console(stderr=True)
    chosen = _plan(url, plan, model, run)
    with _display(errors) as progress:
        task = progress.add_task(f"run {chosen.run}", total=len(chosen.repeats))

        def say(line: str) -> None:
            progress.console.print(Text(printable(line)), soft_wrap=True)

        def watch(tally: Tally) -> None:
            done = tally.before + tally.measured + tally.failed
            progress.update(task, completed=done, description=tally.doing or f"run {chosen.run}")

        started = Run(
            plan=chosen,
            url=url,
            results=results,
            replicas=replica or (),
            client=this_client(),
            say=say,
            complain=lambda line: progress.console.print(Text(printable(line), style="bold red"), soft_wrap=True),
            watch=watch,
        )
        if not resume:
            _unbegun(started)
        code = started.carry_out()
    records = [record for _, record in started.store.records() if isinstance(record, RepeatRecord)]
    if json_output:
        told = {"exit_code": code, "directory": str(started.store.directory), "plan_hash": chosen.hash}
        typer.echo(json.dumps(told | {"repeats": [_in_short(record) for record in records]}, indent=2))
    elif records:
        console = Console()
        if not console.is_terminal:
            console = Console(width=WIDTH)
        console.print(_table(records))
    if code:
        again = _again(url, plan, results, chosen, replica)
        errors.print(Text(f"To resume (finished repeats are kept): {again}"), soft_wrap=True)  # to be copied whole
    raise typer.Exit(code)


def _plan(url: str, path: Path | None, model: str | None, run: str | None) -> Plan:
    if path is None:
        chosen = posts_plan(model or asyncio.run(_served(Endpoint(url, time.monotonic, os.environ.get(KEY_VARIABLE)))))
    else:
        chosen = _read(path)
    changes = {name: value for name, value in (("model", model), ("run", run)) if value is not None}
    return parse_plan(json.dumps(chosen.model_dump(mode="json") | changes), path or Path("(the posts')"))


def _read(path: Path) -> Plan:
    """Read JSON, or YAML, of which JSON is a part."""
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanFileError(f"--plan {path}: {error.strerror or error}.", "Give the path of a plan.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        first = str(error).splitlines()[0]
        raise PlanFileError(f"--plan {path}: neither JSON nor YAML: {first}.", "Mend it.") from None
    try:
        return parse_plan(json.dumps(value), path)
    except TypeError:
        raise PlanFileError(f"--plan {path}: it holds what JSON cannot, such as a date.", "Put it in quotes.") from None


async def _served(endpoint: Endpoint) -> str:
    try:
        answer = json_object(await endpoint.ask("/v1/models"))
    except OSError as error:
        raise NoModelError(f"{endpoint.url}: no connection: {error}.", "Check the address and the server.") from None
    found = (answer or {}).get("data")
    if isinstance(found, list) and found and isinstance(found[0], dict) and isinstance(found[0].get("id"), str):
        return str(found[0]["id"])
    raise NoModelError(f"{endpoint.url}/v1/models names no model.", "Name the served model with --model.")


def _unbegun(started: Run) -> None:
    found = len(list(started.store.directory.glob("*.json")))
    if found:
        raise AlreadyBegunError(
            f"{started.store.directory} holds {found} finished repeats of this run and plan already.",
            "Go on with --resume, or begin another run with --run NAME.",
        )


def _display(console: Console) -> Progress:
    """A bar on a terminal; in a log, the lines alone."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


def _again(url: str, plan: Path | None, results: Path, chosen: Plan, replicas: list[str] | None) -> str:
    words = ["splitbed", "bench", url, *(["--plan", str(plan)] if plan else [])]
    words += ["--results", str(results), "--model", chosen.model, "--run", chosen.run]
    words += [word for one in replicas or () for word in ("--replica", one)]
    return shlex.join([*words, "--resume"])


def _in_short(record: RepeatRecord) -> dict[str, object]:
    figures = record.figures.model_dump(mode="json", exclude_none=True)
    return {
        "cell": record.cell,
        "repeat": record.repeat,
        "result": record.result,
        "why": record.why,
        "simulated": record.engine.simulated,
        "client_limited": None if record.verdict is None else record.verdict.client_limited,
        "disturbed": list(record.disturbed),
        "figures": figures,
    }


def _table(records: list[RepeatRecord]) -> Table:
    simulated = any(record.engine.simulated for record in records)
    table = Table(title="simulated: by Splitbed's stand-in engine" if simulated else None, title_justify="left")
    for name in ("test", "repeat", "TTFT p50", "per token p50", "longest gap", "tokens/s"):
        table.add_column(name, no_wrap=name == "test")
    table.add_column("", overflow="fold")
    for record in records:
        load = record.figures.load
        cells = ["", "", "", ""]
        if load is not None:
            times = (
                None if load.ttft_s is None else load.ttft_s.p50,
                None if load.tpot_s is None else load.tpot_s.p50,
                None if load.gaps_s is None else load.gaps_s.max,
            )
            cells = ["" if value is None else f"{value * 1000:.2f} ms" for value in times]
            cells.append("" if load.tokens_per_s is None else f"{load.tokens_per_s:.1f}")
        marks = special(record) if record.result == "finished" else [f"{record.result}: {record.why}"]
        if record.verdict is not None and record.verdict.client_limited:
            marks.append("client-limited")
        marks += ["disturbed"] if record.disturbed else []
        table.add_row(record.cell, str(record.repeat), *cells, Text(printable(", ".join(marks))))
    return table
