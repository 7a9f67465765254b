"""Stop strings and stop tokens: what is shown, and what is counted."""

import asyncio
import json
import re
from typing import Any

import pytest
from aiohttp import ClientSession

from tests.rehearsal.engine.conftest import Running, Start

COUNTED = {
    "generation_tokens_total": 6,
    "inter_token_latency_seconds_count": 5,
    "iteration_tokens_total_count": 6,
    "iteration_tokens_total_sum": 4 + 6,
    "request_generation_tokens_sum": 6,
}
"""By how much a prompt of 4 tokens moves each metric, if it ends at the sixth token of its answer."""
ASK = {"prompt": "one two three", "max_tokens": 12, "ignore_eos": True, "return_token_ids": True, "stream": True}


async def choices(running: Running, **more: Any) -> list[dict[str, Any]]:
    """Return the choice of each chunk of a stream."""
    body = {**ASK, **more}
    async with ClientSession() as client, client.post(f"{running.url}/v1/completions", json=body) as answer:
        text = await answer.text()
    return [json.loads(line[6:])["choices"][0] for line in text.splitlines() if line.startswith("data: {")]


async def counts(running: Running) -> dict[str, float]:
    """Return what counts generated tokens."""
    async with ClientSession() as client, client.get(f"{running.url}/metrics") as answer:
        text = await answer.text()
    found = re.findall(r"^vllm:(\w+)\{.*\} (.*)$", text, flags=re.MULTILINE)
    return {name: float(value) for name, value in found if name in COUNTED}


@pytest.mark.parametrize("flags", [(), ("--pipeline-parallel-size=2",), ("--stream-interval=4",)])
async def test_nothing_is_counted_after_a_stop_string(start: Start, flags: tuple[str, ...]) -> None:
    running = await start(*flags)
    text = "".join(choice["text"] for choice in await choices(running))
    sixth = text.split()[5]
    before = await counts(running)
    for round_ in range(1, 4):
        *_, last = await choices(running, stop=sixth)
        assert (last["finish_reason"], last["stop_reason"]) == ("stop", sixth)
        await asyncio.sleep(0.01)
        moved = {name: (value - before[name]) / round_ for name, value in (await counts(running)).items()}
        assert moved == COUNTED


async def test_a_stop_string_at_the_last_token_is_the_reason(start: Start) -> None:
    running = await start()
    text = "".join(choice["text"] for choice in await choices(running, max_tokens=6))
    *_, last = await choices(running, max_tokens=6, stop=text.split()[5])
    assert last["finish_reason"] == "stop"
    async with ClientSession() as client, client.get(f"{running.url}/metrics") as answer:
        found = re.findall(r'finished_reason="(\w+)",.*\} 1\.0$', await answer.text(), flags=re.MULTILINE)
    assert sorted(found) == ["length", "stop"]


async def test_the_text_of_a_stop_token_is_shown_only_on_request(start: Start) -> None:
    running = await start()
    every = await choices(running)
    token, word = every[5]["token_ids"][0], every[5]["text"]
    *_, hidden = await choices(running, stop_token_ids=[token])
    *_, shown = await choices(running, stop_token_ids=[token], include_stop_str_in_output=True)
    for last, text in ((hidden, ""), (shown, word)):
        assert (last["text"], last["token_ids"]) == (text, [token])
        assert (last["finish_reason"], last["stop_reason"]) == ("stop", token)


async def test_a_plain_answer_leaves_the_stop_token_out_and_counts_it(start: Start) -> None:
    running = await start()
    every = await choices(running)
    body = {**ASK, "stream": False, "stop_token_ids": [every[5]["token_ids"][0]]}
    async with ClientSession() as client, client.post(f"{running.url}/v1/completions", json=body) as answer:
        found = await answer.json()
    assert found["choices"][0]["text"] == "".join(choice["text"] for choice in every[:5])
    assert found["usage"]["completion_tokens"] == 6
    assert len(found["choices"][0]["token_ids"]) == 6
