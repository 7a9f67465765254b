"""`splitbed compare`: an answer from the results of two or more topologies."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console

from experiment.errors import SplitbedError
from experiment.plan.plan import ExperimentPlan
from report.compare_markdown import as_markdown
from report.compare_terminal import as_terminal
from report.statistics.design import Design
from report.verdict.capacity import Money, hourly_by
from report.verdict.reading import Named, read
from report.verdict.verdict import judge

WIDTH = 160


def compare(
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULT...",
            help="Directories of records, the topology to hold others against first; LABEL=DIRECTORY names a topology.",
        ),
    ],
    hourly: Annotated[
        list[str] | None, typer.Option("--hourly", metavar="LABEL=USD", help="What an hour of a topology costs.")
    ] = None,
    plans: Annotated[
        list[str] | None,
        typer.Option(
            "--plan", metavar="LABEL=FILE", help="Take that from a plan, as `splitbed plan --json` prints it."
        ),
    ] = None,
    looks: Annotated[
        str | None,
        typer.Option(help="Numbers of runs after which the campaign might stop, as planned before it: 4,6,8."),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it for a page or a comment.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with charts besides: one file, no network.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write page, Markdown, verdict, and every picture as SVG and PNG besides."),
    ] = None,
) -> None:
    """Compare topologies by their results: the size of each difference, its interval, and a word where one is due.

    A run is one deployment, measured once; repeats within it are not runs. With one run of a topology results are
    described and not judged.
    """
    places = [_named(text) for text in results]
    reading = read(places)
    labels = [arm.label for arm in reading.arms]
    money = {
        one.topology: one
        for one in (
            *(_of_plan(text, labels) for text in plans or []),
            *(_of_hour(text, labels) for text in hourly or []),
        )
    }
    verdict = judge(reading, Design(looks=parsed_looks(looks)), money)
    if html is not None or report is not None:
        from scripts.reporting import Reporting

        Reporting(places, reading, verdict, _again(results, hourly, plans, looks)).write(html=html, directory=report)
    if json_output:
        typer.echo(verdict.to_json(), nl=False)
    elif markdown:
        typer.echo(as_markdown(verdict), nl=False)
    else:
        console = Console()
        if not console.is_terminal:
            console = Console(width=WIDTH)
        console.print(as_terminal(verdict))


def _again(results: Sequence[str], hourly: list[str] | None, plans: list[str] | None, looks: str | None) -> str:
    """Return the command that judges the same again."""
    options = [*(("--hourly", text) for text in hourly or []), *(("--plan", text) for text in plans or [])]
    options += [("--looks", looks)] if looks is not None else []
    return shlex.join(["splitbed", "compare", *results, *(word for option in options for word in option)])


def _named(text: str) -> Named:
    label, sign, path = text.partition("=")
    if Path(text).exists() or not sign or not label:
        return Named(Path(text))
    return Named(Path(path), label)


def parsed_looks(text: str | None) -> tuple[int, ...]:
    """Return numbers of runs in ascending order, none if none were given; raises SplitbedError if they are none."""
    if text is None:
        return ()
    try:
        looks = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        looks = ()
    if not looks or looks[0] < 1:
        raise SplitbedError(f"--looks {text}: these are no numbers of runs.", "Give them with commas: --looks 4,6,8.")
    return looks


def _of_hour(text: str, labels: Sequence[str]) -> Money:
    label, value = _pair("--hourly", text, labels)
    try:
        usd = float(value)
    except ValueError:
        usd = -1.0
    if not 0 <= usd < float("inf"):
        raise SplitbedError(
            f"--hourly {text}: {value!r} is no amount of dollars.", "Give it as in --hourly single=0.65."
        )
    return Money(topology=label, usd_per_hour=usd, source="--hourly")


def _of_plan(text: str, labels: Sequence[str]) -> Money:
    label, value = _pair("--plan", text, labels)
    remedy = "Give what `splitbed plan STACK --json` printed."
    try:
        plan = ExperimentPlan.model_validate_json(Path(value).read_bytes())
    except OSError as error:
        raise SplitbedError(f"--plan {value}: {error.strerror or error}.", remedy) from None
    except ValidationError:
        raise SplitbedError(f"--plan {value}: this is no plan.", remedy) from None
    found = hourly_by(plan, label)
    if found is None:
        raise SplitbedError(
            f"--plan {value}: the stack {plan.subject.name} pays for nothing itself.",
            f"Give --hourly {label}=USD instead.",
        )
    return found


def _pair(option: str, text: str, labels: Sequence[str]) -> tuple[str, str]:
    label, sign, value = text.rpartition("=")
    if not sign or label not in labels:
        raise SplitbedError(
            f"{option} {text}: {label or text!r} is none of the topologies.", f"They are {', '.join(labels)}."
        )
    return label, value
