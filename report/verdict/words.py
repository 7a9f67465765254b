"""Verdicts in sentences and cells, the same in the terminal and in Markdown."""

from math import log10

from report.verdict.capacity import Capacity, Money, Price
from report.verdict.comparison import Comparison, Difference, Side
from report.verdict.crossover import Crossover
from report.verdict.method import Method
from report.verdict.modes import Modes, ModeShare
from report.verdict.pods import PodCost


def sized(one: Comparison) -> str:
    """Return the answer of one comparison: who, the word, the size with its interval, and in which cell."""
    who = named(one.second)
    if one.difference is None:
        return f"{who}: not compared with {named(one.first)} in {one.cell}"
    word = one.word or "described, not judged"
    return f"{who} against {named(one.first)} in {one.cell}: {word}: {change(one)} {one.title}{_bounds(one.difference)}"


def change(one: Comparison) -> str:
    """Return a change in words: 21 % more, 66 % longer."""
    if one.difference is None:
        return "not compared"
    size, up = one.difference.change, one.difference.change >= 0
    if one.unit == "s":
        return f"{percent(abs(size))} {'longer' if up else 'shorter'}"
    return f"{percent(abs(size))} {'more' if up else 'fewer' if one.unit == 'tokens/s' else 'less'}"


def compared(one: Comparison) -> tuple[str, ...]:
    """Return the cells of one comparison: test, figure, both sides, change, its interval, what could have shown."""
    return (
        one.cell,
        one.title,
        *(f"{named(of)}: {side(of, one.unit)}" for of in (one.first, one.second)),
        change(one),
        interval(one.difference),
        smallest(one.difference),
    )


def interval(difference: Difference | None) -> str:
    """Return the interval of a change, with its level."""
    if difference is None or difference.low is None or difference.high is None or difference.level is None:
        return "-"
    level = f"{100 * difference.level:.4g} %"
    pairs = ", in pairs" if difference.paired else ""
    return f"{signed(difference.low)} to {signed(difference.high)} ({level}{pairs})"


def smallest(difference: Difference | None) -> str:
    """Return the smallest change that the data could have shown."""
    if difference is None or difference.detectable is None:
        return "-"
    return percent(difference.detectable)


def verdict(one: Comparison) -> str:
    """Return the word, or why there is none."""
    if one.word is not None:
        return one.word
    return "; ".join(one.withheld) or "beside the deciding figure"


def side(found: Side, unit: str) -> str:
    """Return what one topology measured: mean, range of the repeats, and how many runs."""
    return f"{amount(found.middle, unit)} ({amount(found.low, unit)} to {amount(found.high, unit)}; {counts(found)})"


def ends(found: Side, unit: str) -> str:
    """Return the range of the repeats, the unit once where it is the same."""
    low, high = amount(found.low, unit), amount(found.high, unit)
    value, _, own = low.rpartition(" ")
    return f"{value if value and high.endswith(f' {own}') else low} to {high}"


def counts(found: Side) -> str:
    """Return of how many runs and values a figure is."""
    return f"{found.runs} run{'s' if found.runs != 1 else ''}, {found.repeats} value{'s' if found.repeats != 1 else ''}"


def named(found: Side) -> str:
    """Return a topology and the mode in which it is meant."""
    return f"{found.topology} [{found.mode}]" if found.mode is not None else found.topology


def crossover(found: Crossover) -> str:
    """Return where the better topology changes."""
    what = f"{found.test} {found.profile}" if found.profile else found.test
    by = "" if found.basis == "judged" else ", as described by what was measured, without intervals"
    tried = f"{found.levels[0]:g} to {found.levels[-1]:g} {found.over}"
    if found.said == "found":
        between = "; ".join(
            f"between {one.low:g} and {one.high:g} {found.over}: {one.better_before} below, {one.better_after} above"
            for one in found.brackets
        )
        return f"{what}: {found.first} and {found.second} cross {between}{by}"
    if found.said == "not shown":
        return f"{what}: no difference was shown at any of {tried}, so no crossover either"
    return f"{what}: no crossover of {found.first} and {found.second}: none in the tested range, {tried}{by}"


def share(one: ModeShare) -> str:
    """Return one mode."""
    gaps = f"{1000 * one.low_s:.1f} to {1000 * one.high_s:.1f}"
    said = f"{one.name}: {one.count} of {one.of} ({percent(one.count / one.of)}), {1000 * one.gap_s:.1f} ms ({gaps})"
    if one.throttled:
        shares = ", ".join(f"{pod} {percent(share)}" for pod, share in one.throttled.items())
        said += f", periods throttled: {shares}"
    return said


