"""Shared by the rehearsal's tests."""

from dataclasses import dataclass, field

import pytest


@dataclass
class Recorder:
    """A Progress that keeps what it was told."""

    steps: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def step(self, text: str) -> None:
        self.steps.append(text)

    def note(self, text: str) -> None:
        self.notes.append(text)

    @property
    def text(self) -> str:
        return "\n".join([*self.steps, *self.notes])


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()
