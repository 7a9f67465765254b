"""12B post: 2,186 tokens of cache, 1.07 requests; 1B post: 2,816 of 2,847 prompt tokens found again."""

import pytest

from experiment.measure.figures import TestFigures
from experiment.measure.proof import Proof, Server
from experiment.measure.sharing import FollowUpFigures
from experiment.record import RepeatRecord
from report.prose import cache
from tests.report.prose.runs import record, reply


def proof(*servers: tuple[int | None, int | None]) -> Proof:
    told = tuple(
        Server(address=f"http://{number}", version="0.31.0", max_model_len=length, kv_tokens=tokens, kv_blocks=None)
        for number, (tokens, length) in enumerate(servers)
    )
    return Proof(proven=(), unproven=(), servers=told, arguments={})


def answered(found: Proof | None) -> RepeatRecord:
    return record("one-user", 1, [reply(64, 100, ttft_s=1, token_s=0.24)], proof=found)


def test_one_conversation_at_a_time_fits() -> None:
    told = answered(proof((2186, 2048)))
    assert cache.kv_tokens(told) == 2186
    assert cache.requests_at_once(told) == pytest.approx(1.07, abs=0.005)


def test_the_smallest_copy_counts_and_nobodys_word_is_none() -> None:
    assert cache.kv_tokens(answered(proof((4096, 2048), (2048, 2048), (None, None)))) == 2048
    assert cache.requests_at_once(answered(proof((4096, 2048), (2048, 2048)))) == 1
    assert cache.kv_tokens(answered(None)) is None
    assert cache.requests_at_once(answered(proof((None, 2048)))) is None


def follow_up(number: int, hits: float | None, queries: float | None) -> RepeatRecord:
    figures = FollowUpFigures(
        first_ttft_s=4.7, warm_ttft_s=0.2, cold_ttft_s=4.7, warm_queries=queries, warm_hits=hits, cold_hits=0,
        same_replica=True,
    )  # fmt: skip
    turn = reply(2847, 16, ttft_s=0.2, token_s=0.05)
    return record("follow-up", number, [turn], figures=TestFigures(follow_up=figures))


def test_a_follow_up_finds_nearly_all_of_its_history() -> None:
    assert cache.reused([follow_up(1, 2816, 2847), follow_up(2, 2816, 2847), follow_up(3, None, None)]) == (2816, 2847)
    assert cache.reused([follow_up(1, None, 2847)]) is None


def test_replies_that_were_cut_off_are_counted() -> None:
    """12B post: a reply that ends at a suspiciously round number, and a page that said nothing."""
    done = answered(None)
    stopped = done.requests[0].model_copy(
        update={"outcome": done.replies[0].model_copy(update={"finish_reason": "stop"})}
    )
    assert cache.cut_off([done, done.model_copy(update={"requests": (stopped,)})]) == 1
