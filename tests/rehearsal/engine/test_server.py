"""The wire: what a real vLLM 0.31.0 answered is what the stand-in answers, after masking ids, times and text."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from tests.rehearsal.engine.conftest import MODEL, Running, Start

CHAT = {"model": MODEL, "messages": [{"role": "user", "content": "Say something, please."}]}


def masked(text: str) -> str:
    """Hide what differs between any two answers: ids, times, the words, prompt lengths, the build's fingerprint."""
    for pattern, mask in (
        (r"date: [^\r\n]+", "date: DATE"),
        (r'"id":"(chatcmpl|cmpl)-[0-9a-f]{16}"', r'"id":"\1-ID"'),
        (r'"created":\d+', '"created":TIME'),
        (r'"content":"[^"]+"', '"content":"TEXT"'),
        (r'"system_fingerprint":"(vllm-0\.31\.0(?:-pp\d)?)-[0-9a-f]{8}"', r'"system_fingerprint":"\1-HASH"'),
        (r'"prompt_tokens":\d+,"total_tokens":\d+', '"prompt_tokens":N,"total_tokens":N'),
    ):
        text = re.sub(pattern, mask, text)
    return text


async def raw(running: Running, path: str, body: object) -> str:
    """Send a request over a plain socket and return the answer as it comes over the wire, chunk sizes left out."""
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    payload = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(payload)}\r\n\r\n"
    )
    writer.write(head.encode() + payload)
    answer = await reader.readuntil(b"\r\n\r\n")
    if b"transfer-encoding: chunked" in answer:
        while size := int(await reader.readline(), 16):
            answer += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        match = re.search(rb"content-length: (\d+)", answer)
        assert match is not None
        answer += await reader.readexactly(int(match[1]))
    writer.close()
    await writer.wait_closed()
    return answer.decode()


def events(text: str) -> list[Any]:
    """Return the bodies of the events of a stream, `[DONE]` as it is."""
    found = re.findall(r"^data: (.*)$", text, flags=re.MULTILINE)
    return [data if data == "[DONE]" else json.loads(data) for data in found]


def recording(recordings: Path, name: str) -> str:
    return (recordings / name).read_bytes().decode()


async def test_chat_stream_is_the_recorded_one(start: Start, recordings: Path) -> None:
    running = await start()
    options = {"max_tokens": 8, "stream": True, "stream_options": {"include_usage": True}}
    answer = await raw(running, "/v1/chat/completions", {**CHAT, **options})
    assert masked(answer) == masked(recording(recordings, "chat-stream.txt"))


async def test_split_chat_stream_is_the_recorded_one(start: Start, recordings: Path) -> None:
    running = await start("--pipeline-parallel-size=2")
    options = {"max_tokens": 4, "stream": True, "stream_options": {"include_usage": True}}
    answer = await raw(running, "/v1/chat/completions", {**CHAT, **options})
    body = answer.partition("\r\n\r\n")[2]
    assert masked(body) == masked(recording(recordings, "split-chat-stream.txt"))


async def test_unknown_model_is_the_recorded_error(start: Start, recordings: Path) -> None:
    running = await start()
    answer = await raw(running, "/v1/chat/completions", {**CHAT, "model": "nope"})
    assert masked(answer) == masked(recording(recordings, "err-model.txt"))


async def test_too_many_tokens_is_the_recorded_error(start: Start, recordings: Path) -> None:
    running = await start()
    answer = await raw(running, "/v1/chat/completions", {**CHAT, "max_tokens": 5000})
    assert masked(answer) == masked(recording(recordings, "err-too-long.txt"))


