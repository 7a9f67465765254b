"""A plan for a terminal."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from experiment.plan import words
from experiment.plan.memory import Memory
from experiment.plan.money import Money
from experiment.plan.placement import Placement
from experiment.plan.plan import ExperimentPlan
from experiment.plan.speed import Speed

WIDTH = 110
"""Columns for which it is laid out; a narrower terminal folds the text."""

_DIM, _GOOD, _BAD, _WARN = "bright_black", "green", "red", "yellow"
_COLOURS = ("steel_blue1", "grey50", "medium_spring_green", "plum3")
"""Of the shares of memory, in their order."""
_BAR = 52


def as_terminal(plan: ExperimentPlan) -> RenderableType:
    """Return the whole plan, what decides first."""
    parts: list[RenderableType] = [_head(plan)]
    if plan.refusals or plan.advice:
        parts.append(_section("Advice", _advice(plan)))
    if plan.memory is not None:
        parts.append(_section("Memory", _memory(plan.memory)))
    if plan.cache is not None:
        said = Text(words.cache(plan.cache), style="" if plan.cache.fits else _BAD)
        parts.append(_section("KV cache", said))
    parts.append(_section("Placement", _placement(plan.placement)))
    if plan.duration.steps or plan.duration.benchmark_longest_s is not None:
        parts.append(_section("Time", _rows(words.steps(plan.duration), words.totals(plan.duration))))
    if plan.money is not None:
        parts.append(_section("Money", _money(plan.money)))
    if plan.speed is not None:
        parts.append(_section("Expected speed, to first order", _speed(plan.speed)))
    if plan.unknown:
        parts.append(_section("Not known", Group(*(Text(one) for one in plan.unknown))))
    return Group(*parts)


def _section(title: str, content: RenderableType) -> Panel:
    shown = Text(f" {title} ", style="bold white")
    return Panel(content, title=shown, title_align="left", box=box.ROUNDED, border_style=_DIM, padding=(0, 1))


def _head(plan: ExperimentPlan) -> Panel:
    colour = _GOOD if plan.goes else _BAD
    top = Table.grid(expand=True)
    top.add_column()
    top.add_column(justify="right")
    top.add_row(Text(plan.subject.name, style="bold"), Text(words.verdict(plan), style=f"bold {colour}"))
    figures = Table.grid(padding=(0, 4, 0, 0))
    found = list(words.figures(plan))
    figures.add_row(*(Text(name, style=_DIM) for name, _ in found))
    figures.add_row(*(Text(value, style="bold") for _, value in found))
    lines: list[RenderableType] = [
        top,
        Text(f"{plan.subject.model}, {plan.subject.topology}"),
        Text(words.where(plan)),
        Text(words.what_for(plan), style=_DIM),
    ]
    if found:
        lines.append(Padding(figures, (1, 0, 0, 0)))
    return Panel(Group(*lines), box=box.HEAVY, border_style=colour, padding=(0, 1))


def _advice(plan: ExperimentPlan) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for refusal in plan.refusals:
        table.add_row(Text("refused", style=f"bold {_BAD}"), _named(refusal.name, f"{refusal.text} {refusal.remedy}"))
    for one in plan.advice:
        mark = Text("mistake", style=f"bold {_BAD}") if one.stops else Text("accepted" if one.mistake else "note")
        if not one.stops:
            mark.stylize(_WARN if one.mistake else _DIM)
        table.add_row(mark, _named(one.name, one.text))
    return table


def _named(name: str, text: str) -> Text:
    return Text.assemble((f"{name}  ", "bold"), text)


def _memory(memory: Memory) -> Group:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, stage in words.stages(memory):
        shares = list(zip(stage.shares, _COLOURS, strict=False))
        line = bar([(share.high_gib, colour) for share, colour in shares], memory.limit_gib, _BAR)
        line.append(f"  {words.gib_of(stage, memory)} GiB", style="bold")
        table.add_row(name, line)
        legend = Text("  ").join(
            Text.assemble(("■ ", colour), f"{share.what} {words.gib_range(share.low_gib, share.high_gib)}")
            for share, colour in shares
        )
        table.add_row("", legend)
    return Group(table, *(Text(line, style=_DIM) for line in words.memory_lines(memory)))


def _placement(placement: Placement) -> Group:
    table = _table("node", "", "pods", "CPU left", "GiB left")
    for column in table.columns[3:]:
        column.justify = "right"
        column.no_wrap = True
    for name, room in words.alike(placement.nodes):
        table.add_row(
            name,
            Text(room.instance or "declared", style=_DIM),
            words.pods(room),
            f"{room.free_cpu_millicores / 1000:.2f} of {room.cpu_millicores / 1000:.2f}",
            words.gib_left(room),
        )
    return Group(table, *(Text(f"{one}.", style=_BAD if one.least else _WARN) for one in placement.waiting))


def _money(money: Money) -> Group:
    left = words.not_counted(money)
    rows = _rows(words.bill(money), words.sums(money))
    return Group(rows, Text(left, style=_DIM)) if left else Group(rows)


def _speed(speed: Speed) -> Table:
    table = _table("", "predicted", "measured", "difference")
    for one in (*speed.stack, *speed.posts):
        metric, predicted, measured, error = words.expected(one)
        table.add_row(metric, Text(predicted, style="bold"), measured, Text(error, style=_DIM))
    return table


def _rows(lines: Iterable[words.Row], totals: Iterable[words.Row]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style=_DIM)
    for name, value, remark in lines:
        table.add_row(name, value, remark)
    for name, value, remark in totals:
        table.add_row(Text(name, style="bold"), Text(value, style="bold"), remark)
    return table


def _table(*headers: str) -> Table:
    return Table(*headers, box=None, padding=(0, 2, 0, 0), header_style=_DIM, pad_edge=False)


def bar(parts: Sequence[tuple[float, str]], whole: float, width: int) -> Text:
    """Return a bar of coloured parts of a whole; what goes beyond it ends in an arrow."""
    text, drawn, total = Text(), 0, 0.0
    for size, colour in parts:
        total += size
        end = max(drawn, min(round(total / whole * width), width))
        text.append("▇" * (end - drawn), style=colour)
        drawn = end
    text.append("╌" * (width - drawn), style=_DIM)
    if total > whole * 1.001:
        text.right_crop(1)
        text.append("▶", style=_BAD)
    return text
