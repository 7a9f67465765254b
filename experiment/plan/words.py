"""The words of a plan, which all its renderings share."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from experiment.plan.bill import Line
from experiment.plan.cache import Cache
from experiment.plan.duration import Duration
from experiment.plan.memory import EACH_GPU, Guarded, Memory, StageMemory
from experiment.plan.money import Money
from experiment.plan.placement import Place, Room
from experiment.plan.plan import ExperimentPlan
from experiment.plan.pods import BENCHMARK, CONTROLLER_OWNER, ENGINE
from experiment.plan.speed import Expected
from experiment.plan.unknowns import MODEL_NOT_KNOWN

Row = tuple[str, str, str]
"""Name, value, remark."""

_MINUTE, _HOUR = 60, 3600
_NAMED = (ENGINE, BENCHMARK, CONTROLLER_OWNER)
_SHORT = {CONTROLLER_OWNER: "controller"}


def verdict(plan: ExperimentPlan) -> str:
    """Return whether `up` may go on, in a few words."""
    if plan.refusals:
        return "refused"
    mistakes = [one.name for one in plan.advice if one.stops]
    if mistakes:
        return f"stops: {', '.join(mistakes)}"
    if any(one.name == MODEL_NOT_KNOWN for one in plan.advice):
        return "not known whether it fits"
    if plan.memory is None:
        return "nothing speaks against it"
    return "fits" if plan.memory.fit == "fits" else "may fit"


def where(plan: ExperimentPlan) -> str:
    """Return what serves the model."""
    subject = plan.subject
    return f"{subject.nodes}, {subject.where}; {subject.engine}"


def what_for(plan: ExperimentPlan) -> str:
    """Return the question, who asks it, and until when."""
    subject = plan.subject
    if subject.end_date is None:
        until = "no end date"
    else:
        until = f"until {datetime.fromisoformat(subject.end_date).strftime('%Y-%m-%d %H:%M %Z').rstrip()}"
    return f"{subject.purpose} ({subject.owner}, {until})"


def figures(plan: ExperimentPlan) -> Iterator[tuple[str, str]]:
    """Return the few figures that decide most."""
    if plan.memory is not None and plan.memory.guard is not None:
        largest = plan.memory.largest
        yield plan.memory.where, f"{gib_of(largest, plan.memory)} GiB"
    if plan.cache is not None:
        about = "" if plan.cache.exact else "about "
        yield "KV cache", f"{about}{plan.cache.tokens:,} tokens" if plan.cache.tokens is not None else "refused"
    if plan.speed is not None:
        tokens_s = 1000 / plan.speed.token_ms
        yield "one user", f"roughly {tokens_s:.2g} tokens/s" if plan.speed.extrapolates else f"{tokens_s:.1f} tokens/s"
    if plan.duration.first_request_s is not None:
        yield "first request", f"{'' if plan.duration.measured else 'roughly '}{clock(plan.duration.first_request_s)}"
    if plan.money is not None:
        yield "an hour", known_usd(plan.money, plan.money.hour_usd)
        if plan.money.run_usd is not None:
            rough = not plan.duration.measured or (plan.speed is not None and plan.speed.extrapolates)
            yield "planned run", known_usd(plan.money, plan.money.run_usd, rough=rough)


def known_usd(money: Money, usd: float, *, rough: bool = False) -> str:
    """Return a sum of the known prices: nothing known is not nothing to pay."""
    if not money.priced:
        return f"at least {usd:.2f} USD" if usd else "not known"
    return f"{'roughly ' if rough else ''}{usd:.2f} USD"


def stages(memory: Memory) -> Iterator[tuple[str, StageMemory]]:
    """Return pods that take the same as one, with a name for them."""

    def looks(one: StageMemory) -> tuple[int, str]:
        return one.layers, f"{one.low_gib:.3f} {one.high_gib:.3f}"

    for _, group in groupby(memory.stages, key=looks):
        alike = list(group)
        if memory.where == EACH_GPU:
            yield EACH_GPU, alike[0]
        elif len(memory.stages) == 1:
            yield "whole model", alike[0]
        elif len(alike) == 1:
            yield f"stage {alike[0].stage} ({alike[0].layers} layers)", alike[0]
        else:
            yield f"stages {alike[0].stage} to {alike[-1].stage} ({alike[0].layers} layers)", alike[0]


def gib_range(low: float, high: float) -> str:
    """Return GiB with one decimal, two numbers where they differ."""
    return f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"


def gib_of(stage: StageMemory, memory: Memory) -> str:
    """Return what a stage takes of what it is given."""
    limit = f"{memory.limit_gib:.1f}".removesuffix(".0")
    return f"{gib_range(stage.low_gib, stage.high_gib)} of {limit}"


def gib_left(room: Room) -> str:
    """Return what a node has left of its memory."""
    about = "about " if room.estimated else ""
    return f"{room.free_memory_mib / 1024:.1f} of {about}{room.memory_mib / 1024:.1f}"


def memory_lines(memory: Memory) -> Iterator[str]:
    """Return what is to be said of memory besides its figures."""
    guard = memory.guard
    if guard is not None:
        seen = f"{guard.worst_gib:.2f}"
        if f"{guard.best_gib:.2f}" != seen:
            seen += f" to {guard.best_gib:.2f}"
        yield (
            f"The engine's guard sees {seen} GiB, page cache counted as taken, and wants {guard.asked_gib:.2f}; "
            + _passes(guard)
        )
    for line in memory.basis:
        yield f"{line[:1].upper()}{line[1:]}."


def _passes(guard: Guarded) -> str:
    if not guard.sure_len:
        return "none that holds a request surely passes."
    return (
        f"a KV cache of {guard.sure_gib:.2f} GiB surely passes, and holds requests of up to {guard.sure_len:,} tokens."
    )


def cache(one: Cache) -> str:
    """Return what the engine says of its KV cache."""
    about = "" if one.exact else "about "
    if one.fits:
        return (
            f"{about.capitalize()}{one.given_gib:.2f} GiB in each rank hold {about}{one.tokens:,} tokens: "
            f"{one.concurrency:.2f} requests of {one.max_model_len:,} tokens at once."
        )
    proposal = f" The engine proposes {one.proposed_len:,}." if one.proposed_len else ""
    return (
        f"Refused: {one.max_model_len:,} tokens need {about}{one.needed_gib:.2f} GiB, and "
        f"{one.available_gib:.2f} GiB are available.{proposal}"
    )


def pods(room: Room) -> str:
    """Return the pods of a node by what they are for, with what they ask for; add-ons in one."""
    by_owner = {owner: [place for place in room.pods if place.owner == owner] for owner in _NAMED}
    found = [_of_one_kind(_SHORT.get(owner, owner), places) for owner, places in by_owner.items() if places]
    addons = [place for place in room.pods if place.owner not in _NAMED]
    if addons:
        found.append(f"{len(addons)} of add-ons ({_asked(addons)}{' together' if len(addons) > 1 else ''})")
    return ", ".join(found) or "nothing"


def _of_one_kind(name: str, places: Sequence[Place]) -> str:
    """Return pods that ask for the same; what each asks for, for that is what has to find room."""
    times, each = (f"{len(places)} x ", " each") if len(places) > 1 else ("", "")
    return f"{times}{name} ({_asked(places[:1])}{each})"


def _asked(places: Sequence[Place]) -> str:
    cpu = sum(place.cpu_millicores for place in places) / 1000
    gib = sum(place.memory_mib for place in places) / 1024
    gpus = sum(place.gpus for place in places)
    return f"{cpu:.4g} CPU, {gib:.3g} GiB{f', {gpus} GPU' if gpus else ''}"


def alike(rooms: Sequence[Room]) -> Iterator[tuple[str, Room]]:
    """Return nodes that differ by their name alone as one, with a name for them."""

    def looks(room: Room) -> tuple[object, ...]:
        owners = sorted(place.owner for place in room.pods)
        return room.group, room.instance, tuple(owners), room.free_cpu_millicores, room.free_memory_mib

    for _, group in groupby(rooms, key=looks):
        found = list(group)
        first, last = found[0].name, found[-1].name
        yield first if len(found) == 1 else f"{first} to {last.rpartition('-')[2]}", found[0]


def clock(seconds: float) -> str:
    """Return a duration as people say it."""
    if seconds < 5 * _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.1f} h"


def steps(duration: Duration) -> Iterator[Row]:
    """Return every step to the first answer."""
    for step in duration.steps:
        yield step.name, clock(step.seconds), f"{step.basis} ({step.source})"


def totals(duration: Duration) -> Iterator[Row]:
    """Return what the steps add up to."""
    if duration.first_request_s is not None and duration.steps:
        yield "to the first request", clock(duration.first_request_s), ""
    if duration.restart_s is not None:
        yield "without an answer, each restart", clock(duration.restart_s), ""
    if duration.destroy_s is not None:
        yield "gone after `pulumi destroy`", clock(duration.destroy_s), ""
    if duration.benchmark_longest_s is not None:
        longest = f"{clock(duration.benchmark_longest_s)} at the longest"
        if duration.benchmark_s is None:
            yield "benchmark", longest, ""
        else:
            yield "benchmark", clock(duration.benchmark_s), f"expected; {longest}"


def bill(money: Money) -> Iterator[Row]:
    """Return every line with a known price."""
    for line in money.hourly:
        if line.usd is not None:
            yield line.what, f"{line.usd:.4f} USD", line.basis
    for use in money.once:
        if use.usd is not None:
            yield use.what, f"{use.usd:.2f} USD", use.basis


def sums(money: Money) -> Iterator[Row]:
    """Return what the lines add up to; "at least" where a price by the hour is not known."""
    least = "" if money.priced else "at least "
    yield "an hour", f"{least}{money.hour_usd:.4f} USD", ""
    if money.run_usd is not None and money.run_h is not None:
        yield "the planned run", f"{least}{money.run_usd:.2f} USD", clock(money.run_h * _HOUR)
        if money.longest_usd is not None and money.longest_usd > money.run_usd:
            yield "the same at the longest", f"{least}{money.longest_usd:.2f} USD", ""
    if money.end_usd is not None and money.end_h is not None:
        yield "until the end date, if forgotten", f"{least}{money.end_usd:.2f} USD", clock(money.end_h * _HOUR)
    else:
        yield "a day, if forgotten", f"{least}{money.day_usd:.2f} USD", "no end date is set, and up asks for one"
    yield (
        "an hour after the end date",
        f"{least}{money.after_end_hour_usd:.4f} USD",
        "nodes are gone, the rest stays",
    )
    if money.budget_usd is not None:
        yield "budget", f"{money.budget_usd:.2f} USD", "exceeded" if money.over_budget else ""


def not_counted(money: Money) -> str:
    """Return what is in none of the sums; nothing if all is."""
    lines: list[Line] = [line for line in (*money.hourly, *money.once) if line.usd is None]
    by_reason = {basis: [line.what for line in lines if line.basis == basis] for basis in (one.basis for one in lines)}
    said = "; ".join(f"{', '.join(what)} ({basis})" for basis, what in by_reason.items())
    return f"Not counted: {said}." if said else ""


def expected(one: Expected) -> tuple[str, str, str, str]:
    """Return metric, prediction, measurement and what to think of their difference."""
    unit = "" if one.unit == "times" else f" {one.unit}"
    measured = "" if one.measured is None else f"{one.measured:.4g}{unit}"
    error = "" if one.error is None else f"{one.error:+.0%}"
    if one.calibrated:
        error += " (taken from it)"
    elif one.extrapolates:
        error = f"{error} extrapolates".strip()
    return one.metric, f"{one.predicted:.3g}{unit}", measured, error


def lines(plan: ExperimentPlan) -> Iterator[str]:
    """Return the plan in a few lines of a log."""
    figures_said = ", ".join(f"{name} {value}" for name, value in figures(plan))
    yield f"plan: {plan.subject.name}, {plan.subject.topology}: {verdict(plan)}"
    if figures_said:
        yield f"plan: {figures_said}"
    for one in plan.advice:
        yield f"plan: {'accepted mistake' if one.mistake else 'note'} {one.name}: {one.text}"
    for left in plan.unknown:
        yield f"plan: not known: {left}"
