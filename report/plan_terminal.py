"""A plan for a terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from experiment.plan import words
from experiment.plan.cache import Cache
from experiment.plan.duration import Duration
from experiment.plan.memory import Memory
from experiment.plan.money import Money
from experiment.plan.placement import Placement
from experiment.plan.plan import ExperimentPlan

WIDTH = 110
"""Columns for which it is laid out; a narrower terminal folds the text."""

_DIM, _GOOD, _BAD, _WARN = "grey62", "green", "bold red", "yellow"
_COLOURS = {"weights": "steel_blue1", "engine": "grey58", "KV cache": "medium_spring_green", "/dev/shm": "plum3"}  # noqa: S108
_BAR = 34


def as_terminal(plan: ExperimentPlan) -> RenderableType:
    """Return the whole plan, what decides first."""
    parts: list[RenderableType] = [_head(plan)]
    if plan.refusals or plan.advice:
        parts.append(_judgement(plan))
    if plan.memory is not None:
        parts.append(_section("Memory", _memory(plan.memory)))
    if plan.cache is not None:
        parts.append(_section("KV cache", _cache(plan.cache)))
    parts.append(_section("Placement", _placement(plan.placement)))
    parts.append(_section("Time", _time(plan.duration)))
    if plan.money is not None:
        parts.append(_section("Money", _money(plan.money)))
    if plan.unknown:
        parts.append(_section("Not known", Group(*(Text(one) for one in plan.unknown))))
    return Group(*parts)


def _section(title: str, content: RenderableType) -> Panel:
    return Panel(
        content, title=Text(title, style="bold"), title_align="left", box=box.ROUNDED, border_style=_DIM, padding=(0, 1)
    )


def _head(plan: ExperimentPlan) -> RenderableType:
    subject = plan.subject
    verdict = Text(words.verdict(plan), style=f"bold {_GOOD}" if plan.goes else _BAD)
    top = Table.grid(expand=True)
    top.add_column()
    top.add_column(justify="right")
    top.add_row(Text(subject.name, style="bold"), verdict)
    lines: list[RenderableType] = [
        top,
        Text(f"{subject.model}, {subject.topology}"),
        Text(f"{subject.nodes}, {subject.where}; {subject.engine}"),
        Text(f"{subject.purpose} ({subject.owner}; {words.ends(subject.end_date)})", style=_DIM),
    ]
    return Panel(Group(*lines), box=box.HEAVY, border_style=_GOOD if plan.goes else "red", padding=(0, 1))


def _judgement(plan: ExperimentPlan) -> Panel:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column()
    for refusal in plan.refusals:
        table.add_row(Text("refused", style=_BAD), _named(refusal.name, f"{refusal.text} {refusal.remedy}"))
    for one in plan.advice:
        mark = Text("mistake", style=_BAD) if one.stops else Text("accepted" if one.mistake else "note", style=_WARN)
        table.add_row(mark, _named(one.name, one.text))
    return _section("Advice", table)


def _named(name: str, text: str) -> Text:
    return Text.assemble((name, "bold"), "  ", text)


def _memory(memory: Memory) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=_DIM)
    table.add_column(memory.where)
    table.add_column("", width=_BAR)
    table.add_column("takes", justify="right")
    table.add_column("of")
    for share in memory.largest.shares:
        table.add_column(Text(share.what, style=_COLOURS.get(share.what, "")), justify="right")
    for stage in memory.stages:
        parts = [(share.high_gib, _COLOURS.get(share.what, "white")) for share in stage.shares]
        table.add_row(
            words.stage(stage, len(memory.stages)),
            bar(parts, memory.limit_gib, _BAR),
            words.gib_range(stage.low_gib, stage.high_gib),
            f"{memory.limit_gib:.4g} GiB",
            *(words.gib_range(share.low_gib, share.high_gib) for share in stage.shares),
        )
    return Group(table, *(Text(line, style=_DIM) for line in words.memory_lines(memory)))


def _cache(cache: Cache) -> RenderableType:
    style = "" if cache.fits else _BAD
    return Group(Text(words.cache(cache), style=style), *(Text(f"{line}", style=_DIM) for line in cache.assumptions))


def _placement(placement: Placement) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=_DIM)
    for name, justify in (
        ("node", "left"),
        ("", "left"),
        ("pods", "left"),
        ("CPU left", "right"),
        ("GiB left", "right"),
    ):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    for room, count in words.alike(placement.nodes):
        table.add_row(
            Text(room.name if count == 1 else f"{room.name} and {count - 1} like it"),
            Text(room.instance or "declared", style=_DIM),
            Text(words.pods(room)),
            f"{room.free_cpu_millicores / 1000:.2f} of {room.cpu_millicores / 1000:.2f}",
            f"{room.free_memory_mib / 1024:.1f} of {'~' if room.estimated else ''}{room.memory_mib / 1024:.1f}",
        )
    return Group(table, *(Text(f"{one}.", style=_BAD if one.least else _WARN) for one in placement.waiting))


def _time(duration: Duration) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style=_DIM)
    for step in duration.steps:
        table.add_row(step.name, words.clock(step.seconds), f"{step.basis}: {step.source}")
    for name, value, remark in words.totals(duration):
        table.add_row(Text(name, style="bold"), Text(value, style="bold"), remark)
    return table


def _money(money: Money) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style=_DIM)
    for line in money.hourly:
        table.add_row(line.what, words.usd(line.usd, 4), line.basis)
    for use in money.once:
        table.add_row(use.what, words.usd(use.usd, 2), use.basis)
    for name, value, remark in words.sums(money):
        table.add_row(Text(name, style="bold"), Text(value, style="bold"), remark)
    return table


def bar(parts: Sequence[tuple[float, str]], whole: float, width: int) -> Text:
    """Return a bar of coloured parts; what goes beyond the whole ends it in red."""
    text, drawn, total = Text(), 0, 0.0
    for size, colour in parts:
        total += size
        end = min(round(total / whole * width), width)
        text.append("█" * (end - drawn), style=colour)
        drawn = max(drawn, end)
    text.append("·" * (width - drawn), style=_DIM)
    if total > whole:
        text.right_crop(1)
        text.append("▶", style=_BAD)
    return text
