"""A verdict for a comment or a page, the answer first."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from report.plan_markdown import plain
from report.verdict import words
from report.verdict.verdict import Verdict


@dataclass(frozen=True)
class Picture:
    """A picture that lies beside the page; pictures of one title follow each other, under one caption."""

    title: str
    caption: str
    alt: str
    path: str


def as_markdown(verdict: Verdict, headline: str = "", pictures: Sequence[Picture] = ()) -> str:
    """Return the whole verdict, under a sentence of its own and with pictures if there are any."""
    return "\n".join(_lines(verdict, headline, pictures)).rstrip() + "\n"


def _lines(verdict: Verdict, headline: str, pictures: Sequence[Picture]) -> Iterator[str]:
    yield f"# {plain(' against '.join(one.topology for one in verdict.subjects))}"
    yield ""
    if headline:
        yield f"**{plain(headline)}**"
        yield ""
    for line in verdict.answer:
        yield f"- **{plain(line)}**"
    yield ""
    for line in verdict.cautions:
        yield f"> {plain(line)}"
        yield ">"
    yield ""
    rows: Iterable[Sequence[str]] = [(one.workload, one.topology, one.sure, one.why) for one in verdict.choices]
    yield from _table("Which to choose", ("for", "choose", "how sure", "why"), rows)
    rows = [(*words.compared(one), words.verdict(one)) for one in verdict.comparisons]
    columns = ("test", "figure", "first", "second", "change", "interval", "could have shown", "verdict")
    yield from _table("Comparisons", columns, rows)
    for before, one in zip((None, *pictures), pictures, strict=False):
        if before is None or before.title != one.title:
            yield from (f"## {plain(one.title)}", "", plain(one.caption), "")
        yield from (f"![{plain(one.alt)}]({one.path})", "")
    rows = [
        (
            one.topology,
            one.cell,
            one.cause,
            "; ".join(filter(None, [*map(words.share, one.shares), words.loss(one)])),
            f"{one.basis}. {one.remedy}",
        )
        for one in verdict.modes
    ]
    yield from _table("Modes", ("topology", "test", "cause", "share and gap of each", "told by"), rows)
    yield from _table("Pods", words.POD_COLUMNS, map(words.pod, verdict.pods))
    yield from _list("Crossover", [words.crossover(one) for one in verdict.crossovers])
    yield from _list("Within the objective", [words.capacity(one) for one in verdict.capacities])
    money = [words.hour(one) for one in verdict.money] + [words.price(one) for one in verdict.prices]
    yield from _list("Price", money)
    rows = [(one.topology, ", ".join(one.runs), str(one.repeats), one.model, one.engine) for one in verdict.subjects]
    yield from _table("What was run", ("topology", "runs", "repeats", "model", "engine"), rows)
    yield from _table(
        "Left out", ("topology", "what", "why"), [(one.topology, one.what, one.why) for one in verdict.left_out]
    )
    yield from _list("Method", [words.method(verdict.method), verdict.method.how])


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    found = list(rows)
    if not found:
        return
    yield from (f"## {title}", "", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}")
    for row in found:
        yield f"| {' | '.join(plain(cell) for cell in row)} |"
    yield ""


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from (f"## {title}", "", *(f"- {plain(line)}" for line in lines), "")
