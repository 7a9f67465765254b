"""1B post: 21 percent, 9 ms, 600 prompt tokens a second, 15.4 against 13.5, 65 or 160 ms; 12B post: 241 ms."""

import pytest

from experiment.record import RepeatRecord
from report.prose import speed
from report.summary import Spread
from tests.report.prose.runs import record, reply


def one_user(*token_s: float) -> list[RepeatRecord]:
    return [
        record("one-user", number, [reply(64, 200, ttft_s=0.2, token_s=each)]) for number, each in enumerate(token_s, 1)
    ]


SINGLE, SPLIT = one_user(0.0475, 0.0480, 0.0477), one_user(0.0573, 0.0579, 0.0577)


def test_the_single_pod_is_a_fifth_faster_and_each_token_of_the_split_has_its_price() -> None:
    single, split = speed.one_user(SINGLE), speed.one_user(SPLIT)
    assert single is not None
    assert split is not None
    assert single.median / split.median == pytest.approx(1.21, abs=0.005)
    assert speed.token_price_s(SINGLE, SPLIT) == pytest.approx(0.0100, abs=0.0002)


def test_ranges_that_do_not_overlap_are_no_noise() -> None:
    single, split = speed.one_user(SINGLE), speed.one_user(SPLIT)
    assert single is not None
    assert split is not None
    assert speed.ranges_apart(single, split)
    assert speed.ranges_apart(split, single)
    assert not speed.ranges_apart(single, Spread(median=20, low=single.high, high=22))


def test_three_runs_agree_to_within_one_percent() -> None:
    found = speed.one_user(one_user(0.2405, 0.2410, 0.2420))
    assert found is not None
    assert found.median == pytest.approx(1 / 0.241)
    assert speed.tightness(found) < 0.01


def test_prompts_are_read_at_six_hundred_tokens_a_second() -> None:
    records = [
        record("prompt-length", number, [reply(length, 2, ttft_s=length / rate, token_s=0.05)], value=length)
        for length, rates in {500: (590, 600, 610), 3500: (580, 585, 640)}.items()
        for number, rate in enumerate(rates, 1)
    ]
    found = speed.prefill(records)
    assert {length: spread.median for length, spread in found.items()} == pytest.approx({500: 600, 3500: 585})
    assert found[3500].high == pytest.approx(640)


def sweep(users: int, *token_s: float) -> list[RepeatRecord]:
    return [
        record("concurrency", number, [reply(64, 100, ttft_s=0.5, token_s=each)] * users, value=users)
        for number, each in enumerate(token_s, 1)
    ]


def test_all_users_together_and_each_of_them() -> None:
    records = [*sweep(1, 0.05, 0.05), *sweep(8, 1 / 15.4, 1 / 15.4)]
    assert speed.each_user(records)[8].median == pytest.approx(15.4)
    together = speed.all_users(records)
    # Eight replies of 100 tokens, each 0.5 s to its first one: what waiting takes is in the throughput alone.
    assert together[8].median == pytest.approx(8 * 100 / (0.5 + 99 / 15.4))
    assert together[8].high - together[8].low < 0.2, "the two passes agree"
    assert list(together) == [1, 8]


def test_a_split_lands_in_one_of_two_modes() -> None:
    found = speed.between_tokens([*sweep(3, 0.065, 0.160), *sweep(6, 0.160, 0.160)])
    assert (found[3].low, found[3].high) == pytest.approx((0.065, 0.160))
    assert found[3].high / found[3].low == pytest.approx(2.5, abs=0.05)
    assert found[6].high == pytest.approx(found[6].low)


def test_what_was_not_measured_is_none() -> None:
    assert speed.one_user([]) is None
    assert speed.token_price_s(SINGLE, []) is None
    assert speed.prefill(SINGLE) == {}
