"""`splitbed campaign`: topologies of one stack in turn on the same nodes, until the answer is clear."""

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from campaign import outline, topologies
from campaign.beginning import Prepared, prepared, utc_now
from campaign.campaign import End
from campaign.limits import minutes
from campaign.lives import Lives
from campaign.looks import places_of, results_of
from campaign.measuring import Measuring, Site
from campaign.pulumi_cli import OwnPulumi
from campaign.question import Question
from campaign.stacklives import StackLives
from campaign.status import Status
from experiment.benchmark import ClaimedResults, LocalResults
from experiment.errors import SplitbedError
from experiment.printable import printable
from experiment.settings import Settings, before_up
from rehearsal.home import home
from rehearsal.local import campaign_on_local_cluster
from rehearsal.locks import locked
from rehearsal.logroom import require_room
from rehearsal.progress import ConsoleProgress
from report.compare_terminal import as_terminal
from report.statistics.stopping import LOOKS
from report.verdict.reading import read
from report.verdict.verdict import Verdict
from scripts import stack as stacks
from scripts.compare import WIDTH, parsed_looks
from scripts.farsite import FarSite
from scripts.replacements import parsed

RESULTS = Path("results")
REPORT = "report"
DIFFERENCE = 10.0


def campaign(
    stack: Annotated[str, typer.Argument(help="A stack of stacks/, or the path of its file.")],
    topology: Annotated[
        list[str] | None,
        typer.Option(
            help="single, split, replicas, or a mapping as '{kind: split, pipeline: 3}'; give two or more, "
            "what the others are held against first."
        ),
    ] = None,
    looks: Annotated[
        str, typer.Option(help="Numbers of runs of each topology after which it may end; the last is the most.")
    ] = ",".join(map(str, LOOKS)),
    difference: Annotated[
        float,
        typer.Option(
            metavar="PERCENT", help="End at a look once a change of so much would be shown in every judged comparison."
        ),
    ] = DIFFERENCE,
    budget: Annotated[
        float | None, typer.Option(metavar="USD", help="What it may cost. Default: the stack's own budget.")
    ] = None,
    end: Annotated[
        Literal["none", "destroy", "keep"],
        typer.Option(help="The stack afterwards: topology none on nodes that stay, destroyed, or left as it is."),
    ] = "none",
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Journal and records. Default: results/STACK.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the order of turns.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Replace a setting, as in --set engine.max_model_len=4096."),
    ] = None,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="On a cluster on this machine that is made for it and taken down.")
    ] = False,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print order, expected time and money; nothing is made.")
    ] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print outline, journal and verdict as JSON.")] = False,
) -> None:
    """Let topologies of one stack take turns on the same nodes (A B B A), and judge them.

    Each turn is a new deployment, measured once. The same command goes on from wherever it was stopped, and measures
    nothing twice. The stack's file is not changed: turns are set in a private copy, by `pulumi up --config-file`.
    """
    name, _, file = stacks.located(stack)
    question = Question(
        stack=name,
        file=file.replaced(parsed(settings or [])),
        topologies=topologies.parsed(topology or []),
        seed=seed,
        looks=parsed_looks(looks),
        difference=_share(difference),
    )
    directory = (results or RESULTS / name).absolute()
    if rehearse and end != "none":
        raise SplitbedError(f"--end {end}: a rehearsal takes all down that it has made.", "Leave out --end.")
    chosen: End = "rehearsed" if rehearse else end
    if dry_run:
        _print_outline(prepared(question, directory, utc_now(), end=chosen, budget_usd=budget), json_output)
        return
    directory.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    with locked(directory / "lock", lambda line: console.print(line, soft_wrap=True, markup=False, highlight=False)):
        found = prepared(question, directory, utc_now(), end=chosen, budget_usd=budget)
        with display(found, console) as (progress, show):
            if rehearse:
                campaign_on_local_cluster(
                    home(),
                    name,
                    question.varied(),
                    progress,
                    parsed(settings or []),
                    lambda lives, _: carry_out(found, lives, progress, show),
                    keep=False,
                )
            else:
                carry_out(found, _own(found, progress, profile), progress, show)
        print_verdict(found, json_output)


def carry_out(found: Prepared, lives: Lives, progress: ConsoleProgress, show: Callable[[Status], None]) -> None:
    """Say what is to come, and do it; whoever stops it is told what goes on costing."""
    for line in outline.lines(found.outline(utc_now())):
        progress.note(line)
    try:
        found.carry_out(lives, progress, show)
    except KeyboardInterrupt:
        cost = f", and its nodes cost {found.limits.hour_usd:.2f} USD an hour" if found.limits.hour_usd else ""
        progress.step(f"the stack stays as it is now{cost}")
        raise


