"""`splitbed plan`: what can be known of a stack before anything is made."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from experiment.cluster import EksCluster
from experiment.errors import SplitbedError
from experiment.makespan.times import Times, times
from experiment.plan.plan import ExperimentPlan, make
from experiment.settings import KEY, ExpiredError
from experiment.waits import Wait
from report.plan_markdown import as_markdown
from report.plan_terminal import WIDTH, as_terminal
from scripts.consoles import wide_console
from scripts.errors import explain
from scripts.replacements import parsed
from scripts.stack import located
from stackfiles.stackfile import StackFile, stacks

STOPPED, BAD_INPUT = 1, 2
NARROWEST = 80
PAGES_NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
"""For which the documentation's plans are made."""


def plan(
    stack: Annotated[str | None, typer.Argument(help="A stack of stacks/, or the path of a stack file.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Replace a setting, as in --set engine.max_model_len=4096."),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it for a comment on a pull request.")] = False,
    chain: Annotated[
        bool, typer.Option("--chain", help="Print instead how long `up` and `destroy` take, and what they wait for.")
    ] = False,
    pages_in: Annotated[
        Path | None, typer.Option("--pages", help="Write the plans of all stacks into this directory instead.")
    ] = None,
) -> None:
    """Tell what a stack needs, where it lands, what it costs, and whether to split at all; nothing is made.

    Ends with 0 if `up` may go on, with 1 if it would stop, with 2 if the stack file cannot be read.
    """
    forms = json_output or markdown or chain
    if markdown and (json_output or chain):
        raise SplitbedError("--markdown has a form of its own.", "Leave it out, or leave out --json and --chain.")
    if pages_in is not None and (stack is not None or settings or forms):
        raise SplitbedError(
            "--pages writes the plans of all stacks, as they are and each in its own form.",
            "Leave out whatever else was named, or leave out --pages.",
        )
    if pages_in is not None:
        write_pages(pages_in)
        return
    if stack is None:
        explain(SplitbedError("No stack is named.", f"Name one of {', '.join(stacks())}, or the path of a stack file."))
        raise typer.Exit(BAD_INPUT)
    try:
        now = datetime.now(UTC)
        file = read(stack, settings or [])
        found = make(file.check(now), now)
        if chain and found.goes:
            _print_chain(chained(file, found), json_output=json_output)
            return
    except ExpiredError as error:
        explain(error)
        raise typer.Exit(STOPPED) from None
    except SplitbedError as error:
        explain(error)
        raise typer.Exit(BAD_INPUT) from None
    if json_output:
        typer.echo(found.to_json(), nl=False)
    elif markdown:
        typer.echo(as_markdown(found), nl=False)
    else:
        wide_console(NARROWEST, WIDTH).print(as_terminal(found))
    raise typer.Exit(0 if found.goes else STOPPED)


def write_pages(directory: Path) -> None:
    """Write the plans of all tracked stacks, for a fixed moment."""
    from report.plan_pages import pages

    found = dict(pages([(stack, planned(stack, [], PAGES_NOW)) for stack in stacks()], PAGES_NOW))
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in found.items():
        (directory / name).write_text(text, encoding="utf-8")


def planned(stack: str, replacements: list[str], now: datetime) -> ExperimentPlan:
    """Return the plan of a stack, by name or by path, with settings replaced.

    Raises:
        SplitbedError: there is no such stack, or it cannot be read.
    """
    return make(read(stack, replacements).check(now), now)


def read(stack: str, replacements: list[str]) -> StackFile:
    """Return a stack's file, by name or by path, with settings replaced; raises as `planned`."""
    _, _, file = located(stack)
    return file.replaced(parsed(replacements))


def chained(file: StackFile, plan: ExperimentPlan) -> Times:
    """Return how long the stack takes to come and to go, as its program orders it, run here under a monitor.

    Raises:
        SplitbedError: it makes no cluster, and what it waits for is then the cluster's business.
    """
    from rehearsal.recording import run

    if not isinstance(file.check(plan.now).cluster, EksCluster):
        raise SplitbedError(
            "This stack makes no cluster, so there is nothing to wait for but pods.", "Name one with cluster.kind: eks."
        )
    day = {
        "end_date": (plan.now + timedelta(days=1)).isoformat(timespec="seconds")
    }  # any: what ends the nodes is made with an end alone
    settings = day | {key: value for key, value in file.document["config"][KEY].items() if key != "budget"}
    seconds = plan.duration.serving_s
    serving = Wait(0, source="not known") if seconds is None else Wait(seconds, "scaled", "as `splitbed plan` has it")
    return times(run(settings, preview=True).resources, serving)


def _print_chain(found: Times, *, json_output: bool) -> None:
    from report.makespan_terminal import as_data, as_terminal

    if json_output:
        typer.echo(json.dumps(as_data(found), indent=1))
    else:
        wide_console(NARROWEST, WIDTH).print(as_terminal(found))
