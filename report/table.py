"""Summaries side by side, for a terminal and for a program."""

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape as escaped
from rich.table import Table
from rich.text import Text

from experiment.printable import printable
from experiment.record import Engine
from report.summary import Spread, Summary, TestSummary

_Key = tuple[str, str, int]


def as_json(summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """Return what `json.dumps` takes: one object a summary, figures in seconds, `simulated` beside them."""
    return [summary.model_dump(mode="json") | {"simulated": summary.simulated} for summary in summaries]


def escape(text: str) -> str:
    """Return a text as it is to be read: neither our markup nor the terminal obeys what a server wrote there."""
    return escaped(printable(text))


def as_table(summaries: Sequence[Summary]) -> RenderableType:
    """Return one column a summary and one section a test; tests of different prompt shapes share no section."""
    table = Table(title="One column a topology; median (range) over the repeats", title_justify="left")
    table.add_column("")
    for summary in summaries:
        mark = "\n[bold yellow]simulated[/]" if summary.simulated else ""
        table.add_column(f"{escape(summary.label)}{mark}", overflow="fold")
    table.add_row("pods", *(escape("\n".join(summary.nodes)) or "not known" for summary in summaries))
    if any(summary.about for summary in summaries):
        table.add_row("about", *(escape("\n".join(summary.about)) for summary in summaries))
    table.add_row("files", *(escape(str(summary.directory)) for summary in summaries), end_section=True)
    sections = [_sections(summary) for summary in summaries]
    for key in dict.fromkeys(key for found in sections for key in found):
        for name, cells in _rows([found.get(key) for found in sections]):
            table.add_row(name, *map(escape, cells))
        table.add_section()
    remarks = [
        Text(printable(f"{item.path}: not read: {item.reason}")) for found in summaries for item in found.unreadable
    ]
    if any(summary.simulated for summary in summaries):
        remarks.append(Text("simulated: by Splitbed's stand-in engine. Its figures say nothing about any model."))
    return Group(table, *remarks)


def _sections(summary: Summary) -> dict[_Key, TestSummary]:
    sections: dict[_Key, TestSummary] = {}
    for test in summary.tests:
        number = 0
        while (test.test, test.shape_hash, number) in sections:
            number += 1
        sections[test.test, test.shape_hash, number] = test
    return sections


def _rows(tests: Sequence[TestSummary | None]) -> list[tuple[str, list[str]]]:
    def row(name: str, cell: Any) -> tuple[str, list[str]]:
        return name, ["" if test is None else cell(test) for test in tests]

    return [
        row("test", lambda test: f"{test.test}: {test.output_tokens} tokens after {test.prompt_tokens}"),
        row("run, plan", lambda test: f"{test.run}, {test.plan_hash}"),
        row("engine", lambda test: _engine(test.engine)),
        row("repeats", lambda test: f"{test.repeats}" + (f", {test.failed} failed" if test.failed else "")),
        row("TTFT", lambda test: _milliseconds(test.ttft_s)),
        row("time per token", lambda test: _milliseconds(test.tpot_s)),
        row("longest gap", lambda test: _milliseconds(test.longest_gap_s)),
        row("tokens/s", lambda test: _plain(test.tokens_per_s)),
    ]


def _engine(engine: Engine) -> str:
    if engine.simulated:
        return (
            f"stand-in of vLLM {engine.version or '?'}, profile {(engine.standin or {}).get('profile', '?')}, simulated"
        )
    return f"vLLM {engine.version}" if engine.version else "version not known"


def _milliseconds(spread: Spread | None) -> str:
    if spread is None:
        return "not measured"
    return f"{spread.median * 1000:.2f} ms ({spread.low * 1000:.2f} to {spread.high * 1000:.2f})"


def _plain(spread: Spread | None) -> str:
    return "not measured" if spread is None else f"{spread.median:.1f} ({spread.low:.1f} to {spread.high:.1f})"
