"""What the engine says of a KV cache, whatever the device."""

from dataclasses import dataclass

GIB = 2**30


@dataclass(frozen=True, kw_only=True)
class KvCache:
    """A KV cache of a given size, and a longest request.

    Attributes:
        kv_bytes: bytes that each rank was given.
        max_model_len: longest request in tokens.
        fits: whether the engine starts: one request of that length finds room.
        stage: the stage whose figures are given: the first that refuses, else the one with the most expensive blocks.
        unit_bytes: bytes of one block on that stage.
        needed_bytes: what one longest request takes there.
        available_bytes: what requests may have there: one block is never used. At zero or less the engine says so and
            no more.
        estimated_max_len: the length that the engine proposes when it refuses, 0 if none; None if it accepts. It is
            of `stage` alone, so that a later stage may refuse it again.
        blocks: blocks of the whole server, those of the stage that has the fewest.
        blocks_per_request: blocks of one longest request, over all groups.
        tokens: size in tokens as the engine prints it; None if it refuses.
        concurrency: how many longest requests find room at once; None if it refuses.
        longest_max_len: the longest `max_model_len` up to this one that every stage accepts; 0 if none.
        smallest_kv_bytes: the fewest bytes with which every stage accepts `max_model_len`.
        max_num_batched_tokens: tokens of one batch.
        tokens_in_flight: tokens that may be scheduled and not yet settled.
        stage_unit_bytes: bytes of one block on each stage.
    """

    kv_bytes: int
    max_model_len: int
    fits: bool
    stage: int
    unit_bytes: int
    needed_bytes: int
    available_bytes: int
    estimated_max_len: int | None
    blocks: int
    blocks_per_request: int
    tokens: int | None
    concurrency: float | None
    longest_max_len: int
    smallest_kv_bytes: int
    max_num_batched_tokens: int
    tokens_in_flight: int
    stage_unit_bytes: tuple[int, ...]

    @property
    def needed_gib(self) -> float:
        """`needed_bytes` as the engine prints it: GiB with two decimals."""
        return round(self.needed_bytes / GIB, 2)

    @property
    def available_gib(self) -> float:
        """`available_bytes` as the engine prints it: GiB with two decimals."""
        return round(self.available_bytes / GIB, 2)

    def sentence(self) -> str:
        """Return what the engine would say, in short."""
        if self.fits:
            return f"{self.tokens:,} tokens; {self.concurrency:.2f} requests of {self.max_model_len:,} tokens at once"
        if self.available_bytes <= 0:
            return f"{self.kv_bytes:,} bytes of KV cache leave no block of {self.unit_bytes:,} bytes to use"
        proposed = f"; the engine proposes {self.estimated_max_len:,}" if self.estimated_max_len else ""
        return (
            f"{self.max_model_len:,} tokens need {self.needed_gib} GiB of KV cache, "
            f"{self.available_gib} GiB are available{proposed}"
        )
