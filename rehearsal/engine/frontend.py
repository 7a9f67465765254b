"""The API server's share of a request's time: it takes one request after the other on its way to the engine."""

import random
from dataclasses import dataclass

from rehearsal.engine.profile import Profile


@dataclass
class FrontEnd:
    """Says when a request that arrived at the server reaches the engine's input queue."""

    profile: Profile
    seed: int = 0
    free_s: float = 0.0

    def __post_init__(self) -> None:
        self._dice = random.Random(f"frontend/{self.seed}")  # noqa: S311

    def admit(self, prompt_tokens: int, at_s: float) -> float:
        """Take a request of `prompt_tokens` in at `at_s` and return when it is at the engine."""
        spread = self.profile.frontend_spread
        fixed = self.profile.frontend_s * self._dice.uniform(1 - spread, 1 + spread)
        self.free_s = max(self.free_s, at_s) + fixed + prompt_tokens * self.profile.frontend_token_s
        return self.free_s
