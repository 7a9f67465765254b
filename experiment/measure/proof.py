"""Whether what ran is what the stack asked for."""

from pydantic import Field

from experiment.measure.part import Count, Part


class Server(Part):
    """What one server says of itself."""

    address: str
    version: str | None
    max_model_len: Count | None
    kv_tokens: Count | None = Field(description="size of its KV cache in tokens")
    kv_blocks: Count | None


class Proof(Part):
    """What was looked at before the test and was as the stack asked; nothing is measured of anything else.

    `unproven` is what could not be looked at.
    """

    proven: tuple[str, ...]
    unproven: tuple[str, ...]
    servers: tuple[Server, ...]
    arguments: dict[str, tuple[str, ...]] = Field(description="live command line of the engine, by pod")
