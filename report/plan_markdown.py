"""A plan for a comment on a pull request."""

from collections.abc import Iterable, Iterator

from experiment.plan import words
from experiment.plan.memory import Memory
from experiment.plan.placement import Placement
from experiment.plan.plan import ExperimentPlan
from report.markdown import folded, table

MARK = "<!-- splitbed plan: {name} -->"
"""The first line: whoever writes the comment anew finds the old one by it."""


def as_markdown(plan: ExperimentPlan) -> str:
    """Return the plan as Markdown, what decides first and the rest folded away."""
    return "\n".join(_lines(plan)).rstrip("\n") + "\n"


def _lines(plan: ExperimentPlan) -> Iterator[str]:
    subject = plan.subject
    yield MARK.format(name=subject.name)
    yield f"### {plain(subject.name)}: {plain(words.verdict(plan))}"
    yield ""
    yield f"`{_code(subject.model)}`, {plain(subject.topology)}; {plain(words.where(plan))}."
    yield plain(words.what_for(plan)) + "."
    yield ""
    figures = list(words.figures(plan))
    if figures:
        yield from table([name for name, _ in figures], [[f"**{plain(value)}**" for _, value in figures]])
    yield from _advice(plan)
    if plan.memory is not None:
        yield from folded("Memory", _memory(plan.memory))
    if plan.cache is not None:
        yield from folded("KV cache", [plain(words.cache(plan.cache)), ""])
    yield from folded("Placement", _placement(plan.placement))
    time = [*words.steps(plan.duration), *_bold(words.totals(plan.duration))]
    if time:
        yield from folded("Time", table(["step", "takes", "from"], _cells(time)))
    if plan.money is not None:
        bill = [*words.bill(plan.money), *_bold(words.sums(plan.money))]
        left = words.not_counted(plan.money)
        yield from folded(
            "Money", [*table(["what", "costs", "from"], _cells(bill)), *([plain(left), ""] if left else [])]
        )
    if plan.speed is not None:
        rows = [[plain(cell) for cell in words.expected(one)] for one in (*plan.speed.stack, *plan.speed.posts)]
        yield from folded("Expected speed, to first order", table(["", "predicted", "measured", "difference"], rows))
    if plan.unknown:
        yield from folded("Not known", [*(f"- {plain(one)}" for one in plan.unknown), ""])


def _advice(plan: ExperimentPlan) -> Iterator[str]:
    for refusal in plan.refusals:
        yield f"- **refused** `{_code(refusal.name)}` {plain(refusal.text)} {plain(refusal.remedy)}"
    for one in plan.advice:
        mark = "**mistake**" if one.stops else "accepted" if one.mistake else "note"
        yield f"- {mark} `{_code(one.name)}` {plain(one.text)}"
    if plan.refusals or plan.advice:
        yield ""


def _memory(memory: Memory) -> Iterator[str]:
    headers = [memory.where, "GiB", "of", *(share.what for share in memory.largest.shares)]
    yield from table(
        headers,
        [
            [
                plain(name),
                f"**{words.gib_range(stage.low_gib, stage.high_gib)}**",
                f"{memory.limit_gib:.4g}",
                *(words.gib_range(share.low_gib, share.high_gib) for share in stage.shares),
            ]
            for name, stage in words.stages(memory)
        ],
    )
    for line in words.memory_lines(memory):
        yield f"{plain(line)}"
        yield ""


def _placement(placement: Placement) -> Iterator[str]:
    yield from table(
        ["node", "", "pods", "CPU left", "GiB left"],
        [
            [
                plain(name),
                plain(room.instance or "declared"),
                plain(words.pods(room)),
                f"{room.free_cpu_millicores / 1000:.2f} of {room.cpu_millicores / 1000:.2f}",
                words.gib_left(room),
            ]
            for name, room in words.alike(placement.nodes)
        ],
    )
    for one in placement.waiting:
        yield f"- {plain(str(one))}."
    yield ""


def _cells(rows: Iterable[words.Row]) -> list[list[str]]:
    return [[name, value, plain(remark)] for name, value, remark in rows]


def _bold(rows: Iterable[words.Row]) -> Iterator[words.Row]:
    return ((f"**{name}**", f"**{value}**", remark) for name, value, remark in rows)


def plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line: what a person wrote cannot become markup."""
    escaped = "".join(f"\\{character}" if character in r"\`*_[]<>|#" else character for character in text)
    return " ".join(escaped.split()).replace("@", "&#64;")


def _code(text: str) -> str:
    return " ".join(text.replace("`", "'").replace("|", "/").split())
