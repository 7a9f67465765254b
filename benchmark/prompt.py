"""Prompts of an exact length that no cache has seen.

A prompt is a list of token ids, which `/v1/completions` takes as it is: its length in the served model's
tokens is exact without a tokenizer. It opens with a nonce drawn anew for every request of every run, so that
no prefix cache, of this run or of an earlier one, holds even its first block; the rest is fixed by seed, so
that runs are comparable.
"""

import hashlib
import json
import random
import secrets
from collections.abc import Callable

from experiment.record import PromptShape

NONCE_TOKENS = 8
# Ordinary words in every vocabulary we know of: above the special and byte tokens, below 32,000, the
# smallest size.
FIRST_TOKEN_ID, TOKEN_IDS = 1_000, 30_000

Draw = Callable[[int], int]


class PromptSource:
    """Makes prompts that share one shape."""

    def __init__(self, seed: str, prompt_tokens: int, output_tokens: int, draw: Draw = secrets.randbelow) -> None:
        """Fix the shape.

        Args:
            seed: fixes the body, the part after the nonce.
            prompt_tokens: length of every prompt, at least 1.
            output_tokens: length of every answer; part of the shape, not of the prompt.
            draw: a number in [0, n), from a source that no seed fixes.
        """
        self._draw = draw
        nonce_tokens = min(NONCE_TOKENS, prompt_tokens)
        generator = random.Random(seed)  # noqa: S311  reproducible on purpose; no secret
        self._body = [FIRST_TOKEN_ID + int(generator.random() * TOKEN_IDS) for _ in range(prompt_tokens - nonce_tokens)]
        content = {
            "body": self._body,
            "nonce_tokens": nonce_tokens,
            "output_tokens": output_tokens,
            "prompt_tokens": prompt_tokens,
        }
        self.shape = PromptShape(
            prompt_tokens=prompt_tokens,
            nonce_tokens=nonce_tokens,
            output_tokens=output_tokens,
            shape_hash=hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16],
        )

    def draw(self) -> list[int]:
        """Return a prompt with a nonce of its own."""
        nonce = [FIRST_TOKEN_ID + self._draw(TOKEN_IDS) for _ in range(self.shape.nonce_tokens)]
        return nonce + self._body
