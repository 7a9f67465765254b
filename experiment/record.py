"""What the benchmark leaves behind: one JSON file per repeat, finished or not, and one per session.

Every time is in seconds. Stamps are readings of CLOCK_MONOTONIC of the client's machine (boot is zero, it
never steps); `*_at` is wall clock (UTC) for people only and enters no figure.
"""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, JsonValue, TypeAdapter

from experiment.measure.client import Verdict
from experiment.measure.counters import Counters
from experiment.measure.figures import FORMULAS, TestFigures
from experiment.measure.part import Count, Part
from experiment.measure.pods import Pods
from experiment.measure.proof import Proof
from experiment.measure.request import Failure, Figures, PromptShape, Reply, Request, Stamps, Tokens

__all__ = [
    "FORMULAS",
    "SCHEMA_VERSION",
    "Client",
    "Engine",
    "Failure",
    "Figures",
    "PromptShape",
    "RepeatRecord",
    "Reply",
    "Request",
    "Result",
    "SessionRecord",
    "Stamps",
    "Tokens",
    "parse_record",
    "schema",
]

SCHEMA_VERSION: Literal[2] = 2


class Engine(Part):
    """The server as it described itself before the test."""

    url: str
    model: str
    version: str | None = Field(description="of GET /version; none if the server does not tell")
    simulated: bool = Field(description="true if the server is Splitbed's stand-in engine")
    standin: dict[str, JsonValue] | None = Field(description="profile and parameters of the stand-in")


class Client(Part):
    """Where the benchmark ran; pod and node are known inside a cluster only."""

    pod: str | None
    node: str | None
    host: str


class _Record(Part):
    schema_version: Literal[2] = SCHEMA_VERSION
    run: str
    plan_hash: str

    def to_json(self) -> str:
        """Return what the record's file holds."""
        return self.model_dump_json(indent=1) + "\n"


Result = Literal["finished", "failed", "partial"]


class RepeatRecord(_Record):
    """One repeat of one cell of a test, tried once.

    A finished one lies in `<cell>-<repeat>.json` and is never measured again; it is finished if no more of its requests
    failed than the plan tolerates, and one or more did not. Others lie in `failed/` and `partial/` (the session ended
    meanwhile), and the next session tries that repeat again; a disturbed one lies in `disturbed/` if it was measured
    once more. Their names end in `-<i>`.
    """

    kind: Literal["repeat"] = "repeat"
    formulas: dict[str, str] = Field(default_factory=lambda: dict(FORMULAS))
    test: str
    test_kind: str
    cell: str = Field(description="test and the value it varies, as in the file's name")
    value: int | float | str | None = Field(description="what the test varies; none if nothing")
    repeat: Annotated[int, Field(ge=1)]
    result: Result
    why: str = Field("", description="why it is not finished")
    started_at: AwareDatetime
    prompt: PromptShape = Field(description="the longest prompt; the hash is of all that the cell sends but the nonces")
    prompt_ids: Literal["tokenize", "assumed"] = Field(description="whether the server named the tokens of the prompts")
    topology: dict[str, JsonValue] | None = Field(description="as the stack deployed it, if the client was told")
    engine: Engine
    client: Client
    requests: tuple[Request, ...]
    figures: TestFigures
    counters: Counters
    pods: Pods = Field(Pods(unknown="it was not recorded"), description="counted inside each pod of the engine")
    proof: Proof | None = Field(None, description="that what ran is what the stack asked for; none of a bare address")
    killed: str | None = Field(None, description="the pod that the loss test killed")
    disturbed: tuple[str, ...] = Field((), description="reasons why something else than the test was measured")
    unwatched: tuple[str, ...] = Field((), description="what could not be looked at, so that it may have disturbed")
    verdict: Verdict | None = Field(description="on the client; none if nothing was sent")

    @property
    def replies(self) -> tuple[Reply, ...]:
        """The requests that ended well."""
        return tuple(request.outcome for request in self.requests if isinstance(request.outcome, Reply))


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


def schema() -> dict[str, JsonValue]:
    """Return the JSON Schema of a record's file, by which it can be read without Splitbed."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:splitbed:record:{SCHEMA_VERSION}",
        "title": "A record of Splitbed's benchmark",
    } | _ADAPTER.json_schema(mode="serialization")
