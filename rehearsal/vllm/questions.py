"""The set of requests that the stand-in and real vLLM are both asked."""

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rehearsal.vllm.malformed import malformed
from rehearsal.vllm.server import SERVED_NAME
from rehearsal.vllm.wire import Question

COMPLETIONS = "/v1/completions"
CHAT = "/v1/chat/completions"
SAMPLE = "sample"
"""The question whose answer shows which text and which tokens a server makes up."""

_LENGTH = 4096
_PADDED = 600
_MESSAGES = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "hello, name one two three"}]
_STREAM = {"stream": True, "stream_options": {"include_usage": True}}
_SEEDED = {"temperature": 1.0, "seed": 7, "ignore_eos": True}


@dataclass(frozen=True)
class Sample:
    """What a server made up for `SAMPLE`: the text and the id of each token."""

    texts: Sequence[str]
    tokens: Sequence[int]


@dataclass(frozen=True)
class Round:
    """Questions asked together; one alone if there is one. `after` has them need the sample."""

    name: str
    questions: Callable[[Sample], Sequence[Question]]


def rounds(seed: int, headers: Sequence[tuple[str, str]] = ()) -> list[Round]:
    """Return what is asked, in order: each alone, then several at once; the same for the same seed."""
    found = [
        *_plain_paths(),
        *_generations(seed),
        *_refusals(),
        *_unusual(),
    ]
    return [*(_alone(question, headers) for question in found), *_together(seed, headers)]


def odd_rounds() -> list[Round]:
    """Return what no client should ask, each alone."""
    return [_alone(_fixed(question), ()) for question in malformed()]


def _alone(question: "_Maker", headers: Sequence[tuple[str, str]]) -> Round:
    return Round(question(_NOTHING).name, lambda sample: [_with(question(sample), headers)])


_NOTHING = Sample(["?"] * 12, [0] * 12)
_Maker = Callable[[Sample], Question]
_Fields = dict[str, Any]


def _with(question: Question, headers: Sequence[tuple[str, str]]) -> Question:
    return replace(question, headers=(*question.headers, *headers))


def _fixed(question: Question) -> _Maker:
    return lambda _: question


def _post(name: str, path: str, body: Mapping[str, Any], headers: Sequence[tuple[str, str]] = ()) -> Question:
    prompt = body.get("prompt")
    prompts = len(prompt) if isinstance(prompt, list) and any(isinstance(part, str | list) for part in prompt) else 1
    copies = body.get("n")
    sequences = prompts * (copies if isinstance(copies, int) else 1)
    # Of the same length whatever text a server made up for us to stop at: the length is counted.
    text = json.dumps(body).ljust(_PADDED if "stop" in body or "stop_token_ids" in body else 0)
    return Question(name, "POST", path, text.encode(), headers, sequences=sequences)


def _completion(name: str, **fields: Any) -> Question:
    return _post(name, COMPLETIONS, {"model": SERVED_NAME, "max_tokens": 6, **fields})


def _chat(name: str, **fields: Any) -> Question:
    return _post(name, CHAT, {"model": SERVED_NAME, "messages": _MESSAGES, "max_tokens": 6, **fields})


def _each(make: Callable[..., Question], asked: Mapping[str, _Fields]) -> Iterator[_Maker]:
    return (_fixed(make(name, **fields)) for name, fields in asked.items())


def _ids(dice: random.Random, length: int) -> list[int]:
    return [dice.randrange(1000, 31_000) for _ in range(length)]


def _plain_paths() -> Iterator[_Maker]:
    origin = (("Origin", "http://example.invalid"),)
    for name, method, path in (
        ("health", "GET", "/health"),
        ("ping", "GET", "/ping"),
        ("ping by POST", "POST", "/ping"),
        ("version", "GET", "/version"),
        ("load", "GET", "/load"),
        ("models", "GET", "/v1/models"),
        ("unknown path", "GET", "/nowhere"),
        ("unknown path of the API", "POST", "/v1/nowhere"),
        ("wrong method", "GET", COMPLETIONS),
        ("HEAD", "HEAD", "/health"),
    ):
        yield _fixed(Question(name, method, path))
    yield _fixed(Question("another origin", "GET", "/health", None, origin))
    yield _fixed(_post("tokenize text", "/tokenize", {"model": SERVED_NAME, "prompt": "one two three, four"}))
    yield _fixed(_post("tokenize bare", "/tokenize", {"prompt": "one two", "add_special_tokens": False}))
    yield _fixed(_post("tokenize with pieces", "/tokenize", {"prompt": "one two three", "return_token_strs": True}))
    yield _fixed(_post("tokenize a conversation", "/tokenize", {"model": SERVED_NAME, "messages": _MESSAGES}))
    yield _fixed(_post("tokenize nothing", "/tokenize", {"model": SERVED_NAME}))
    yield _fixed(_post("tokenize for nobody", "/tokenize", {"model": "nope", "prompt": "one"}))
    yield _fixed(_post("detokenize", "/detokenize", {"model": SERVED_NAME, "tokens": [2, 1000, 1001]}))
    yield _fixed(_post("detokenize no numbers", "/detokenize", {"model": SERVED_NAME, "tokens": ["x"]}))


