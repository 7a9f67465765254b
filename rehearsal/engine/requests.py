"""The requests of vLLM's completion, chat and tokenizer endpoints."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TypeAlias, cast

from pydantic import Field, model_validator

from rehearsal.engine.errors import ApiError, refused
from rehearsal.engine.messages import ChatMessage
from rehearsal.engine.protocol import Body, Generation

TokenId = Annotated[int, Field(ge=0)]


class _CompletionHead(Body):
    model: str | None = None
    prompt: list[TokenId] | list[list[TokenId]] | str | list[str] | None = None


class CompletionRequest(Generation, _CompletionHead):
    """The body of `/v1/completions`."""

    max_tokens: int | None = 16
    n: int = 1
    suffix: str | None = None
    add_special_tokens: bool = True

    @model_validator(mode="before")
    @classmethod
    def _prompt(cls, data: Any) -> Any:
        if isinstance(data, dict):
            if data.get("prompt") in (None, ""):
                message = "Either prompt or prompt_embeds must be provided and non-empty."
                raise refused(message, parameter="prompt")
            if data.get("max_tokens") is None:
                data = {**data, "max_tokens": 16}
        return data

    def prompts(self) -> list[str | list[int]]:
        """Return each prompt, text or ids.

        Raises:
            ApiError: There is none, or there is a suffix, which Gemma has no use for.
        """
        prompt = [self.prompt] if isinstance(self.prompt, str) else self.prompt or []
        if self.suffix is not None:
            raise ApiError(self._no_suffix(prompt), param="suffix")
        if not prompt:
            raise ApiError("You must pass at least one prompt")
        ids: list[int] = [part for part in prompt if isinstance(part, int)]
        return [ids] if ids else [part for part in prompt if isinstance(part, str | list)]

    def _no_suffix(self, prompt: Sequence[object]) -> str:
        if self.echo:
            return "Echo is unsupported with suffix."
        if all(isinstance(part, str) for part in prompt):
            return "suffix is only supported for models with FIM completion rendering"
        return "suffix requires text prompt input for FIM completion rendering"


class _ChatHead(Body):
    messages: list[ChatMessage]
    model: str | None = None


class ChatRequest(Generation, _ChatHead):
    """The body of `/v1/chat/completions`."""

    max_completion_tokens: int | None = None
    echo: bool = False
    add_generation_prompt: bool = True
    return_prompt_text: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _messages(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "messages" not in data:
            return data
        messages = data["messages"]
        if not isinstance(messages, list):
            if not isinstance(messages, Iterable):
                raise ApiError(f"'{type(messages).__name__}' object is not iterable")
            return data
        return {**data, "messages": [_with_calls(message) for message in messages]}

    @model_validator(mode="after")
    def _read_tool_calls(self) -> "ChatRequest":
        for message in self.messages:
            fields = cast("dict[str, Any]", message) if isinstance(message, dict) else {}
            if fields.get("tool_calls") is not None:
                fields["tool_calls"] = list(fields["tool_calls"])
        return self


def _with_calls(message: Any) -> Any:
    """Return a message of JSON with its tool calls as a list, and its reasoning under the name of today."""
    if not isinstance(message, dict):
        return message
    message = dict(message)
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        if not isinstance(calls, Iterable):
            raise ApiError(f"'{type(calls).__name__}' object is not iterable")
        message["tool_calls"] = list(calls)
    reasoning = message.pop("reasoning_content", None)
    if reasoning is not None and message.get("reasoning") is None:
        message["reasoning"] = reasoning
    return message


class TokenizeCompletionRequest(Body):
    """The body of `/tokenize` with a text."""

    model: str | None = None
    prompt: str
    add_special_tokens: bool = True
    return_token_strs: bool | None = False


class TokenizeChatRequest(Body):
    """The body of `/tokenize` with a conversation."""

    model: str | None = None
    messages: list[ChatMessage]
    add_generation_prompt: bool = True
    return_token_strs: bool | None = False
    continue_final_message: bool = False
    add_special_tokens: bool = False


TokenizeRequest: TypeAlias = TokenizeCompletionRequest | TokenizeChatRequest
"""The body of `/tokenize`."""


class DetokenizeRequest(Body):
    """The body of `/detokenize`."""

    model: str | None = None
    tokens: list[Annotated[int, Field(ge=0, le=2**63 - 1)]]