def print_verdict(found: Prepared, json_output: bool) -> None:
    """Print what was found, for a person or a program, and write the report beside the records."""
    verdict, stopped = found.verdict(), found.journal.stopped
    if verdict is not None:
        _report(found, verdict)
    if json_output:
        typer.echo(json.dumps(as_json(found), indent=2))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    if stopped is not None:
        console.print(Text(printable(f"Campaign {found.campaign.id} ended: {stopped.why}."), style="bold"))
    if verdict is None:
        console.print("No verdict: not every topology was measured.")
        return
    console.print(as_terminal(verdict))
    console.print(f"\nAgain at any time: {_again(found)}", soft_wrap=True, highlight=False)


def _report(found: Prepared, verdict: Verdict) -> None:
    from scripts.reporting import Reporting

    places = places_of(found.directory, found.campaign)
    Reporting(places, read(places), verdict, _again(found)).write(directory=found.directory / REPORT)


def _again(found: Prepared) -> str:
    """Return the command that judges the same records; money is in the plans, and not among what it is given."""
    places = map(str, results_of(found.directory, found.campaign))
    return shlex.join(["splitbed", "compare", *places, "--looks", ",".join(map(str, found.campaign.looks))])


def as_json(found: Prepared) -> dict[str, object]:
    """Return outline, what was done, and the verdict."""
    verdict, stopped, ended = found.verdict(), found.journal.stopped, found.journal.ended
    return {
        "campaign": found.campaign.model_dump(mode="json"),
        "outline": found.outline(utc_now()).model_dump(mode="json"),
        "turns": [turn.model_dump(mode="json") for turn in found.journal.measured.values()],
        "looks": [one.model_dump(mode="json") for one in found.journal.looks.values()],
        "stopped": None if stopped is None else stopped.why,
        "left": None if ended is None else ended.how,
        "verdict": None if verdict is None else verdict.model_dump(mode="json"),
    }


class Shown:
    """The bar of a terminal."""

    def __init__(self, bar: Bar, turns: int) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=turns)

    def __call__(self, status: Status) -> None:
        """Show how far it is."""
        spent = f", {status.spent_usd:.2f} USD" if status.spent_usd is not None else ""
        left = f"{minutes(status.left.seconds)} left at most{spent}"
        self._bar.update(self._task, completed=status.done, description=f"{status.label} ({left})")


@contextmanager
def display(found: Prepared, console: Console) -> Iterator[tuple[ConsoleProgress, Shown]]:
    """Show lines, and below them on a terminal a bar of turns."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        yield ConsoleProgress(bar.console), Shown(bar, found.campaign.turns)


def _print_outline(found: Prepared, json_output: bool) -> None:
    said = found.outline(utc_now())
    if json_output:
        typer.echo(said.model_dump_json(indent=2))
        return
    console = Console()
    for line in outline.lines(said):
        console.print(Text(printable(line)), soft_wrap=True)


def _share(percent: float) -> float:
    if not 0 < percent < 1000:
        raise SplitbedError(f"--difference {percent:g}: this is no change to be shown.", "Give per cent, such as 10.")
    return percent / 100


def _own(found: Prepared, progress: ConsoleProgress, profile: str | None) -> Lives:
    """Return the lives of the user's own stack."""
    settings = found.question.varied().check(utc_now())
    wrong = before_up(settings)
    if wrong:
        raise SplitbedError("\n".join(map(str, wrong)))
    pulumi = OwnPulumi.of(found.campaign.stack, found.directory)
    site = _site(pulumi.stack, settings, pulumi.config_file, progress.note, profile)
    measuring = Measuring(pulumi=pulumi, site=site, progress=progress)
    return StackLives(file=found.question.varied(), measuring=measuring)


def _site(stack: str, settings: Settings, file: Path, note: Callable[[str], None], profile: str | None) -> Site:
    """Return where its Jobs can be asked about.

    Raises:
        SplitbedError: its records could not come here.
    """
    benchmark = settings.benchmark
    if benchmark is None or isinstance(benchmark.results, LocalResults):
        raise SplitbedError(
            "benchmark.results: a directory of a cluster's node cannot be read from here.",
            "Take --set benchmark.results='{kind: claim}': records then come through the benchmark's log.",
        )
    if isinstance(benchmark.results, ClaimedResults):
        require_room(stack, benchmark)
    return FarSite(file=file, note=note, profile=profile)
