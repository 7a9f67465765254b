"""Markdown as GitHub shows it: tables, and what is folded away."""

from collections.abc import Iterable, Iterator, Sequence


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines below a title that opens them."""
    yield f"<details><summary>{title}</summary>"
    yield ""
    yield from lines
    yield "</details>"
    yield ""


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table; its cells must be fit for one."""
    yield f"| {' | '.join(headers)} |"
    yield f"|{' --- |' * len(headers)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
