"""What a question changes in `/metrics`."""

import math
import re
from collections.abc import Mapping

Scrape = Mapping[str, float]
"""Value by series, named as in the exposition, labels included."""

_LINE = re.compile(r"^(?P<series>[a-zA-Z_:][\w:]*(?:\{.*\})?) (?P<value>\S+)$")
# Buckets and sums of durations and of the process itself: no two runs of the same engine have them equal.
_UNEQUAL = re.compile(r"_seconds(?:_sum|_bucket|_total)?\b|^process_|^python_|_created\b")
_RESPONSE_SIZE = re.compile(r"^http_response_size_bytes_sum|_bytes_created")
_BOUND = re.compile(r'(?<=[{,])le="(?P<le>[^"]+)",?')
# How requests that run together are shared out over steps is a matter of their arrival to the millisecond.
_STEPS = re.compile(r"^vllm:iteration_tokens_total_(?:bucket|count)")
# How many tokens a stream has when its server notices that nobody reads them is a matter of time.
_TOKENS = re.compile(r"^vllm:(?:generation_tokens_total|inter_token_latency_seconds_count|iteration_tokens_total)")
_PYTHON = re.compile(r"(?<=^python_info)\{.*\}$")


def parse(text: str) -> dict[str, float]:
    """Return the series of a scrape.

    Raises:
        ValueError: a line is neither a comment nor a sample.
    """
    series: dict[str, float] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        match = _LINE.match(line)
        if match is None:
            raise ValueError(f"not a sample: {line}")
        series[match["series"]] = float(match["value"])
    return series


def families(text: str) -> dict[str, str]:
    """Return the declared type of each metric by name."""
    found = re.findall(r"^# TYPE (\S+) (\S+)$", text, flags=re.MULTILINE)
    return dict(found)


def names(series: Scrape) -> list[str]:
    """Return the sorted names of all series, labels included; which Python runs is no matter of the engine."""
    return sorted(_PYTHON.sub("", name) for name in series)


def change(before: Scrape, after: Scrape, *, alone: bool, whole: bool = True) -> dict[str, float]:
    """Return what changed, of all that can be equal in two engines: counts, sums of tokens, states.

    Of a histogram the buckets are those in which something fell, without the ones above them. Of durations only
    the count is there, not their sum nor their buckets; the number of steps only if a question was `alone`, that of
    tokens only if every answer was read to its end (`whole`).
    """
    moved = {}
    for series, value in after.items():
        if _RESPONSE_SIZE.search(series) or (_UNEQUAL.search(series) and not _is_count(series)):
            continue
        if (not alone and _STEPS.search(series)) or (not whole and _TOKENS.search(series)):
            continue
        delta = value - before.get(series, 0.0)
        if delta and not math.isnan(delta):
            moved[series] = delta
    return _by_bucket(moved)


def _by_bucket(moved: Mapping[str, float]) -> dict[str, float]:
    """Return the changes with each bucket's own in place of those up to it."""
    found = dict(moved)
    below: dict[str, list[tuple[float, str]]] = {}
    for series in moved:
        bound = _BOUND.search(series)
        if bound is not None:
            below.setdefault(_BOUND.sub("", series), []).append((float(bound["le"]), series))
    for bounds in below.values():
        lower = 0.0
        for _, series in sorted(bounds):
            upper = moved[series]
            if upper == lower:
                del found[series]
            else:
                found[series] = upper - lower
            lower = upper
    return found


def _is_count(series: str) -> bool:
    return re.match(r"^(vllm:|http_)\w+_seconds_count\b", series) is not None