@pytest.mark.parametrize(
    ("path", "body", "status", "message", "param"),
    [
        (
            "/v1/completions",
            {"prompt": "a b c", "max_tokens": 2, "min_tokens": 3},
            400,
            "min_tokens must be less than or equal to max_tokens=2, got 3.",
            None,
        ),
        (
            "/v1/completions",
            {"prompt": "a", "max_tokens": 0},
            400,
            "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)",
            "max_tokens",
        ),
        (
            "/v1/completions",
            {"prompt": ""},
            400,
            "Either prompt or prompt_embeds must be provided and non-empty. (parameter=prompt)",
            "prompt",
        ),
        (
            "/v1/completions",
            {"prompt": "a", "stream_options": {"include_usage": True}},
            400,
            "Stream options can only be defined when `stream=True`. (parameter=stream_options)",
            "stream_options",
        ),
        (
            "/v1/completions",
            {"prompt": [300] * 4090, "max_tokens": 10},
            400,
            (
                "This model's maximum context length is 4096 tokens. However, you requested 10 output tokens and your "
                "prompt contains 4090 input tokens, for a total of 4100 tokens. Please reduce the length of the input "
                "prompt or the number of requested output tokens. (parameter=input_tokens, value=4090)"
            ),
            "input_tokens",
        ),
        (
            "/v1/completions",
            {"prompt": "word " * 5000, "max_tokens": 96},
            400,
            (
                "This model's maximum context length is 4096 tokens. However, you requested 96 output tokens and your "
                "prompt contains at least 4001 input tokens, for a total of at least 4097 tokens. Please reduce the "
                "length of the input prompt or the number of requested output tokens. "
                "(parameter=input_tokens, value=4001)"
            ),
            "input_tokens",
        ),
        (
            "/v1/chat/completions",
            {**CHAT, "temperature": 3},
            400,
            "temperature must be in [0, 2], got 3.0. (parameter=temperature, value=3.0)",
            "temperature",
        ),
        (
            "/v1/chat/completions",
            {"model": MODEL},
            400,
            (
                "1 validation error:\n  {'type': 'missing', 'loc': 'body.messages', 'msg': 'Field required', "
                "'input': '<dict of 1 items>'}"
            ),
            "body.messages",
        ),
        (
            "/v1/completions",
            {"prompt": "a", "max_tokens": "x"},
            400,
            (
                "1 validation error:\n  {'type': 'int_parsing', 'loc': 'body.max_tokens', 'msg': 'Input should be a "
                "valid integer, unable to parse string as an integer', 'input': 'x'}"
            ),
            "body.max_tokens",
        ),
    ],
)
async def test_refused_requests(
    start: Start, path: str, body: object, status: int, message: str, param: str | None
) -> None:
    running = await start()
    async with ClientSession() as client, client.post(running.url + path, json=body) as answer:
        assert answer.status == status
        error = (await answer.json())["error"]
    assert (error["message"], error["param"], error["code"]) == (message, param, status)


async def test_completion_stream(start: Start) -> None:
    running = await start()
    body = {"prompt": "one two three", "max_tokens": 3, "min_tokens": 3, "ignore_eos": True, "stream": True}
    *chunks, done = events(await raw(running, "/v1/completions", body))
    assert done == "[DONE]"
    keys = ["index", "text", "logprobs", "finish_reason", "stop_reason", "prompt_token_ids", "token_ids"]
    assert [list(chunk["choices"][0]) for chunk in chunks] == [keys] * 3
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks] == [None, None, "length"]
    assert [list(chunk)[:5] for chunk in chunks] == [["id", "object", "created", "model", "choices"]] * 3
    assert [("system_fingerprint" in chunk) for chunk in chunks] == [False, False, True]


async def test_continuous_usage(start: Start) -> None:
    running = await start()
    options = {"include_usage": True, "continuous_usage_stats": True}
    body = {**CHAT, "max_tokens": 3, "stream": True, "stream_options": options}
    chunks = events(await raw(running, "/v1/chat/completions", body))[:-1]
    assert [chunk["usage"]["completion_tokens"] for chunk in chunks] == [0, 1, 2, 3, 3]


async def test_plain_completion_counts_and_repeats(start: Start) -> None:
    running = await start()
    body = {"prompt": "one two three", "max_tokens": 5, "ignore_eos": True}
    async with ClientSession() as client:
        texts = []
        for _ in range(2):
            async with client.post(f"{running.url}/v1/completions", json=body) as answer:
                found = await answer.json()
                texts.append(found["choices"][0]["text"])
    assert found["usage"] == {
        "prompt_tokens": 4,
        "total_tokens": 9,
        "completion_tokens": 5,
        "prompt_tokens_details": None,
        "completion_tokens_details": None,
    }
    assert texts[0] == texts[1] != ""
    assert found["choices"][0]["finish_reason"] == "length"


async def test_many_prompts_and_copies(start: Start) -> None:
    running = await start()
    body = {"prompt": [[300, 301], [302]], "n": 2, "max_tokens": 2, "ignore_eos": True, "return_token_ids": True}
    async with ClientSession() as client, client.post(f"{running.url}/v1/completions", json=body) as answer:
        found = await answer.json()
    assert [choice["index"] for choice in found["choices"]] == [0, 1, 2, 3]
    assert [choice["prompt_token_ids"] for choice in found["choices"]] == [[300, 301], [300, 301], [302], [302]]
    assert all(len(choice["token_ids"]) == 2 for choice in found["choices"])
    assert found["usage"]["completion_tokens"] == 8


async def test_stop_string_ends_the_text(start: Start) -> None:
    running = await start()
    ask = {"prompt": "one two three", "max_tokens": 20, "ignore_eos": True}
    async with ClientSession() as client:

        async def choice(**more: object) -> dict[str, Any]:
            async with client.post(f"{running.url}/v1/completions", json={**ask, **more}) as answer:
                found: dict[str, Any] = (await answer.json())["choices"][0]
                return found

        words = (await choice())["text"].split()
        stopped = await choice(stop=[words[4]])
        late = await choice(stop=[words[4]], min_tokens=10)
        kept = await choice(stop=words[4], include_stop_str_in_output=True)
    assert (stopped["finish_reason"], stopped["stop_reason"]) == ("stop", words[4])
    assert stopped["text"].split() == words[:4]
    assert kept["text"].split() == words[:5]
    assert len(late["text"].split()) >= 10


