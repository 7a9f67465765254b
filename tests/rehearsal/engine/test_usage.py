"""Where vLLM 0.31.0 shows which token counts and ids: chats and completions differ."""

import json
from typing import Any

import pytest
from aiohttp import ClientSession

from tests.rehearsal.engine.conftest import Running, Start

DETAILS = "--enable-prompt-tokens-details"
USAGE = {"include_usage": True}
EACH = {"include_usage": True, "continuous_usage_stats": True}
MESSAGES = [{"role": "user", "content": " ".join(["word"] * 300)}]


async def bodies(running: Running, path: str, **fields: Any) -> list[dict[str, Any]]:
    """Return the events of a stream, or the one body."""
    async with ClientSession() as client, client.post(running.url + path, json=fields) as answer:
        text = await answer.text()
    if not fields.get("stream"):
        return [json.loads(text)]
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]


async def chat(running: Running, **fields: Any) -> list[dict[str, Any]]:
    fields = {"messages": MESSAGES, "max_tokens": 2, "ignore_eos": True, **fields}
    return await bodies(running, "/v1/chat/completions", **fields)


async def completion(running: Running, **fields: Any) -> list[dict[str, Any]]:
    fields = {"prompt": list(range(300, 600)), "max_tokens": 2, "ignore_eos": True, **fields}
    return await bodies(running, "/v1/completions", **fields)


@pytest.mark.parametrize("flags", [(), (DETAILS,)])
async def test_a_chat_has_empty_details_in_each_chunk_but_not_at_the_end(start: Start, flags: tuple[str, ...]) -> None:
    running = await start(*flags)
    *chunks, last = await chat(running, messages=[MESSAGES[0] | {"content": "a"}], stream=True, stream_options=EACH)
    prompt = last["usage"]["prompt_tokens"]
    assert [chunk["usage"] for chunk in chunks] == [
        {
            "prompt_tokens": prompt,
            "total_tokens": prompt + made,
            "completion_tokens": made,
            "completion_tokens_details": None,
        }
        for made in range(3)
    ]
    assert "completion_tokens_details" not in last["usage"]


async def test_a_completion_has_no_details_in_its_chunks(start: Start) -> None:
    chunks = await completion(await start(), prompt=[300], stream=True, stream_options=EACH)
    assert chunks[0]["usage"] == {"prompt_tokens": 1, "total_tokens": 2, "completion_tokens": 1}


async def test_only_a_chat_says_what_was_put_into_the_cache(start: Start) -> None:
    running = await start(DETAILS)
    length = (await chat(running))[0]["usage"]["prompt_tokens"]
    assert 256 < length < 384
    plain, streamed = await chat(running), await chat(running, stream=True, stream_options=USAGE)
    for answer, more in ((plain, {"multimodal_tokens": None}), (streamed, {})):
        details = answer[-1]["usage"]["prompt_tokens_details"]
        assert details == {"cached_tokens": 256, "created_cache_tokens": 0, **more}
    other = [{"role": "user", "content": "other " * 150}]
    assert (await chat(running, messages=other))[0]["usage"]["prompt_tokens_details"] == {
        "cached_tokens": 0,
        "created_cache_tokens": 128,
        "multimodal_tokens": None,
    }
    (whole,) = await completion(running)
    assert whole["usage"]["prompt_tokens_details"]["created_cache_tokens"] is None
    ends = await completion(running, stream=True, stream_options=USAGE)
    assert ends[-1]["usage"]["prompt_tokens_details"] == {"cached_tokens": 256}


async def test_an_echoed_prompt_comes_with_its_ids_in_the_first_chunk(start: Start) -> None:
    first, second = await completion(await start(), prompt=[300, 301], echo=True, stream=True)
    assert first["choices"][0]["prompt_token_ids"] == [300, 301]
    assert first["choices"][0]["token_ids"] is None
    assert second["choices"][0]["prompt_token_ids"] is None


async def test_where_ids_are_wanted_the_prompt_is_echoed_as_ids_not_as_text(start: Start) -> None:
    # By vLLM's source, `entrypoints/openai/completion/serving.py`; the recorded questions do not ask for it.
    running = await start()
    fields = {"prompt": "one two", "return_token_ids": True}
    (plain,) = await completion(running, **fields)
    (echoed,) = await completion(running, **fields, echo=True)
    first, _ = await completion(running, **fields, echo=True, stream=True)
    prompt, made = plain["choices"][0]["prompt_token_ids"], plain["choices"][0]["token_ids"]
    assert echoed["choices"][0]["token_ids"] == [*prompt, *made]
    assert echoed["choices"][0]["text"] == plain["choices"][0]["text"]
    assert first["choices"][0]["token_ids"] == [*prompt, made[0]]
    (text,) = await completion(running, prompt="one two", echo=True)
    assert text["choices"][0]["text"] == "one two" + plain["choices"][0]["text"]
