"""From the validated messages of a chat to its turns, as vLLM's `chat_utils` reads them for a model of text alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from rehearsal.engine.errors import ApiError, refused
from rehearsal.engine.messages import ChatMessage, Message

_TEXTS = {
    "text": "text",
    "thinking": "thinking",
    "input_text": "text",
    "output_text": "text",
    "refusal": "refusal",
    "tool_reference": "name",
}
"""Which field of a part holds its text, by the part's type."""

_MEDIA = frozenset({"image_url", "input_image", "image_pil", "audio_url", "input_audio", "video_url"})
_EMBEDDINGS = frozenset({"image_embeds", "audio_embeds", "video_embeds"})
_PROMPT_EMBEDDINGS = "prompt_embeds"
_KINDS = {*_TEXTS, *_MEDIA, *_EMBEDDINGS, _PROMPT_EMBEDDINGS}

_TOLD_BY_FIELD = (
    "image_url", "image_pil", "image_embeds", "audio_embeds", "video_embeds", "prompt_embeds", "audio_url",
    "input_audio", "video_url", "tool_reference",
)  # fmt: skip
"""The fields that say what a part without a type is, the first that is there."""


@dataclass(frozen=True)
class Turn:
    """What one message comes to."""

    role: str
    text: str


def turns(messages: Sequence[ChatMessage], model: str) -> list[Turn]:
    """Return the turns of a conversation with `model`, which is the name that it is served by.

    Raises:
        ApiError: A message holds what a model of text cannot read, or there is no message, in vLLM's words.
    """
    found = [_turn(message, model) for message in messages]
    for message in messages:
        _check_tool_calls(message)
    if not found:
        raise ApiError("Cannot apply chat template to an empty conversation. Provide at least one message.")
    return found


def _turn(message: ChatMessage, model: str) -> Turn:
    if isinstance(message, Message):
        raise ApiError(f"'{Message.__name__}' object is not subscriptable")
    content: str | Iterable[Any] | None = message.get("content")
    if isinstance(content, str):
        return Turn(message["role"], content)
    try:
        texts = [_text(part, model) for part in content or ()]
    except ValidationError as e:  # parts are looked at only now that they are read
        raise ApiError(str(e)) from None
    return Turn(message["role"], "\n".join(text for text in texts if text))


def _text(part: str | Mapping[str, Any], model: str) -> str:
    if isinstance(part, str):
        return part
    kind = _kind(part)
    if kind in _TEXTS:
        return part.get(_TEXTS[kind]) or ""
    if kind in _MEDIA:
        raise ApiError(f"{model} is not a multimodal model")
    if kind in _EMBEDDINGS:
        raise ApiError("The model is not multimodal.")
    if kind == _PROMPT_EMBEDDINGS:
        message = "You must set `--enable-prompt-embeds` to input `prompt_embeds`"
        if not part.get("data"):
            message = "prompt_embeds content part requires a non-empty `data` field with base64-encoded tensor bytes."
        raise refused(message, parameter="prompt_embeds")
    message = f"Unsupported chat content part type: {kind!r}. Supported types: {', '.join(sorted(_KINDS))}."
    raise refused(message, parameter="type", value=kind)


def _kind(part: Mapping[str, Any]) -> str:
    kind = part.get("type")
    if kind is None or part.get("uuid") is not None:
        told = next((field for field in _TOLD_BY_FIELD if field in part), None)
        if told is None:
            raise refused("Missing 'type' field in multimodal part.", parameter="type")
        return told
    return str(kind)


def _check_tool_calls(message: ChatMessage) -> None:
    calls = message.get("tool_calls") if isinstance(message, dict) and message["role"] == "assistant" else None
    for call in calls if isinstance(calls, list) else ():
        if call.get("type", "function") != "function" or not isinstance(call.get("function"), dict):
            told = "chat completions only support assistant tool_calls of type 'function'."
            raise refused(told, parameter="tool_calls")
