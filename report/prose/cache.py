"""What the KV cache holds, and what of it a conversation finds again."""

from collections.abc import Iterable
from statistics import median

from experiment.record import RepeatRecord


def kv_tokens(record: RepeatRecord) -> int | None:
    """Return the tokens of the smallest KV cache of those that answered; None where none tells."""
    servers = record.proof.servers if record.proof else ()
    return min((server.kv_tokens for server in servers if server.kv_tokens is not None), default=None)


def requests_at_once(record: RepeatRecord) -> float | None:
    """Return how many requests of the longest length the KV cache holds, as the engine's log says it."""
    servers = record.proof.servers if record.proof else ()
    known = [one for one in servers if one.kv_tokens and one.max_model_len]
    return min(((one.kv_tokens or 0) / (one.max_model_len or 1) for one in known), default=None)


def reused(records: Iterable[RepeatRecord]) -> tuple[float, float] | None:
    """Return of a follow-up's prompt how many tokens the prefix cache had, and of how many it was asked; medians."""
    found = [
        (follow_up.warm_hits, follow_up.warm_queries)
        for record in records
        if (follow_up := record.figures.follow_up) is not None
        and follow_up.warm_hits is not None
        and follow_up.warm_queries is not None
    ]
    if not found:
        return None
    hits, queries = zip(*found, strict=True)
    return median(hits), median(queries)


def cut_off(records: Iterable[RepeatRecord]) -> int:
    """Return how many replies ended at their limit, and not because the model was done."""
    return sum(reply.finish_reason == "length" for record in records for reply in record.replies)