def _generations(seed: int) -> Iterator[_Maker]:
    dice = random.Random(f"likeness/{seed}")  # noqa: S311  reproducible on purpose; no secret
    prompt, longer, other = _ids(dice, 40), _ids(dice, 300), _ids(dice, 25)
    sampled: _Fields = {"prompt": other, "max_tokens": 12, **_SEEDED}
    yield _fixed(_completion(SAMPLE, **sampled, stream=True, return_token_ids=True))
    asked: dict[str, _Fields] = {
        "plain": {"prompt": prompt},
        "plain, ends by itself or not": {"prompt": prompt, "ignore_eos": True, "max_tokens": 1},
        "text": {"prompt": "one two three", "ignore_eos": True},
        "texts": {"prompt": ["one two", "three"], "ignore_eos": True},
        "lists of ids": {"prompt": [prompt, other], "ignore_eos": True},
        "n": {"prompt": prompt, "n": 2, "temperature": 1.0, "seed": 3, "ignore_eos": True},
        "echo": {"prompt": "one two", "echo": True, "ignore_eos": True},
        "echo, streamed": {"prompt": "one two", "echo": True, "ignore_eos": True, **_STREAM},
        "streamed": {"prompt": prompt, "stream": True, "ignore_eos": True},
        "streamed with usage": {"prompt": prompt, "ignore_eos": True, **_STREAM},
        "streamed with usage each time": {
            "prompt": prompt, "stream": True, "ignore_eos": True,
            "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        },
        "streamed with ids": {"prompt": prompt, "return_token_ids": True, "ignore_eos": True, **_STREAM},
        "with ids": {"prompt": prompt, "return_token_ids": True, "ignore_eos": True},
        "text with ids": {"prompt": "one two", "return_token_ids": True, "ignore_eos": True},
        "as the benchmark asks": {
            "prompt": longer, "max_tokens": 20, "min_tokens": 20, "ignore_eos": True, "temperature": 0, **_STREAM,
        },
        "the same prompt again": {
            "prompt": longer, "max_tokens": 20, "min_tokens": 20, "ignore_eos": True, "temperature": 0, **_STREAM,
        },
        "most of it again": {"prompt": [*longer[:200], *other], "ignore_eos": True},
        "no limit given": {"prompt": prompt, "max_tokens": None, "ignore_eos": True},
        "sampling": {
            "prompt": prompt, "temperature": 0.7, "top_p": 0.9, "top_k": 40, "min_p": 0.01, "seed": 1,
            "presence_penalty": 0.5, "frequency_penalty": 0.5, "ignore_eos": True,
        },
        "fields unheard of": {"prompt": prompt, "nonsense": 1, "user": "me", "ignore_eos": True},
        "suffix": {"prompt": prompt, "suffix": "x"},
        "own request id": {"prompt": prompt, "request_id": "mine", "ignore_eos": True},
    }  # fmt: skip
    yield from _each(_completion, asked)
    body = {"model": SERVED_NAME, "prompt": prompt, "max_tokens": 3, "ignore_eos": True}
    yield _fixed(_post("request id in a header", COMPLETIONS, body, (("X-Request-Id", "mine"),)))
    yield from _stops(sampled)
    chats: dict[str, _Fields] = {
        "chat": {"ignore_eos": True},
        "chat, streamed": {"ignore_eos": True, "stream": True},
        "chat, streamed with usage": {"ignore_eos": True, **_STREAM},
        "chat, streamed with usage each time": {
            "ignore_eos": True, "stream": True,
            "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        },
        "chat, two answers": {"n": 2, "temperature": 1.0, "seed": 5, "ignore_eos": True},
        "chat, with ids": {"return_token_ids": True, "ignore_eos": True},
        "chat, streamed with ids": {"return_token_ids": True, "ignore_eos": True, **_STREAM},
        "chat, another limit": {"max_completion_tokens": 4, "ignore_eos": True},
        "chat, minimum": {"min_tokens": 6},
        "chat in parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
                           "ignore_eos": True},
        "chat, going on": {"messages": [*_MESSAGES, {"role": "assistant", "content": "one"}], "ignore_eos": True},
    }  # fmt: skip
    yield from _each(_chat, chats)


def _stops(sampled: _Fields) -> Iterator[_Maker]:
    """Questions that end at the sixth token of the sample."""

    def stop(name: str, more: _Fields, text: list[str], *, token: bool = False) -> _Maker:
        def make(sample: Sample) -> Question:
            ends = {"stop_token_ids": [sample.tokens[5]]} if token else {"stop": [*text, sample.texts[5]]}
            return _completion(name, **sampled, **more, **ends)

        return make

    for kind, more in {"": {}, ", streamed": _STREAM}.items():
        yield stop(f"stop{kind}", more, [])
        yield stop(f"stop, shown{kind}", {**more, "include_stop_str_in_output": True}, ["~~"])
        yield stop(f"stop token{kind}", more, [], token=True)
    yield stop("stop before the minimum", {"min_tokens": 8}, [])
    yield stop("stop token before the minimum", {"min_tokens": 8}, [], token=True)


def _refusals() -> Iterator[_Maker]:
    short = [1000, 1001, 1002]
    asked: dict[str, _Fields] = {
        "unknown model": {"model": "nope", "prompt": short},
        "too many tokens": {"prompt": short, "max_tokens": 5000},
        "no tokens": {"prompt": short, "max_tokens": 0},
        "fewer than no tokens": {"prompt": short, "max_tokens": -1},
        "prompt too long": {"prompt": [1000] * (_LENGTH + 1)},
        "prompt as long as the limit": {"prompt": [1000] * _LENGTH},
        "prompt and reply too long": {"prompt": [1000] * 4000, "max_tokens": 200},
        "text too long": {"prompt": "one " * 5000},
        "temperature below": {"prompt": short, "temperature": -1},
        "temperature above": {"prompt": short, "temperature": 2.5},
        "top_p 0": {"prompt": short, "top_p": 0},
        "top_p 2": {"prompt": short, "top_p": 2},
        "top_k": {"prompt": short, "top_k": -5},
        "min_p": {"prompt": short, "min_p": 2},
        "presence penalty": {"prompt": short, "presence_penalty": 3},
        "frequency penalty": {"prompt": short, "frequency_penalty": -3},
        "n of 0": {"prompt": short, "n": 0},
        "n no number": {"prompt": short, "n": "x"},
        "empty stop": {"prompt": short, "stop": ""},
        "empty stop in a list": {"prompt": short, "stop": ["x", ""]},
        "minimum above maximum": {"prompt": short, "max_tokens": 2, "min_tokens": 3},
        "minimum below 0": {"prompt": short, "min_tokens": -1},
        "seed too large": {"prompt": short, "seed": 2**64},
        "stream options without stream": {"prompt": short, "stream_options": {"include_usage": True}},
        "no prompt": {},
        "empty prompt": {"prompt": ""},
        "empty list": {"prompt": []},
        "prompt of another type": {"prompt": 5},
        "prompt of mixed types": {"prompt": ["x", 5]},
        "token below 0": {"prompt": [-1]},
        "token beyond the vocabulary": {"prompt": [1_000_000]},
        "temperature no number": {"prompt": short, "temperature": "hot"},
        "two at fault": {"prompt": short, "temperature": "hot", "max_tokens": "many"},
    }  # fmt: skip
    yield from _each(_completion, asked)
    chats: dict[str, _Fields] = {
        "chat with an unknown model": {"model": "nope"},
        "chat, too many tokens": {"max_tokens": 5000},
        "chat, too many completion tokens": {"max_completion_tokens": 5000},
        "chat without messages": {"messages": None},
        "chat of no messages": {"messages": []},
        "chat, unknown role": {"messages": [{"role": "nobody", "content": "x"}]},
        "chat, no role": {"messages": [{"content": "x"}]},
        "chat, too long": {"messages": [{"role": "user", "content": "one " * 5000}]},
        "chat, stream options without stream": {"stream_options": {"include_usage": True}},
    }  # fmt: skip
    yield from _each(_chat, chats)


def _unusual() -> Iterator[_Maker]:
    body = json.dumps({"model": SERVED_NAME, "prompt": [1000], "max_tokens": 1}).encode()
    yield _fixed(Question("no JSON", "POST", COMPLETIONS, b'{"model": '))
    yield _fixed(Question("no body", "POST", COMPLETIONS, b""))
    yield _fixed(Question("a list", "POST", COMPLETIONS, b"[]"))
    yield _fixed(Question("another media type", "POST", COMPLETIONS, body, (("Content-Type", "text/plain"),)))
    yield _fixed(Question("wrong key", "GET", "/v1/models", None, (("Authorization", "Bearer wrong"),)))


def _together(seed: int, headers: Sequence[tuple[str, str]]) -> Iterator[Round]:
    dice = random.Random(f"likeness/together/{seed}")  # noqa: S311
    fields: _Fields = {"max_tokens": 16, "min_tokens": 16, "ignore_eos": True, "temperature": 0}
    streams = [_completion(f"stream {k}", prompt=_ids(dice, 30 + k), **fields, **_STREAM) for k in range(4)]
    plain = [_completion(f"plain {k}", prompt=_ids(dice, 200), **fields) for k in range(2)]
    chats = [_chat(f"chat {k}", **fields, **_STREAM) for k in range(2)]
    refused = [_completion("refused meanwhile", prompt=[1000], max_tokens=5000)]
    every = [_with(question, headers) for question in (*streams, *plain, *chats, *refused)]
    yield Round("several at once", lambda _: every)
    ids = _ids(dice, 30)
    left = Question(
        "left by its client", "POST", COMPLETIONS,
        json.dumps({"model": SERVED_NAME, "prompt": ids, **_STREAM, **fields, "max_tokens": 400}).encode(),
        headers, hang_up_after=3,
    )  # fmt: skip
    stays = _with(_completion("stays meanwhile", prompt=_ids(dice, 30), **fields, **_STREAM), headers)
    yield Round("one client leaves", lambda _: [left, stays])
