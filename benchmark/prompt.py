"""Prompts of an exact length that no cache has seen.

A prompt is a list of token ids, which `/v1/completions` takes as it is: its length in the served model's
tokens is exact. It opens with a nonce drawn anew for every request of every run, so that
no prefix cache, of this run or of an earlier one, holds even its first block; the rest is fixed by seed, so
that runs are comparable.
"""

import hashlib
import json
import random
import secrets
from collections.abc import Callable, Sequence

from benchmark.vocabulary import ASSUMED
from experiment.measure.request import PromptShape

NONCE_TOKENS = 8

Draw = Callable[[int], int]


class PromptSource:
    """Makes prompts that share one shape."""

    def __init__(
        self,
        seed: str,
        prompt_tokens: int,
        output_tokens: int,
        ids: Sequence[int] = ASSUMED.ids,
        draw: Draw = secrets.randbelow,
    ) -> None:
        """Fix the shape.

        Args:
            seed: fixes the body, the part after the nonce.
            prompt_tokens: length of every prompt, at least 1.
            output_tokens: length of every answer; part of the shape, not of the prompt.
            ids: tokens to choose from.
            draw: a number in [0, n), from a source that no seed fixes.
        """
        self._draw = draw
        self._ids = ids
        nonce_tokens = min(NONCE_TOKENS, prompt_tokens)
        generator = random.Random(seed)  # noqa: S311  reproducible on purpose; no secret
        self._body = [ids[int(generator.random() * len(ids))] for _ in range(prompt_tokens - nonce_tokens)]
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
            shape_hash=digest(content),
        )

    def draw(self) -> list[int]:
        """Return a prompt with a nonce of its own."""
        nonce = [self._ids[self._draw(len(self._ids))] for _ in range(self.shape.nonce_tokens)]
        return nonce + self._body


def digest(content: object) -> str:
    """Return sixteen hexadecimal digits over what `json.dumps` takes."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
