"""The words of a plan, which all its renderings share."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby

from experiment.plan.cache import Cache
from experiment.plan.duration import Duration
from experiment.plan.memory import Memory, StageMemory
from experiment.plan.money import Money
from experiment.plan.placement import Room
from experiment.plan.plan import ExperimentPlan

_MINUTE, _HOUR = 60, 3600


def verdict(plan: ExperimentPlan) -> str:
    """Return whether `up` may go on, in a few words."""
    if plan.refusals:
        return "refused"
    mistakes = [one.name for one in plan.advice if one.stops]
    if mistakes:
        return f"stops at {', '.join(mistakes)}"
    if plan.memory is None:
        return "nothing speaks against it"
    return "fits" if plan.memory.fit == "fits" else "may fit"


def ends(end_date: str | None) -> str:
    """Return until when it runs."""
    if end_date is None:
        return "no end date"
    return f"until {datetime.fromisoformat(end_date):%Y-%m-%d %H:%M %Z}"


def stage(one: StageMemory, of: int) -> str:
    """Return the name of a pod by the stage that it holds."""
    if of == 1:
        return "whole model"
    return f"stage {one.stage}, {one.layers} layers"


def gib_range(low: float, high: float) -> str:
    """Return GiB with one decimal, two numbers where they differ."""
    if f"{low:.1f}" == f"{high:.1f}":
        return f"{low:.1f}"
    return f"{low:.1f} to {high:.1f}"


def memory_lines(memory: Memory) -> Iterator[str]:
    """Return what is to be said of memory besides its figures."""
    yield from memory.short
    guard = memory.guard
    if guard is not None:
        yield (
            f"before it makes the KV cache of {guard.asked_gib:.2f} GiB the engine sees "
            f"{guard.worst_gib:.2f} to {guard.best_gib:.2f} GiB (it counts page cache as taken); "
            f"a cache of {guard.sure_gib:.2f} GiB surely passes"
        )
    yield from memory.basis


def cache(one: Cache) -> str:
    """Return what the engine says of its KV cache."""
    about = "" if one.exact else "about "
    if one.fits:
        return (
            f"{one.given_gib:.2f} GiB in each rank hold {about}{one.tokens:,} tokens: "
            f"{one.concurrency:.2f} requests of {one.max_model_len:,} tokens at once"
        )
    proposal = f"; the engine proposes {one.proposed_len:,}" if one.proposed_len else ""
    return (
        f"{about}{one.needed_gib:.2f} GiB needed for {one.max_model_len:,} tokens, "
        f"{one.available_gib:.2f} GiB available{proposal}"
    )


def pods(room: Room) -> str:
    """Return the pods of a node by what they are for, with what they ask for."""
    found = []
    for owner, group in groupby(sorted(room.pods, key=lambda place: place.owner), key=lambda place: place.owner):
        places = list(group)
        cpu = sum(place.cpu_millicores for place in places) / 1000
        gib = sum(place.memory_mib for place in places) / 1024
        gpus = sum(place.gpus for place in places)
        times = f"{len(places)} x " if len(places) > 1 else ""
        found.append(f"{times}{owner} {cpu:g} CPU {gib:.3g} GiB" + (f" {gpus} GPU" if gpus else ""))
    return ", ".join(found) or "nothing"


def alike(rooms: Sequence[Room]) -> Iterator[tuple[Room, int]]:
    """Return nodes that differ by their name alone as one, with how many they are."""

    def looks(room: Room) -> tuple[object, ...]:
        owners = sorted(place.owner for place in room.pods)
        return room.group, room.instance, tuple(owners), room.free_cpu_millicores, room.free_memory_mib

    for _, group in groupby(rooms, key=looks):
        found = list(group)
        yield found[0], len(found)


def clock(seconds: float) -> str:
    """Return a duration as people say it."""
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < 2 * _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"


def totals(duration: Duration) -> Iterator[tuple[str, str, str]]:
    """Return name, value and remark of what the steps add up to."""
    if duration.first_request_s is not None:
        yield "to the first request", clock(duration.first_request_s), ""
    if duration.restart_s is not None:
        yield "after each restart", clock(duration.restart_s), "without an answer"
    if duration.benchmark_s is not None:
        yield "benchmark", clock(duration.benchmark_s), "expected"
    if duration.benchmark_longest_s is not None:
        yield "benchmark at the longest", clock(duration.benchmark_longest_s), "then its requests have timed out"


def usd(value: float | None, digits: int) -> str:
    """Return dollars, or that they are not known: never zero for it."""
    return "not known" if value is None else f"{value:.{digits}f} USD"


def sums(money: Money) -> Iterator[tuple[str, str, str]]:
    """Return name, value and remark of what the lines add up to."""
    least = "at least " if any(line.usd is None for line in money.hourly) else ""
    yield "an hour", f"{least}{money.hour_usd:.4f} USD", f"prices of {', '.join(money.dated) or 'no date'}"
    if money.run_usd is not None and money.run_h is not None:
        yield "the planned run", f"{least}{money.run_usd:.2f} USD", clock(money.run_h * _HOUR)
    if money.end_usd is not None and money.end_h is not None:
        yield "until the end date, if forgotten", f"{least}{money.end_usd:.2f} USD", clock(money.end_h * _HOUR)
    yield (
        "after it, until destroyed",
        f"{least}{money.after_end_hour_usd:.4f} USD",
        "an hour for what is not nodes",
    )
    if money.budget_usd is not None:
        yield "budget", f"{money.budget_usd:.2f} USD", "exceeded" if money.over_budget else ""
