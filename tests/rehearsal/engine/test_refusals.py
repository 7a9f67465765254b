"""Requests that real vLLM 0.31.0 refuses, and its very words; those of `test_server` besides."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import ClientSession

from tests.rehearsal.engine.conftest import MODEL, Start

COMPLETIONS, CHAT = "/v1/completions", "/v1/chat/completions"
NO_ROLE = [
    f"{{'type': 'missing', 'loc': 'body.messages.0.{field}', 'msg': 'Field required', 'input': '<dict of 1 items>'}}"
    for field in (
        "ChatCompletionDeveloperMessageParam.role",
        "ChatCompletionSystemMessageParam.role",
        "ChatCompletionUserMessageParam.role",
        "ChatCompletionAssistantMessageParam.role",
        "ChatCompletionToolMessageParam.role",
        "ChatCompletionToolMessageParam.tool_call_id",
        "ChatCompletionFunctionMessageParam.name",
        "ChatCompletionFunctionMessageParam.role",
        "CustomChatCompletionMessageParam.role",
        "Message.author",
    )
]

NO_MEDIA = f"{MODEL} is not a multimodal model"
STRANGE_STOP = (
    "token_id(s) [262144] in stop_token_ids contain out-of-vocab token ids. Vocabulary size: 262144 "
    "(parameter=stop_token_ids, value=[262144])"
)
CALL = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CUSTOM = {"name": "f", "input": "x"}
JSON_BLANK = "application/json ;charset=utf-8"


async def refusal(start: Start, path: str, data: bytes) -> dict[str, Any]:
    running = await start()
    headers = {"Content-Type": "application/json"}
    async with ClientSession() as client, client.post(running.url + path, data=data, headers=headers) as answer:
        assert answer.status == 400
        found: dict[str, Any] = (await answer.json())["error"]
    assert found["code"] == 400
    return found


@pytest.mark.parametrize(
    ("path", "body", "message", "param"),
    [
        (
            COMPLETIONS,
            {"prompt": [300], "suffix": "x"},
            "suffix requires text prompt input for FIM completion rendering",
            "suffix",
        ),
        (
            COMPLETIONS,
            {"prompt": "a", "suffix": "x"},
            "suffix is only supported for models with FIM completion rendering",
            "suffix",
        ),
        (COMPLETIONS, {"prompt": "a", "suffix": "x", "echo": True}, "Echo is unsupported with suffix.", "suffix"),
        (COMPLETIONS, {"prompt": [300], "n": 0}, "n must be at least 1, got 0.", None),
        (COMPLETIONS, {"prompt": []}, "You must pass at least one prompt", None),
        (COMPLETIONS, {"prompt": [1_000_000]}, "Token id 1000000 is out of vocabulary", None),
        ("/detokenize", {"tokens": [2**32]}, "number too large to fit in target type", None),
        (COMPLETIONS, {"prompt": [262_144]}, "Token id 262144 is out of vocabulary", None),
        (CHAT, {"messages": None}, "'NoneType' object is not iterable", None),
        (
            CHAT,
            {"messages": []},
            "Cannot apply chat template to an empty conversation. Provide at least one message.",
            None,
        ),
    ],
)
async def test_bad_requests(start: Start, path: str, body: dict[str, Any], message: str, param: str | None) -> None:
    found = await refusal(start, path, json.dumps({"model": MODEL, **body}).encode())
    assert (found["message"], found["type"], found["param"]) == (message, "BadRequestError", param)


@pytest.mark.parametrize(
    ("path", "data", "entries", "param"),
    [
        (
            "/tokenize",
            b'{"model": "google/gemma-3-1b-it"}',
            [
                "2 validation errors:",
                "{'type': 'missing', 'loc': 'body.prompt', 'msg': 'Field required', 'input': '<dict of 1 items>'}",
                "{'type': 'missing', 'loc': 'body.messages', 'msg': 'Field required', 'input': '<dict of 1 items>'}",
            ],
            "body.prompt",
        ),
        (
            CHAT,
            b'{"messages": [{"content": "x"}]}',
            ["11 validation errors:", *NO_ROLE, "...and 1 more errors"],
            "body.messages.0.ChatCompletionDeveloperMessageParam.role",
        ),
        (
            COMPLETIONS,
            b"",
            [
                "1 validation error:",
                "{'type': 'missing', 'loc': 'body', 'msg': 'Field required', 'input': 'None'}",
            ],
            "body",
        ),
        (
            COMPLETIONS,
            b"[]",
            [
                "1 validation error:",
                (
                    "{'type': 'model_attributes_type', 'loc': 'body', 'msg': 'Input should be a valid dictionary or "
                    "object to extract fields from', 'input': '<list of 0 items>'}"
                ),
            ],
            "body",
        ),
    ],
)
async def test_bodies_of_another_shape(start: Start, path: str, data: bytes, entries: list[str], param: str) -> None:
    found = await refusal(start, path, data)
    assert found["message"] == "\n  ".join(entries)
    assert (found["type"], found["param"]) == ("Bad Request", param)


def user(*parts: object) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(parts)}]}


@pytest.mark.parametrize(
    ("body", "message", "param"),
    [
        (user({"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "x"}}), NO_MEDIA, None),
        (user({"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}}), NO_MEDIA, None),
        ({"messages": [{"role": "nobody", "content": [{"video_url": "x"}]}]}, NO_MEDIA, None),
        (
            {"messages": [{"role": "nobody", "content": [{"type": "image_embeds", "image_embeds": "x"}]}]},
            "The model is not multimodal.",
            None,
        ),
        (
            {"messages": [{"role": "nobody", "content": [{"type": "prompt_embeds", "data": "x"}]}]},
            "You must set `--enable-prompt-embeds` to input `prompt_embeds` (parameter=prompt_embeds)",
            "prompt_embeds",
        ),
        (
            {"messages": [{"role": "nobody", "content": [{"uuid": "x"}]}]},
            "Missing 'type' field in multimodal part. (parameter=type)",
            "type",
        ),
        ({"messages": [{"author": {"role": "user"}, "content": []}]}, "'Message' object is not subscriptable", None),
        ({"messages": [{"role": "assistant", "tool_calls": 5}]}, "'int' object is not iterable", None),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{**CALL, "type": "custom", "custom": CUSTOM}]}]},
            "chat completions only support assistant tool_calls of type 'function'. (parameter=tool_calls)",
            "tool_calls",
        ),
    ],
)
async def test_messages_that_a_model_of_text_cannot_read(
    start: Start, body: dict[str, Any], message: str, param: str | None
) -> None:
    found = await refusal(start, CHAT, json.dumps(body).encode())
    assert (found["message"], found["type"], found["param"]) == (message, "BadRequestError", param)


async def test_a_file_is_told_what_could_be_read_instead(start: Start) -> None:
    found = await refusal(start, CHAT, json.dumps(user({"type": "file", "file": {}})).encode())
    assert found["message"].startswith("Unsupported chat content part type: 'file'. Supported types: audio_embeds, ")
    assert found["message"].endswith(", video_url. (parameter=type, value=file)")


async def test_messages_of_every_role_are_read(start: Start) -> None:
    running = await start()
    text = [{"type": "text", "text": "one two"}]
    messages = [
        {"role": "system", "content": "three"},
        {"role": "developer", "content": text},
        {"role": "user", "content": [*text, {"type": "text", "text": ""}, *text]},
        {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "hm"},
        {"role": "tool", "content": text, "tool_call_id": "x"},
        {"role": "nobody", "content": ["one", {"type": "thinking", "thinking": "two"}]},
    ]
    asked = {"messages": messages, "return_token_strs": True}
    async with ClientSession() as client, client.post(f"{running.url}/tokenize", json=asked) as answer:
        assert answer.status == 200
        pieces = (await answer.json())["token_strs"]
    assert "".join(pieces).split("<start_of_turn>") == [
        "<bos>",
        "system\nthree<end_of_turn>",
        "developer\none two<end_of_turn>",
        "user\none two\none two<end_of_turn>",
        "model\n<end_of_turn>",
        "tool\none two<end_of_turn>",
        "nobody\none\ntwo<end_of_turn>",
        "model\n",
    ]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"prompt": [1_000_000]}, 400, "Token id 1000000 is out of vocabulary"),
        ({"prompt": [[300], []]}, 400, "The decoder prompt cannot be empty"),
        ({"prompt": "a", "stop_token_ids": [300, 262_144]}, 400, STRANGE_STOP),
        ({"prompt": "a", "stop": "\ud800"}, 500, ""),
        ({"prompt": "a", "request_id": "\ud800"}, 500, ""),
        ({"prompt": "a", "top_k": 2**64}, 500, ""),
    ],
)
async def test_what_the_engine_does_not_take_is_told_in_a_stream_that_has_begun(
    start: Start, body: dict[str, Any], status: int, message: str
) -> None:
    running = await start()
    async with ClientSession() as client:
        async with client.post(running.url + COMPLETIONS, json=body) as answer:
            assert answer.status == status
            plain = await answer.json()
        async with client.post(running.url + COMPLETIONS, json={**body, "stream": True}) as answer:
            assert answer.status == 200
            assert await answer.read() == f"data: {json.dumps(plain)}\n\ndata: [DONE]\n\n".encode()
    assert plain["error"]["message"] == message
    await asyncio.wait_for(running.server.engine.drained(), 30)


async def test_greedy_sampling_asks_for_no_top_k(start: Start) -> None:
    running = await start()
    body = {"prompt": "a", "max_tokens": 1, "top_k": 2**64, "temperature": 0}
    async with ClientSession() as client, client.post(running.url + COMPLETIONS, json=body) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({"stop": ["a", "b", "c", "d", "e"]}, "body.stop"),
        ({"user": 5}, "body.user"),
        ({"n": None}, "body.n"),
        ({"truncation_side": "top"}, "body.truncation_side"),
        ({"logit_bias": {"5": "x"}}, "body.logit_bias.5"),
        ({"stream": True, "stream_options": {"include_usage": "x"}}, "body.stream_options.include_usage"),
    ],
)
async def test_fields_of_a_wrong_type_are_refused_though_they_have_no_effect(
    start: Start, body: dict[str, Any], wrong: str
) -> None:
    found = await refusal(start, COMPLETIONS, json.dumps({"prompt": "a", **body}).encode())
    assert (found["type"], found["param"]) == ("Bad Request", wrong)


async def test_no_path_of_a_file_is_told(start: Start) -> None:
    running = await start()
    asked = {"prompt": "a", "model": "/home/me/model"}
    async with ClientSession() as client, client.post(running.url + COMPLETIONS, json=asked) as answer:
        assert (await answer.json())["error"]["message"] == "The model `<path>` does not exist."


async def test_json_of_another_media_type_is_read_before_its_type_is_refused(start: Start) -> None:
    running = await start()
    for kind, found in (("application/x+json", "json_invalid"), ("text/plain", "Unsupported"), (JSON_BLANK, "json_")):
        headers = {"Content-Type": kind}
        async with ClientSession() as client:
            async with client.post(running.url + COMPLETIONS, data=b"{", headers=headers) as answer:
                assert found in (await answer.json())["error"]["message"]
            async with client.post(running.url + COMPLETIONS, data=b"{}", headers=headers) as answer:
                assert "Unsupported" in (await answer.json())["error"]["message"]
