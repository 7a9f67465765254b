"""The bodies and stream chunks of vLLM's answers, field for field and in its order."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rehearsal.engine.protocol import random_id


def compact(body: object) -> bytes:
    """Return JSON as vLLM writes it.

    Raises:
        UnicodeEncodeError: half of a surrogate pair is in it.
    """
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def event(body: object) -> bytes:
    """Return a server-sent event."""
    return b"data: " + compact(body) + b"\n\n"


def error_event(body: object) -> bytes:
    """Return the event of an error in a stream, which vLLM alone writes with blanks and in ASCII."""
    return b"data: " + json.dumps(body).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


@dataclass
class Usage:
    """Token counts of an answer; `cached`, and in chats `created`, are shown only if the server was told to."""

    prompt: int = 0
    completion: int = 0
    cached: int | None = None
    created: int | None = None

    def short(self) -> dict[str, Any]:
        """Return the counts as they come in a stream, without empty fields."""
        counts: dict[str, Any] = {
            "prompt_tokens": self.prompt,
            "total_tokens": self.prompt + self.completion,
            "completion_tokens": self.completion,
        }
        if self.cached is not None:
            created = {} if self.created is None else {"created_cache_tokens": self.created}
            counts["prompt_tokens_details"] = {"cached_tokens": self.cached, **created}
        return counts

    def full(self) -> dict[str, Any]:
        """Return the counts as they come in a plain answer."""
        details = None
        if self.cached is not None:
            details = {
                "cached_tokens": self.cached,
                "created_cache_tokens": self.created,
                "multimodal_tokens": None,
            }
        return {**self.short(), "prompt_tokens_details": details, "completion_tokens_details": None}


@dataclass
class Answer:
    """What all parts of one answer share."""

    id: str
    model: str
    fingerprint: str | None
    created: int = field(default_factory=lambda: int(time.time()))

    def head(self, kind: str) -> dict[str, Any]:
        """Return the fields that every body and chunk begins with."""
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def usage_chunk(self, kind: str, usage: Usage) -> dict[str, Any]:
        """Return the chunk of usage that ends a stream."""
        chunk = {**self.head(kind), "choices": [], "usage": usage.short()}
        if self.fingerprint is not None:
            chunk["system_fingerprint"] = self.fingerprint
        return chunk


@dataclass
class Part:
    """A piece of one choice's output; `finish` is set on the last."""

    index: int
    text: str
    tokens: Sequence[int]
    finish: str | None = None
    stop_reason: int | str | None = None


CHAT_CHUNK = "chat.completion.chunk"
COMPLETION = "text_completion"


def chat_first(answer: Answer, index: int, role: str, prompt_ids: list[int] | None) -> dict[str, Any]:
    """Return the chunk that opens a chat stream."""
    choice = {
        "index": index,
        "delta": {"role": role, "content": ""},
        "logprobs": None,
        "finish_reason": None,
    }
    return {
        **answer.head(CHAT_CHUNK),
        "choices": [choice],
        "prompt_token_ids": prompt_ids,
        "prompt_text": None,
    }


def chat_chunk(answer: Answer, part: Part, token_ids: list[int] | None) -> dict[str, Any]:
    """Return a chunk of chat output."""
    choice: dict[str, Any] = {
        "index": part.index,
        "delta": {"content": part.text},
        "logprobs": None,
        "finish_reason": part.finish,
    }
    if part.finish is not None:
        choice["stop_reason"] = part.stop_reason
    choice["token_ids"] = token_ids
    return {**answer.head(CHAT_CHUNK), "choices": [choice]}


def completion_chunk(
    answer: Answer, part: Part, prompt_ids: list[int] | None, token_ids: list[int] | None
) -> dict[str, Any]:
    """Return a chunk of completion output."""
    choice = {
        "index": part.index,
        "text": part.text,
        "logprobs": None,
        "finish_reason": part.finish,
        "stop_reason": part.stop_reason,
        "prompt_token_ids": prompt_ids,
        "token_ids": token_ids,
    }
    return {**answer.head(COMPLETION), "choices": [choice]}


def chat_body(answer: Answer, parts: list[Part], role: str, usage: Usage, ids: "Ids") -> dict[str, Any]:
    """Return a plain chat answer."""
    choices = [
        {
            "index": part.index,
            "message": {
                "role": role,
                "content": part.text,
                "refusal": None,
                "annotations": None,
                "audio": None,
                "function_call": None,
                "reasoning": None,
            },
            "logprobs": None,
            "finish_reason": part.finish,
            "stop_reason": part.stop_reason,
            "token_ids": list(part.tokens) if ids.wanted else None,
            "routed_experts": None,
        }
        for part in parts
    ]
    return {
        **answer.head("chat.completion"),
        "choices": choices,
        "service_tier": None,
        "system_fingerprint": answer.fingerprint,
        "usage": usage.full(),
        "prompt_logprobs": None,
        "prompt_token_ids": ids.prompts[0] if ids.wanted else None,
        "prompt_text": None,
        **_TAIL,
    }


def completion_body(answer: Answer, parts: list[Part], usage: Usage, ids: "Ids") -> dict[str, Any]:
    """Return a plain completion."""
    per_prompt = len(parts) // len(ids.prompts)
    choices = [
        {
            "index": part.index,
            "text": part.text,
            "logprobs": None,
            "finish_reason": part.finish,
            "stop_reason": part.stop_reason,
            "token_ids": list(part.tokens) if ids.wanted else None,
            "prompt_logprobs": None,
            "prompt_token_ids": ids.prompts[part.index // per_prompt] if ids.wanted else None,
            "routed_experts": None,
        }
        for part in parts
    ]
    return {
        **answer.head(COMPLETION),
        "choices": choices,
        "service_tier": None,
        "system_fingerprint": answer.fingerprint,
        "usage": usage.full(),
        **_TAIL,
    }


_TAIL = {"kv_transfer_params": None, "ec_transfer_params": None, "metrics": None}


@dataclass(frozen=True)
class Ids:
    """The prompts' token ids, and whether the client wants to see ids."""

    prompts: list[list[int]]
    wanted: bool


def model_list(names: Sequence[str], root: str, max_model_len: int) -> dict[str, Any]:
    """Return the body of `/v1/models`."""
    created = int(time.time())
    return {
        "object": "list",
        "data": [
            {
                "id": name,
                "object": "model",
                "created": created,
                "owned_by": "vllm",
                "root": root,
                "parent": None,
                "max_model_len": max_model_len,
                "permission": [
                    {
                        "id": f"modelperm-{random_id()}",
                        "object": "model_permission",
                        "created": created,
                        "allow_create_engine": False,
                        "allow_sampling": True,
                        "allow_logprobs": True,
                        "allow_search_indices": False,
                        "allow_view": True,
                        "allow_fine_tuning": False,
                        "organization": "*",
                        "group": None,
                        "is_blocking": False,
                    }
                ],
            }
            for name in names
        ],
    }
