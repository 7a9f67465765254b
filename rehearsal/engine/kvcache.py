"""The KV cache as a pool of blocks, with prefix caching.

A simplification of vLLM's: one block holds `block_size` tokens of every layer, so a sliding window does not let go of
its early blocks. `memory.py` gives the number of blocks such that the stated cache size in tokens is right.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class BlockTable:
    """The blocks of one request: the hash of a shared one, None for a private one."""

    blocks: list[int | None] = field(default_factory=list)


@dataclass
class BlockPool:
    """Blocks in use, blocks kept for their content, and blank ones; `capacity` counts all of them."""

    capacity: int
    block_size: int = 128
    caching: bool = True
    _references: dict[int, int] = field(default_factory=dict)
    # Cached blocks that nobody uses, the longest unused first; they are the first to go.
    _idle: dict[int, None] = field(default_factory=dict)
    _private: int = 0

    @property
    def used(self) -> int:
        """Blocks held by requests."""
        return self._private + len(self._references)

    @property
    def free(self) -> int:
        """Blocks that a request can have, idle cached ones included."""
        return self.capacity - self.used

    def usage(self) -> float:
        """Return the share of blocks in use, 0 to 1."""
        return self.used / self.capacity if self.capacity else 0.0

    def hashes(self, ids: Sequence[int]) -> list[int]:
        """Return the chained hash of each whole block of `ids`."""
        chain: list[int] = []
        previous = 0
        for end in range(self.block_size, len(ids) + 1, self.block_size):
            previous = hash((previous, *ids[end - self.block_size : end]))
            chain.append(previous)
        return chain

    def hit(self, ids: Sequence[int]) -> list[int]:
        """Return the hashes of the leading blocks of `ids` that are cached; the last token is never among them."""
        if not self.caching:
            return []
        found = []
        for number in self.hashes(ids[: len(ids) - 1]):
            if number not in self._references and number not in self._idle:
                break
            found.append(number)
        return found

    def blocks_for(self, tokens: int) -> int:
        """Return how many blocks hold `tokens`."""
        return -(-tokens // self.block_size)

    def can_hold(self, tokens: int, hit: Sequence[int]) -> bool:
        """Say whether a new request of `tokens` fits, given the cached blocks it would share."""
        idle_hits = sum(number in self._idle for number in hit)
        return self.blocks_for(tokens) - len(hit) + idle_hits <= self.free

    def share(self, table: BlockTable, hit: Sequence[int]) -> None:
        """Give the cached blocks `hit` to an empty table."""
        for number in hit:
            self._idle.pop(number, None)
            self._references[number] = self._references.get(number, 0) + 1
            table.blocks.append(number)

    def grow(self, table: BlockTable, tokens: int) -> bool:
        """Let the table hold `tokens`; False, and nothing changed, if there are not enough blocks."""
        wanted = self.blocks_for(tokens) - len(table.blocks)
        if wanted <= 0:
            return True
        if wanted > self.free:
            return False
        blank = self.capacity - self.used - len(self._idle)
        for _ in range(wanted - blank):
            del self._idle[next(iter(self._idle))]
        self._private += wanted
        table.blocks += [None] * wanted
        return True

    def keep(self, table: BlockTable, ids: Sequence[int], computed: int) -> None:
        """Make the whole blocks within the first `computed` tokens findable by their content."""
        if not self.caching:
            return
        whole = computed // self.block_size
        if whole == 0 or table.blocks[whole - 1] is not None:
            return
        for index, number in enumerate(self.hashes(ids[:computed])):
            if table.blocks[index] is not None:
                continue
            if number in self._references or number in self._idle:
                continue  # somebody else computed the same; this copy stays private
            table.blocks[index] = number
            self._private -= 1
            self._references[number] = 1

    def release(self, table: BlockTable) -> None:
        """Take all blocks back; cached ones stay findable until their place is needed, the last blocks go first."""
        for number in reversed(table.blocks):
            if number is None:
                self._private -= 1
                continue
            self._references[number] -= 1
            if self._references[number] == 0:
                del self._references[number]
                self._idle[number] = None
        table.blocks.clear()
