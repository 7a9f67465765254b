from collections.abc import Sequence

from rehearsal.vllm.questions import SAMPLE, Sample, rounds
from rehearsal.vllm.wire import Question

LEFT = Sample([f" t{k}" for k in range(12)], list(range(100, 112)))


def asked(seed: int, headers: Sequence[tuple[str, str]] = ()) -> list[Question]:
    return [question for asked in rounds(seed, headers) for question in asked.questions(LEFT)]


def test_names_are_unique() -> None:
    names = [question.name for question in asked(1)]
    assert len(set(names)) == len(names)


def test_a_seed_fixes_all_of_it() -> None:
    assert asked(1) == asked(1)
    assert asked(1) != asked(2)


def test_every_endpoint_and_option_of_the_stand_in_is_asked_for() -> None:
    paths = {question.path for question in asked(1)}
    assert {"/v1/completions", "/v1/chat/completions", "/tokenize", "/detokenize", "/health", "/v1/models"} <= paths
    bodies = b" ".join(question.body or b"" for question in asked(1))
    for option in (
        "stream", "include_usage", "continuous_usage_stats", "stop", "stop_token_ids", "include_stop_str_in_output",
        "min_tokens", "ignore_eos", "max_completion_tokens", "n", "echo", "return_token_ids", "seed",
    ):  # fmt: skip
        assert f'"{option}"'.encode() in bodies


def test_stops_are_what_the_server_itself_made_up() -> None:
    by_name = {question.name: question for question in asked(1)}
    assert b'"stop": [" t5"]' in (by_name["stop"].body or b"")
    assert b'"stop_token_ids": [105]' in (by_name["stop token"].body or b"")


def test_the_sample_comes_before_what_needs_it() -> None:
    names = [question.name for question in asked(1)]
    assert names.index(SAMPLE) < min(names.index(name) for name in names if name.startswith("stop"))


def test_headers_go_with_every_question() -> None:
    key = ("Authorization", "Bearer k")
    assert all(key in question.headers for question in asked(1, headers=[key]))