async def test_the_model_may_end_by_itself_unless_told_not_to(start: Start) -> None:
    ends = '{"step_s":0.0004,"sequence_s":0,"prefill_token_s":0,"frontend_s":0,"schedule_s":0,"end_of_text":1}'
    running = await start(SPLITBED_STANDIN_PARAMETERS=ends)
    async with ClientSession() as client:
        results = []
        for more in ({}, {"min_tokens": 4}, {"ignore_eos": True}):
            body = {"prompt": "a", "max_tokens": 9, **more}
            async with client.post(f"{running.url}/v1/completions", json=body) as answer:
                found = await answer.json()
                results.append((found["choices"][0]["finish_reason"], found["usage"]["completion_tokens"]))
    assert results == [("stop", 1), ("stop", 5), ("length", 9)]


async def test_small_endpoints(start: Start) -> None:
    running = await start("--served-model-name", "a", "b")
    async with ClientSession() as client:

        async def get(path: str) -> tuple[int, str]:
            async with client.get(running.url + path) as answer:
                return answer.status, await answer.text()

        assert await get("/health") == (200, "")
        assert await get("/ping") == (200, "")
        assert await get("/version") == (200, '{"version":"0.31.0"}')
        assert await get("/nowhere") == (404, '{"detail":"Not Found"}')
        assert (await get("/v1/completions"))[0] == 405
        models = json.loads((await get("/v1/models"))[1])
        assert [card["id"] for card in models["data"]] == ["a", "b"]
        assert [(card["root"], card["max_model_len"]) for card in models["data"]] == [(MODEL, 4096)] * 2
        standin = json.loads((await get("/splitbed/standin"))[1])
        assert standin["profile"] == "fast"
        assert standin["parameters"]["step_s"] == 0.0004
        body = {"prompt": "one two three"}
        async with client.post(f"{running.url}/tokenize", json=body) as answer:
            found = await answer.json()
        assert (found["count"], found["max_model_len"], len(found["tokens"])) == (4, 4096, 4)
        async with client.post(f"{running.url}/detokenize", json={"tokens": found["tokens"]}) as answer:
            assert await answer.json() == {"prompt": "one two three"}


async def test_api_key(start: Start) -> None:
    running = await start("--api-key", "secret")
    async with ClientSession() as client:
        async with client.get(f"{running.url}/v1/models") as answer:
            assert (answer.status, await answer.text()) == (401, '{"error":"Unauthorized"}')
        async with client.get(f"{running.url}/v1/models", headers={"Authorization": "Bearer secret"}) as answer:
            assert answer.status == 200
        async with client.get(f"{running.url}/health") as answer:
            assert answer.status == 200


async def test_cached_tokens_are_shown_on_request_only(start: Start) -> None:
    shown = []
    for flags in ((), ("--enable-prompt-tokens-details",)):
        running = await start(*flags)
        async with ClientSession() as client:
            for _ in range(2):
                body = {"prompt": list(range(300, 600)), "max_tokens": 1}
                async with client.post(f"{running.url}/v1/completions", json=body) as answer:
                    shown.append((await answer.json())["usage"]["prompt_tokens_details"])
    details = {"created_cache_tokens": None, "multimodal_tokens": None}
    assert shown == [None, None, {"cached_tokens": 0, **details}, {"cached_tokens": 256, **details}]


async def test_a_client_that_leaves_frees_its_blocks(start: Start) -> None:
    running = await start(SPLITBED_STANDIN_PARAMETERS='{"step_s": 0.05}')
    engine = running.server.engine
    body = {"prompt": "a", "max_tokens": 4000, "ignore_eos": True, "stream": True}
    async with ClientSession() as client:
        answer = await client.post(f"{running.url}/v1/completions", json=body)
        await answer.content.readany()
        assert engine.core.unfinished == 1
        answer.close()
        await asyncio.wait_for(engine.drained(), 10)
    assert engine.core.unfinished == 0
    assert engine.core.scheduler.pool.used == 0


async def test_stamps_tell_when_each_piece_was_written(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "stamps.jsonl"
    running = await start(stamps=file)
    body = {"prompt": "a", "max_tokens": 4, "ignore_eos": True, "stream": True}
    await raw(running, "/v1/completions", body)
    stamps = [json.loads(line) for line in file.read_text().splitlines()]
    assert [stamp["event"] for stamp in stamps] == ["read", "headers", *["write"] * 5, "end"]
    assert [stamp["tokens"] for stamp in stamps if stamp["event"] == "write"] == [1, 1, 1, 1, 0]
    times = [stamp["ns"] for stamp in stamps]
    assert times == sorted(times)
    for stamp in stamps:
        if stamp.get("tokens"):
            assert stamp["engine_ns"] <= stamp["ns"]


async def test_a_dead_engine_says_so(start: Start) -> None:
    running = await start()
    running.server.engine.die()
    async with ClientSession() as client:
        async with client.get(f"{running.url}/health") as answer:
            assert answer.status == 503
        async with client.post(f"{running.url}/v1/completions", json={"prompt": "a"}) as answer:
            assert answer.status == 500
            assert (await answer.json())["error"]["type"] == "InternalServerError"
