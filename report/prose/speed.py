"""How fast a run was for one user, for a long prompt and for many users."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from experiment.record import RepeatRecord
from report.summary import Spread


def one_user(records: Iterable[RepeatRecord]) -> Spread | None:
    """Return the tokens a second of one user's stream, the first token not counted, over the repeats."""
    return Spread.of(_streaming(record) for record in records if record.test_kind == "one-user")


def token_price_s(first: Iterable[RepeatRecord], second: Iterable[RepeatRecord]) -> float | None:
    """Return by how many seconds a token of one user takes longer in the second run than in the first."""
    one, other = one_user(first), one_user(second)
    return None if one is None or other is None else 1 / other.median - 1 / one.median


def ranges_apart(one: Spread, other: Spread) -> bool:
    """Say whether the slowest of one is faster than the fastest of the other: no noise makes that."""
    return one.low > other.high or other.low > one.high


def tightness(values: Spread) -> float:
    """Return how far the repeats lie apart, as a share of their median."""
    return (values.high - values.low) / values.median


def prefill(records: Iterable[RepeatRecord]) -> Mapping[int, Spread]:
    """Return the prompt tokens read in a second, by the length of the prompt, over the repeats."""
    return _by_value(records, "prompt-length", _prefill)


def all_users(records: Iterable[RepeatRecord]) -> Mapping[int, Spread]:
    """Return the tokens a second of all users together, by their number, over the passes of the sweep."""
    return _by_value(records, "concurrency", _together)


def each_user(records: Iterable[RepeatRecord]) -> Mapping[int, Spread]:
    """Return the tokens a second of one user's stream among so many, the first token not counted."""
    return _by_value(records, "concurrency", _streaming)


def between_tokens(records: Iterable[RepeatRecord]) -> Mapping[int, Spread]:
    """Return the median seconds between tokens, by the number of users, over the passes: two modes lie far apart."""
    return _by_value(records, "concurrency", _between)


def _together(record: RepeatRecord) -> float | None:
    return None if record.figures.load is None else record.figures.load.tokens_per_s


def _between(record: RepeatRecord) -> float | None:
    known = [reply.figures.tpot_s for reply in record.replies if reply.figures.tpot_s]
    return median(known) if known else None


def _streaming(record: RepeatRecord) -> float | None:
    between = _between(record)
    return 1 / between if between else None


def _prefill(record: RepeatRecord) -> float | None:
    known = [reply.tokens.prompt / reply.figures.ttft_s for reply in record.replies if reply.figures.ttft_s]
    return median(known) if known else None


def _by_value(
    records: Iterable[RepeatRecord], kind: str, of: Callable[[RepeatRecord], float | None]
) -> Mapping[int, Spread]:
    found: dict[int, list[float | None]] = defaultdict(list)
    for record in records:
        if record.test_kind == kind and isinstance(record.value, int):
            found[record.value].append(of(record))
    spreads: Sequence[tuple[int, Spread | None]] = [(value, Spread.of(found[value])) for value in sorted(found)]
    return {value: spread for value, spread in spreads if spread is not None}
