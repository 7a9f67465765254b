"""The comment on a pull request."""

from collections import Counter
from collections.abc import Iterator, Sequence

from experiment.plan import words
from experiment.plan.plan import ExperimentPlan
from report.markdown import folded, table
from report.plan_markdown import as_markdown as plan_markdown
from report.plan_markdown import plain
from review.headlines import Headline
from review.stackreview import StackReview, dollars, placed
from review.step import Operation, Step

MARK = "<!-- splitbed review -->"
"""The first line, by which the comment is found again."""

LONGEST = 60_000
"""Characters; GitHub takes 65,536 in a comment."""

_OPERATIONS: tuple[Operation, ...] = ("replace", "delete", "update", "create")
_MOST_NAMED = 12
_CUT = "\n\nToo long for a comment: the rest is left out.\n"


def as_markdown(reviews: Sequence[StackReview], base: str) -> str:
    """Return what a change does, what matters first; one that is too long for a comment loses its plans.

    Args:
        reviews: of the stacks that it touches.
        base: what it was compared with.
    """
    whole = "\n".join(_lines(reviews, base, plans=True))
    if len(whole) > LONGEST:
        whole = "\n".join(_lines(reviews, base, plans=False))
    if len(whole) > LONGEST:
        whole = whole[: whole.rindex("\n", 0, LONGEST - len(_CUT))] + _CUT
    return whole.rstrip("\n") + "\n"


def _lines(reviews: Sequence[StackReview], base: str, *, plans: bool) -> Iterator[str]:
    loud = [one for one in reviews if not one.quiet]
    quiet = [one for one in reviews if one.quiet]
    yield MARK
    yield f"## Splitbed: {_title(reviews, loud)}"
    yield ""
    for one in loud:
        for text in (*(f"**refused** {plain(why)}" for why in one.wrong), *(_said(line) for line in one.headlines)):
            yield f"- **{plain(one.name)}**: {text}"
    if any(one.wrong or one.headlines for one in loud):
        yield ""
    for one in loud:
        yield from _stack(one, plans=plans)
    if quiet:
        yield f"Unchanged: {', '.join(plain(one.name) for one in quiet)}."
        yield ""
    yield f"<sub>Compared with `{base}` by `splitbed review`.{'' if plans else ' Plans are left out: too long.'}</sub>"


def _title(reviews: Sequence[StackReview], loud: Sequence[StackReview]) -> str:
    if not reviews:
        return "no stack is touched"
    refused = [one.name for one in reviews if one.wrong]
    count = f"{len(loud)} of {len(reviews)} stacks change" if len(reviews) > 1 else ("1 stack" if loud else "no change")
    return f"{count}, {', '.join(map(plain, refused))} refused" if refused else count


def _said(headline: Headline) -> str:
    # Texts are ours but for names and values in them, which are plain; backticks are meant.
    return plain(headline.text).replace("\\`", "`")


def _stack(review: StackReview, *, plans: bool) -> Iterator[str]:
    yield f"### {plain(review.name)}: {_verdict(review)}"
    yield ""
    yield from _money(review)
    yield from _placement(review)
    if review.settings:
        rows = [[f"`{one.path}`", plain(one.before), plain(one.after)] for one in review.settings]
        yield from folded("Settings that change", table(["setting", "before", "after"], rows))
    if review.steps is not None:
        yield from folded(f"What the engine would do: {_counted(review.steps)}", _steps(review.steps))
    if plans and review.after is not None:
        yield from folded("The plan", [plan_markdown(review.after)])
    if review.basis:
        yield plain(review.basis)
        yield ""


def _verdict(review: StackReview) -> str:
    if review.removed:
        return "removed"
    if review.after is None:
        return "refused"
    verdict = plain(words.verdict(review.after))
    if review.wrong and review.after.goes:
        verdict += ", and refused"
    return verdict if review.before is not None else f"new, {verdict}"


def _money(review: StackReview) -> Iterator[str]:
    rows = [
        [name, _usd(old), _usd(new), _difference(old, new)]
        for name, old, new in dollars(review.before, review.after)
        if name != "a day, if forgotten" or not _ends(review)
    ]
    if rows:
        yield from table(["USD", "before", "after", "change"], rows)


def _ends(review: StackReview) -> bool:
    return any(
        plan is not None and plan.money is not None and plan.money.end_usd for plan in (review.before, review.after)
    )


def _usd(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _difference(old: float | None, new: float | None) -> str:
    if old is None or new is None:
        return ""
    return "none" if f"{old:.2f}" == f"{new:.2f}" else f"**{new - old:+.2f}**"


def _placement(review: StackReview) -> Iterator[str]:
    if review.before is None or review.after is None:
        return
    if placed(review.before) == placed(review.after):
        yield "Every pod lands where it did."
        yield ""
        return
    before, after = _rooms(review.before), _rooms(review.after)
    rows = [
        [name, plain(before.get(name, "no such node")), plain(after.get(name, "no such node"))]
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]
    yield from table(["node", "before", "after"], rows)
    for one in review.after.placement.waiting:
        yield f"- {plain(str(one))}."
    yield ""


def _rooms(plan: ExperimentPlan) -> dict[str, str]:
    return {
        name: f"{room.instance or 'declared'}: {words.pods(room)}" for name, room in words.alike(plan.placement.nodes)
    }


def _counted(steps: Sequence[Step]) -> str:
    counts = Counter(step.operation for step in steps)
    said = [f"{counts[one]} {one}" for one in _OPERATIONS if counts[one]]
    return ", ".join(said) or "nothing"


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    tags = [step for step in steps if step.only_tags]
    rows = []
    for operation in _OPERATIONS:
        of_kind: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for step in steps:
            if step.operation == operation and step not in tags:
                what = step.reasons if operation == "replace" else step.changed if operation == "update" else ()
                of_kind.setdefault((step.kind, what), []).append(step.name)
        for (kind, what), names in of_kind.items():
            rows.append([operation, kind, _named(names), ", ".join(f"`{key}`" for key in what)])
    if rows:
        yield from table(["", "kind", "name", "for"], rows)
    if tags:
        yield f"Tags alone change on {len(tags)} more."
        yield ""


def _named(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{len(names)} of them"
    return ", ".join(f"`{name}`" for name in names)
