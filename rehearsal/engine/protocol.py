"""The requests of vLLM's completion, chat and tokenizer endpoints, as far as the stand-in reads them.

Other fields are accepted and have no effect, as unknown ones have none in vLLM; those that would change the shape of
an answer in a way that the stand-in does not have are refused with a sentence that says so.
"""

import math
import secrets
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rehearsal.engine.errors import ApiError, missing, refused

_GREEDY_BELOW = 1e-5
MAX_N = 16_384
"""vLLM's limit of sequences a prompt, unless its environment has another."""

TokenId = Annotated[int, Field(ge=0)]


def random_id() -> str:
    """Return sixteen hexadecimal digits, as vLLM's ids have."""
    return secrets.token_hex(8)


class StreamOptions(BaseModel):
    """Whether a stream reports usage at its end, and in every chunk."""

    include_usage: bool | None = False
    continuous_usage_stats: bool | None = False


class Generation(BaseModel):
    """What completions and chat have in common."""

    model_config = ConfigDict(extra="allow")

    # In vLLM's order, which its validation errors follow; FIRST of a subclass comes before.
    model: str | None = None
    echo: bool | None = False
    frequency_penalty: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    n: int | None = 1
    presence_penalty: float | None = None
    seed: Annotated[int, Field(ge=-(2**63), le=2**63 - 1)] | None = None
    stop: str | list[str] | None = []
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    top_p: float | None = None
    use_beam_search: bool = False
    top_k: int | None = None
    min_p: float | None = None
    stop_token_ids: list[int] | None = []
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False
    min_tokens: int = 0
    return_token_ids: bool | None = None
    request_id: str = Field(default_factory=random_id)

    @model_validator(mode="before")
    @classmethod
    def _stream_options(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("stream_options") and not data.get("stream"):
            raise refused("Stream options can only be defined when `stream=True`.", parameter="stream_options")
        return data

    @property
    def stops(self) -> list[str]:
        """The strings that end the output."""
        return [self.stop] if isinstance(self.stop, str) else list(self.stop or [])

    @property
    def include_usage(self) -> bool:
        """Whether the stream ends with a chunk of usage."""
        return bool(self.stream_options and self.stream_options.include_usage)

    @property
    def continuous_usage(self) -> bool:
        """Whether every chunk of the stream carries usage."""
        return self.include_usage and bool(self.stream_options and self.stream_options.continuous_usage_stats)

    def check(self, max_tokens: int) -> None:
        """Refuse values that vLLM refuses.

        Raises:
            ApiError: With vLLM's message.
        """
        if self.n is not None and self.n < 1:
            raise ApiError(f"n must be at least 1, got {self.n}.")
        if self.n is not None and self.n > MAX_N:
            raise ApiError(
                f"n must be at most {MAX_N}, got {self.n}. To increase this limit, set the VLLM_MAX_N_SEQUENCES "
                "environment variable."
            )
        _check_range("presence_penalty", self.presence_penalty)
        _check_range("frequency_penalty", self.frequency_penalty)
        temperature = self.temperature
        if temperature is not None and not math.isfinite(temperature):
            message = f"temperature must be a finite number, got {temperature}."
            raise refused(message, parameter="temperature", value=temperature)
        if temperature is not None and temperature < 0:
            message = f"temperature must be non-negative, got {temperature}."
            raise refused(message, parameter="temperature", value=temperature)
        if temperature is not None and temperature > 2:
            message = f"temperature must be in [0, 2], got {temperature}."
            raise refused(message, parameter="temperature", value=temperature)
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise refused(f"top_p must be in (0, 1], got {self.top_p}.", parameter="top_p", value=self.top_p)
        if self.top_k is not None and self.top_k < -1:
            raise refused(f"top_k must be 0 (disable), or at least 1, got {self.top_k}.")
        if self.min_p is not None and not 0 <= self.min_p <= 1:
            raise refused(f"min_p must be in [0, 1], got {self.min_p}.")
        if max_tokens < 1:
            message = f"max_tokens must be at least 1, got {max_tokens}."
            raise refused(message, parameter="max_tokens", value=max_tokens)
        if self.min_tokens < 0:
            raise refused(f"min_tokens must be greater than or equal to 0, got {self.min_tokens}.")
        if self.min_tokens > max_tokens:
            raise refused(f"min_tokens must be less than or equal to max_tokens={max_tokens}, got {self.min_tokens}.")
        if any(not stop for stop in self.stops):
            raise refused("stop cannot contain an empty string.")
        if temperature is not None and temperature < _GREEDY_BELOW and (self.n or 1) > 1:
            raise ApiError(f"n must be 1 when using greedy sampling, got {self.n}.")
        self._check_supported()

    def _check_supported(self) -> None:
        asked = {
            "use_beam_search": self.use_beam_search,
            "logprobs": (self.model_extra or {}).get("logprobs"),
            "prompt_logprobs": (self.model_extra or {}).get("prompt_logprobs"),
            "tools": (self.model_extra or {}).get("tools"),
            "response_format": (self.model_extra or {}).get("response_format"),
        }
        for field, value in asked.items():
            if value:
                raise ApiError(
                    f"The stand-in engine does not answer requests with `{field}`.",
                    kind="NotImplementedError",
                    status=HTTPStatus.NOT_IMPLEMENTED,
                )


def _check_range(name: str, value: float | None) -> None:
    if value is not None and not -2 <= value <= 2:
        raise refused(f"{name} must be in [-2, 2], got {value}.")


class CompletionRequest(Generation):
    """The body of `/v1/completions`."""

    FIRST: ClassVar = ("model", "prompt")

    prompt: list[TokenId] | list[list[TokenId]] | str | list[str] | None = None
    max_tokens: int | None = 16
    add_special_tokens: bool = True
    suffix: str | None = None

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


class ChatRequest(Generation):
    """The body of `/v1/chat/completions`."""

    FIRST: ClassVar = ("messages", "model")

    messages: list[dict[str, Any]]
    add_generation_prompt: bool = True
    return_prompt_text: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _messages(cls, data: Any) -> Any:
        if isinstance(data, dict) and "messages" in data:
            messages = data["messages"]
            if not isinstance(messages, Iterable):
                raise ApiError(f"'{type(messages).__name__}' object is not iterable")
            for place, message in enumerate(messages):
                if isinstance(message, dict) and "role" not in message:
                    fields = [f"body.messages.{place}.{field}" for field in _LACKING_ROLE]
                    raise missing(fields, message)
        return data

    def check_messages(self) -> None:
        """Refuse an empty conversation.

        Raises:
            ApiError: With vLLM's message.
        """
        if not self.messages:
            raise ApiError("Cannot apply chat template to an empty conversation. Provide at least one message.")


# A message is a union of these in vLLM; what each lacks is told, the first ten of it.
_LACKING_ROLE = (
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
    "Message.role",
)


class TokenizeRequest(BaseModel):
    """The body of `/tokenize`: a prompt or messages."""

    model_config = ConfigDict(extra="allow")

    model: str | None = None
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    add_special_tokens: bool = True
    add_generation_prompt: bool = True
    return_token_strs: bool | None = False

    @model_validator(mode="before")
    @classmethod
    def _either(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("prompt") is None and data.get("messages") is None:
            raise missing(["body.prompt", "body.messages"], data)
        return data


class DetokenizeRequest(BaseModel):
    """The body of `/detokenize`."""

    model_config = ConfigDict(extra="allow")

    model: str | None = None
    tokens: list[Annotated[int, Field(ge=0, le=2**63 - 1)]]
