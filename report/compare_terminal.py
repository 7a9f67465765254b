"""A verdict for a terminal, the answer first."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from experiment.printable import printable
from report.verdict import words
from report.verdict.verdict import Verdict

_WORDS = {"faster": "bold green", "slower": "bold red", "no difference shown": "bold"}


def as_terminal(verdict: Verdict) -> RenderableType:
    """Return the whole verdict."""
    parts: list[RenderableType] = [Text(printable(line), style="bold") for line in verdict.answer]
    parts += [Text(printable(line), style="yellow") for line in verdict.cautions]
    parts += [_choices(verdict), _comparisons(verdict), *_sections(verdict)]
    return Group(*parts)


def _choices(verdict: Verdict) -> RenderableType:
    rows = [(one.workload, one.topology, one.sure, one.why) for one in verdict.choices]
    return _table("Which to choose", ("for", "choose", "how sure", "why"), rows)


def _comparisons(verdict: Verdict) -> RenderableType:
    table = Table(title="Comparisons", title_justify="left", title_style="bold")
    for column in ("test", "figure", "first", "second", "change", "interval", "could show", "verdict"):
        table.add_column(column, overflow="fold")
    for one in verdict.comparisons:
        said = Text(printable(words.verdict(one)), style=_WORDS.get(one.word or "", "bright_black"))
        table.add_row(*(Text(printable(cell)) for cell in words.compared(one)), said)
    return table


def _sections(verdict: Verdict) -> Iterable[RenderableType]:
    if verdict.modes:
        rows = [
            (
                one.topology,
                one.cell,
                one.cause,
                "\n".join([*map(words.share, one.shares), words.loss(one)]).rstrip(),
                f"{one.basis}. {one.remedy}",
            )
            for one in verdict.modes
        ]
        yield _table("Modes", ("topology", "test", "cause", "share and gap of each", "told by"), rows)
    if verdict.pods:
        yield _table("Pods", words.POD_COLUMNS, map(words.pod, verdict.pods))
    yield from _lines("Crossover", [words.crossover(one) for one in verdict.crossovers])
    yield from _lines("Within the objective", [words.capacity(one) for one in verdict.capacities])
    yield from _lines(
        "Price", [words.hour(one) for one in verdict.money] + [words.price(one) for one in verdict.prices]
    )
    rows = [(one.topology, ", ".join(one.runs), str(one.repeats), one.model, one.engine) for one in verdict.subjects]
    yield _table("What was run", ("topology", "runs", "repeats", "model", "engine"), rows)
    if verdict.left_out:
        left = [(one.topology, one.what, one.why) for one in verdict.left_out]
        yield _table("Left out", ("topology", "what", "why"), left)
    yield from _lines("Method", [words.method(verdict.method), verdict.method.how])


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> RenderableType:
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def _lines(title: str, lines: Sequence[str]) -> Iterable[RenderableType]:
    if lines:
        yield Text(f"\n{title}", style="bold")
        yield from (Text(printable(line)) for line in lines)
