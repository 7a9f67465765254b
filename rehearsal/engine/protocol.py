"""What the requests of vLLM's endpoints have in common, as far as the stand-in reads them, and what it refuses.

Fields are in vLLM's order, as far as both kinds share it: its validation errors follow it. Other fields are accepted
and have no effect, as unknown ones have none in vLLM; those that would change the shape of an answer in a way that the
stand-in does not have are refused with a sentence that says so.
"""

import math
import secrets
from http import HTTPStatus
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, model_validator

from rehearsal.engine.errors import ApiError, failed_request, refused
from rehearsal.engine.tokenizer import VOCABULARY, is_broken

_GREEDY_BELOW = 1e-5
MAX_N = 16_384
"""vLLM's limit of sequences a prompt, unless its environment has another."""

MAX_STOPS = 4
"""vLLM's limit of stop strings, likewise."""

Whole = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
"""A number of 64 bits."""


def random_id() -> str:
    """Return sixteen hexadecimal digits, as vLLM's ids have."""
    return secrets.token_hex(8)


class Body(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="wrap")
    @classmethod
    def _fields(cls, data: Any, handler: ModelWrapValidatorHandler["Body"]) -> "Body":
        # Here vLLM logs unknown fields. With it a union's errors are not told by the names of its classes.
        return handler(data)


class StreamOptions(Body):
    """Whether a stream reports usage at its end, and in every chunk."""

    include_usage: bool | None = False
    continuous_usage_stats: bool | None = False


class Generation(Body):
    """What completions and chat have in common."""

    echo: bool | None = False
    frequency_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    max_tokens: int | None = None
    n: int | None = 1
    presence_penalty: float | None = None
    seed: Whole | None = None
    stop: str | Annotated[list[str], Field(max_length=MAX_STOPS)] | None = []
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    top_p: float | None = None
    user: str | None = None
    use_beam_search: bool = False
    top_k: int | None = None
    min_p: float | None = None
    repetition_penalty: float | None = None
    watermarking: bool = True
    length_penalty: float = 1.0
    stop_token_ids: list[int] | None = []
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False
    min_tokens: int = 0
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True
    truncate_prompt_tokens: Annotated[int, Field(ge=-1, le=2**63 - 1)] | None = None
    truncation_side: Literal["left", "right"] | None = None
    allowed_token_ids: list[int] | None = None
    bad_words: list[str] = Field(default_factory=list)
    priority: Whole = 0
    request_id: str = Field(default_factory=random_id)
    session_id: str | None = None
    return_token_ids: bool | None = None

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
        """Refuse values that vLLM refuses before it answers.

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
        repetition = self.repetition_penalty
        if repetition is not None and not math.isfinite(repetition):
            raise refused(f"repetition_penalty must be a finite number, got {repetition}.")
        if repetition is not None and repetition <= 0:
            raise refused(f"repetition_penalty must be greater than zero, got {repetition}.")
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
        if any(not word for word in self.bad_words):
            raise refused(f"bad_words cannot contain an empty string. Got bad_words={self.bad_words}")
        if self._greedy and (self.n or 1) > 1:
            raise ApiError(f"n must be 1 when using greedy sampling, got {self.n}.")
        self._check_supported()

    def check_for_engine(self, request_id: str) -> None:
        """Refuse what vLLM refuses on the way to the engine, where a stream has begun already.

        Raises:
            ApiError: With vLLM's message, or without one where it cannot even tell the engine of the request:
                MessagePack has no numbers beyond 64 bits and no halves of characters.
        """
        strange = [token for token in self.stop_token_ids or () if not 0 <= token < VOCABULARY]
        if strange:
            message = (
                f"token_id(s) {strange} in stop_token_ids contain out-of-vocab token ids. Vocabulary size: {VOCABULARY}"
            )
            raise refused(message, parameter="stop_token_ids", value=strange)
        top_k = 0 if self._greedy else self.top_k or 0  # greedy sampling has no use for it
        if top_k >= 2**64 or any(is_broken(text) for text in (request_id, *self.stops, *self.bad_words)):
            raise failed_request()

    @property
    def _greedy(self) -> bool:
        return self.temperature is not None and self.temperature < _GREEDY_BELOW

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
