"""Requests that real vLLM 0.31.0 refuses, and its very words; those of `test_server` besides."""

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
