"""What the benchmark leaves behind: one JSON file per repeat, finished or failed, and one per session.

Every time is in seconds. Stamps are readings of CLOCK_MONOTONIC of the client's machine (boot is zero, it
never steps); `*_at` is wall clock (UTC) for people only and enters no figure.
"""

import math
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, model_validator

SCHEMA_VERSION: Literal[1] = 1

FORMULAS: dict[str, str] = {
    "t0": "sent_s: the clock just before the request is written to a connection that is already open",
    "chunk": "a streamed event with non-empty text; role-only, empty and usage events are none; stamped when "
    "the socket read that completed it returned, before anything is parsed",
    "n": "tokens.output: completion_tokens of the server's own usage, never a count of chunks",
    "ttft_s": "chunks_s[0] - sent_s",
    "gaps_s": "chunks_s[i+1] - chunks_s[i], per chunk, all kept; two chunks of one socket read have gap 0",
    "longest_gap_s": "max(gaps_s)",
    "itl_s": "mean(gaps_s), per chunk; equals tpot_s where every chunk holds one token",
    "tpot_s": "(chunks_s[-1] - chunks_s[0]) / (n - 1), per token; the first token is not in it",
    "e2e_s": "end_s - sent_s; end_s is the socket read that completed the HTTP answer",
    "tokens_per_s": "n / e2e_s, of this one request, prefill included",
}

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]


class _Part(BaseModel):
    """Unknown keys are refused, so that no field is ever lost silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Engine(_Part):
    """The server as it described itself before the test."""

    url: str
    model: str
    version: str | None = Field(description="of GET /version; none if the server does not tell")
    simulated: bool = Field(description="true if the server is Splitbed's stand-in engine")
    standin: dict[str, JsonValue] | None = Field(description="profile and parameters of the stand-in")


class Client(_Part):
    """Where the benchmark ran; pod and node are known inside a cluster only."""

    pod: str | None
    node: str | None
    host: str


class PromptShape(_Part):
    """What two prompts must share to be comparable: all but the nonce."""

    prompt_tokens: Count
    nonce_tokens: Count
    output_tokens: Count
    shape_hash: str


class Stamps(_Part):
    """Moments of one request, in the order in which they must have happened."""

    sent_s: Seconds
    headers_s: Seconds | None
    chunks_s: tuple[Seconds, ...]
    end_s: Seconds | None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        moments = [self.sent_s, self.headers_s, *self.chunks_s, self.end_s]
        known = [moment for moment in moments if moment is not None]
        if any(later < earlier for earlier, later in pairwise(known)):
            raise ValueError("stamps are not in order: sent, headers, chunks, end")
        return self


class Tokens(_Part):
    """Counts of the server's own `usage`; `cached` only where the server tells it."""

    prompt: Count
    output: Count
    cached: Count | None


class Figures(_Part):
    """Derived from stamps and token count alone, by FORMULAS; none where a figure does not exist."""

    ttft_s: Seconds
    gaps_s: tuple[Seconds, ...]
    longest_gap_s: Seconds | None
    itl_s: Seconds | None
    tpot_s: Seconds | None
    e2e_s: Seconds
    tokens_per_s: Seconds

    @classmethod
    def of(cls, stamps: Stamps, output_tokens: int) -> Self:
        """Compute all figures of a finished request.

        Raises:
            ValueError: no chunk, no end, or an end that is not after the send.
        """
        if not stamps.chunks_s or stamps.end_s is None or stamps.end_s <= stamps.sent_s:
            raise ValueError("a request without a chunk or without an end has no figures")
        first, last = stamps.chunks_s[0], stamps.chunks_s[-1]
        gaps = tuple(later - earlier for earlier, later in pairwise(stamps.chunks_s))
        e2e = stamps.end_s - stamps.sent_s
        return cls(
            ttft_s=first - stamps.sent_s,
            gaps_s=gaps,
            longest_gap_s=max(gaps, default=None),
            itl_s=math.fsum(gaps) / len(gaps) if gaps else None,
            tpot_s=(last - first) / (output_tokens - 1) if output_tokens > 1 else None,
            e2e_s=e2e,
            tokens_per_s=output_tokens / e2e,
        )


class Reply(_Part):
    """A request that came to its proper end."""

    result: Literal["finished"] = "finished"
    finish_reason: str
    tokens: Tokens
    stamps: Stamps
    figures: Figures

    @model_validator(mode="after")
    def _figures_follow(self) -> Self:
        if self.figures != Figures.of(self.stamps, self.tokens.output):
            raise ValueError("the figures do not follow from the stamps: the record was changed after it was written")
        return self


class Failure(_Part):
    """A request that did not: `reason` is a sentence, the stamps hold what came before."""

    result: Literal["failed"] = "failed"
    reason: str
    status: int | None = Field(description="HTTP status, if an answer began")
    stamps: Stamps | None = Field(description="none if nothing was sent")


class _Record(_Part):
    schema_version: Literal[1] = SCHEMA_VERSION
    run: str
    plan_hash: str

    def to_json(self) -> str:
        """Return what the record's file holds."""
        return self.model_dump_json(indent=1) + "\n"


class RepeatRecord(_Record):
    """One repeat of one test, tried once.

    A finished one lies in `<test>-<repeat>.json` and is never measured again. A failed one lies in
    `failed/<test>-<repeat>-<i>.json`; the next session tries that repeat again.
    """

    kind: Literal["repeat"] = "repeat"
    formulas: dict[str, str] = Field(default_factory=lambda: dict(FORMULAS))
    test: str
    test_kind: str
    repeat: Annotated[int, Field(ge=1)]
    started_at: AwareDatetime
    prompt: PromptShape
    topology: dict[str, JsonValue] | None = Field(description="as the stack deployed it, if the client was told")
    engine: Engine
    client: Client
    outcome: Annotated[Reply | Failure, Field(discriminator="result")]


class SessionRecord(_Record):
    """One start of the benchmark, from its lock to its exit: what it did and why it ended."""

    kind: Literal["session"] = "session"
    started_at: AwareDatetime
    ended_at: AwareDatetime
    exit_code: int
    ending: str
    measured: Count
    failed: Count
    client: Client


Record = Annotated[RepeatRecord | SessionRecord, Field(discriminator="kind")]

_ADAPTER: TypeAdapter[RepeatRecord | SessionRecord] = TypeAdapter(Record)


def parse_record(text: bytes | str) -> RepeatRecord | SessionRecord:
    """Read one record's file.

    Raises:
        pydantic.ValidationError: not JSON, another schema version, or not a record of ours.
    """
    return _ADAPTER.validate_json(text)
