"""`splitbed plan`: what can be known of a stack before anything is made."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from experiment.errors import SplitbedError
from experiment.plan.plan import ExperimentPlan, make
from experiment.settings import ExpiredError
from report.plan_markdown import as_markdown
from report.plan_terminal import WIDTH, as_terminal
from scripts.errors import explain
from scripts.replacements import parsed
from stackfiles.stackfile import StackFile

STOPPED, BAD_INPUT = 1, 2


def plan(
    stack: Annotated[str, typer.Argument(help="A stack of stacks/, or the path of a stack file.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Replace a setting, as in --set engine.max_model_len=4096."),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the plan as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it for a comment on a pull request.")] = False,
) -> None:
    """Tell what a stack needs, where it lands, what it costs, and whether to split at all; nothing is made.

    Ends with 0 if `up` may go on, with 1 if it would stop, with 2 if the stack file cannot be read.
    """
    try:
        found = planned(stack, settings or [], datetime.now(UTC))
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
        console = Console()
        if not console.is_terminal or console.width > WIDTH:
            console = Console(width=WIDTH)
        console.print(as_terminal(found))
    raise typer.Exit(0 if found.goes else STOPPED)


def planned(stack: str, replacements: list[str], now: datetime) -> ExperimentPlan:
    """Return the plan of a stack, by name or by path, with settings replaced.

    Raises:
        SplitbedError: there is no such stack, or it cannot be read.
    """
    by_path = "/" in stack or stack.endswith((".yaml", ".yml"))
    file = StackFile.read(Path(stack)) if by_path else StackFile.of(stack)
    return make(file.replaced(parsed(replacements)).check(now), now)
