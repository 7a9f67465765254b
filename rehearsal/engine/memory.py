"""The KV cache that a model gets from given memory, and the refusal if it is too small; vLLM's CPU arithmetic.

A layer has full attention or a sliding window. Layers are grouped over the whole model, groups share blocks, and the
stage whose groups need the most memory a block decides for all. What has been measured on a real server is in
`tests/data/vllm/kv-truth.json`.
"""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from rehearsal.engine.settings import GIB, Settings

BYTES_PER_ELEMENT = 2
SLIDING_BLOCK = 128
ADVICE = "See https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for more details."

Kind = Literal["full", "sliding"]


class MemoryRefusalError(ValueError):
    """The cache does not fit into the memory, or not one request of the maximum length into the cache."""


@dataclass(frozen=True)
class Heads:
    """KV heads of one kind of layer and the size of each."""

    count: int
    size: int

    def page(self) -> int:
        """Return the bytes of one layer's block of 128 tokens, keys and values."""
        return 2 * self.count * self.size * BYTES_PER_ELEMENT * SLIDING_BLOCK


@dataclass(frozen=True)
class Geometry:
    """A model as the cache sees it: every `full_every`-th layer is full, the others slide over `window` tokens."""

    layers: int
    full: Heads
    sliding: Heads | None = None
    window: int = 0
    full_every: int = 1

    def kinds(self) -> list[Kind]:
        """Return each layer's kind."""
        return [
            "full" if self.sliding is None or (layer + 1) % self.full_every == 0 else "sliding"
            for layer in range(self.layers)
        ]


GEOMETRIES = {
    "gemma-3-1b": Geometry(26, Heads(1, 256), Heads(1, 256), 512, 6),
    "gemma-3-12b": Geometry(48, Heads(8, 256), Heads(8, 256), 1024, 6),
    "gemma-4-12b": Geometry(48, Heads(1, 512), Heads(8, 256), 1024, 6),
    "llama-3.1-8b": Geometry(32, Heads(8, 128)),
    "llama-3.1-70b": Geometry(80, Heads(8, 128)),
}


def geometry_of(model: str) -> Geometry:
    """Return the geometry of a model by its name; an unknown one is taken for the 1B Gemma 3."""
    name = model.lower()
    return next((found for part, found in GEOMETRIES.items() if part in name), GEOMETRIES["gemma-3-1b"])