def loss(found: Modes) -> str:
    """Return of what a token of the slow mode is made that one of the fast mode is not; "" where that is not known."""
    parts = []
    if found.lost_overlap_s is not None:
        parts.append(f"lost overlap: {1000 * found.lost_overlap_s:.1f} ms a token")
    parts += [
        f"standing still under the CPU quota in {one.name}: {1000 * one.standing_s:.1f} ms a token or more"
        for one in found.shares
        if one.standing_s is not None
    ]
    return "; ".join(parts)


def pod(found: PodCost) -> tuple[str, ...]:
    """Return the cells of one pod under one load."""
    return (
        found.topology,
        found.cell,
        found.pod,
        _known(found.cores, "{:.2f}") + f" (agent {found.agent_cores:.3f})",
        _known(found.cpu_per_token_s, "{:.1f} ms", 1000) + _idle(found, found.cpu_per_token_s),
        _known(found.sent_bytes_per_token, "{:,.0f}") + _idle(found, found.sent_bytes_per_token),
        "not known" if found.throttled_share is None else percent(found.throttled_share),
        _known(found.standing_per_token_s, "{:.1f} ms", 1000),
    )


POD_COLUMNS = (
    "topology",
    "test",
    "pod",
    "cores",
    "CPU a token",
    "bytes sent a token",
    "throttled",
    "standing a token",
)


def _known(value: float | None, form: str, factor: float = 1) -> str:
    return "-" if value is None else form.format(factor * value)


def _idle(found: PodCost, value: float | None) -> str:
    return "" if found.less_idle or value is None else ", idle baseline in it"


def capacity(found: Capacity) -> str:
    """Return the highest rate within the objective."""
    tried = ", ".join(f"{rate:g}" for rate in found.rates)
    what = f"{found.topology}, {found.test} {found.profile}".rstrip()
    if found.rate is None:
        return f"{what}: not every run kept the objective at a rate of {tried} requests/s"
    runs = ", ".join("none" if rate is None else f"{rate:g}" for rate in found.highest)
    price = f", {found.usd_per_million:.2f} USD a million tokens" if found.usd_per_million is not None else ""
    goodput = f"{found.goodput_tokens_per_s:.1f} tokens/s of good requests" if found.goodput_tokens_per_s else ""
    top = " (the highest that was tried)" if found.rate == found.rates[-1] else ""
    return f"{what}: {found.rate:g} requests/s kept by every run{top}: {goodput}{price}. By run: {runs}; tried: {tried}"


def price(found: Price) -> str:
    """Return the price of a million tokens at one load."""
    bounds = f" ({found.low:.2f} to {found.high:.2f})" if found.low is not None and found.high is not None else ""
    runs = f"{found.runs} run{'s' if found.runs != 1 else ''}"
    return f"{found.topology}, {found.cell}: {found.usd_per_million:.2f} USD a million tokens{bounds}, {runs}"


def hour(found: Money) -> str:
    """Return what an hour costs, and by what source."""
    return f"{found.topology}: {found.usd_per_hour:.4g} USD an hour ({found.source})"


def method(found: Method) -> str:
    """Return what is promised of the words, and by what number of looks."""
    if not found.family:
        return "No comparison was judged, so no word can be wrong."
    looks = (
        f"looked at after {', '.join(map(str, found.looks))} runs of each topology, whenever it stops"
        if found.looks
        else "looked at once, after a number of runs that was fixed beforehand (else say --looks)"
    )
    return (
        f"{found.family} judged comparisons, {looks}: that one word or more is wrong has a probability of at most "
        f"{percent(found.alpha)}. What could have been shown is found with a probability of {percent(found.power)}."
    )


def amount(value: float, unit: str) -> str:
    """Return a value with its unit, seconds below one as milliseconds."""
    if unit == "s" and 0 < value < 1:
        return f"{1000 * value:.{_places(1000 * value)}f} ms"
    return f"{value:.{_places(value)}f} {unit}".rstrip()


def percent(share_: float) -> str:
    """Return a share as per cent, with one decimal place below ten."""
    if share_ > 1000:
        return "any measure"
    return f"{100 * share_:.{0 if share_ >= 0.1 or share_ == 0 else 1}f} %"


def signed(share_: float) -> str:
    """Return a change as signed per cent."""
    return ("+" if share_ >= 0 else "-") + percent(abs(share_))


def _bounds(difference: Difference) -> str:
    if difference.low is None:
        return ""
    return f" ({interval(difference)}; a change of {smallest(difference)} would have been shown)"


def _places(value: float) -> int:
    """Give three significant digits or more."""
    return 2 if value == 0 else max(0, min(4, 2 - int(log10(value) // 1)))