def stage_layers(layers: int, stages: int) -> list[int]:
    """Return how many layers each stage holds: what is left over goes to the stages before the last."""
    counts = [layers // stages] * stages
    for position in range(layers % stages):
        counts[-2 - position] += 1
    return counts


@dataclass(frozen=True)
class Cache:
    """The cache of one server. `unit` is the bytes that one block costs on the stage that decides."""

    geometry: Geometry
    cache_bytes: int
    stages: int
    tensor: int
    tokens_in_flight: int
    max_model_len: int

    def _groups(self) -> list[tuple[Kind, list[int]]]:
        kinds = self.geometry.kinds()
        counts = Counter(kinds)
        if len(counts) == 1:
            return [(kinds[0], list(range(len(kinds))))]
        low, high = sorted(counts.values())
        size = high if high < 1.5 * low else low
        groups: list[tuple[Kind, list[int]]] = []
        for kind in counts:
            layers = [layer for layer, found in enumerate(kinds) if found == kind]
            number = math.ceil(len(layers) / size)
            groups += [(kind, layers[start::number]) for start in range(number)]
        return groups

    def _heads(self, heads: Heads) -> Heads:
        return Heads(max(1, heads.count // self.tensor), heads.size)

    @property
    def page(self) -> int:
        """The bytes of one layer's block, the same for both kinds: the smaller kind's block holds more tokens."""
        pages = [self._heads(self.geometry.full).page()]
        if self.geometry.sliding is not None:
            pages.append(self._heads(self.geometry.sliding).page())
        return max(pages)

    @property
    def unit(self) -> int:
        """The bytes of one block on the stage where it costs the most."""
        most = 0
        first = 0
        for count in stage_layers(self.geometry.layers, self.stages):
            here = range(first, first + count)
            first += count
            most = max(most, *(sum(layer in here for layer in layers) for _, layers in self._groups()))
        return self.page * most

    def blocks_for(self, length: int) -> int:
        """Return how many blocks a request of `length` tokens needs, all groups together."""
        blocks = 0
        for kind, _ in self._groups():
            heads = self.geometry.sliding if kind == "sliding" else self.geometry.full
            assert heads is not None  # a sliding group comes from a geometry with sliding layers  # noqa: S101
            block = SLIDING_BLOCK * self.page // self._heads(heads).page()
            if kind == "sliding":
                reach = min(self.geometry.window - 1 + self.tokens_in_flight, length)
                blocks += math.ceil(reach / block) + 1
            else:
                blocks += math.ceil(length / block)
        return blocks

    @property
    def blocks(self) -> int:
        """How many blocks the memory holds."""
        return self.cache_bytes // self.unit

    @property
    def concurrency(self) -> float:
        """How many requests of the maximum length fit at once."""
        return self.blocks / self.blocks_for(self.max_model_len)

    @property
    def tokens(self) -> int:
        """The cache's size as vLLM states it."""
        return int(self.concurrency * self.max_model_len)

    @property
    def needed_bytes(self) -> int:
        """What one request of the maximum length needs."""
        return self.blocks_for(self.max_model_len) * self.unit

    @property
    def available_bytes(self) -> int:
        """What requests can have: one block is never used."""
        return self.cache_bytes - self.unit

    def longest(self) -> int:
        """Return the greatest length that would fit, 0 if none does."""
        low, high = 0, self.max_model_len
        while low < high:
            middle = (low + high + 1) // 2
            if self.blocks_for(middle) <= self.blocks - 1:
                low = middle
            else:
                high = middle - 1
        return low

    def check(self) -> None:
        """Refuse a cache that cannot hold one request of the maximum length.

        Raises:
            MemoryRefusalError: With vLLM's message.
        """
        if self.available_bytes <= 0:
            raise MemoryRefusalError(
                "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing "
                "the engine (this flag also controls CPU memory reservation on the CPU backend, despite its name). "
                f"{ADVICE}"
            )
        if self.needed_bytes <= self.available_bytes:
            return
        longest = self.longest()
        proposal = f"Based on the available memory, the estimated maximum model length is {longest}. "
        raise MemoryRefusalError(
            f"To serve at least one request with the model's max seq len ({self.max_model_len}), "
            f"({self.needed_bytes / GIB:.2f} GiB KV cache is needed, which is larger than the available KV cache "
            f"memory ({self.available_bytes / GIB:.2f} GiB). {proposal if longest else ''}"
            "Try increasing `gpu_memory_utilization` (which also controls CPU memory on the CPU backend) or "
            f"decreasing `max_model_len` when initializing the engine. {ADVICE}"
        )


def check_memory(settings: Settings) -> None:
    """Refuse a cache that is larger than what the weights leave free of the simulated memory.

    Raises:
        MemoryRefusalError: With the message of vLLM's CPU worker.
    """
    profile = settings.profile
    if profile.memory_gib is None:
        return
    free = profile.memory_gib - profile.weights_gib / settings.stages / settings.tensor
    wanted = settings.cache_bytes / GIB
    if wanted > free:
        raise MemoryRefusalError(
            f"Available memory on node 0 ({free:.2f}/{profile.memory_gib:.2f} GiB) on kv cache allocation is less "
            f"than requested memory for kv ({wanted:.2f} GiB). Decrease --kv-cache-memory-bytes, "
            "VLLM_CPU_KVCACHE_SPACE, or reduce CPU memory used by other processes."
        )


def cache_of(settings: Settings) -> Cache:
    """Return the cache of a server with these settings."""
    batches = settings.stages if settings.stages > 1 else 1 + settings.async_scheduling
    return Cache(
        geometry=geometry_of(settings.model),
        cache_bytes=settings.cache_bytes,
        stages=settings.stages,
        tensor=settings.tensor,
        tokens_in_flight=settings.limits.max_num_batched_tokens * batches,
        max_model_len=settings.limits.max_model_len,
    )
