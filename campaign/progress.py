"""What long work reports to."""

from typing import Protocol


class Progress(Protocol):
    """Somebody who is told what goes on."""

    def step(self, text: str) -> None:
        """A new phase begins; `text` says which, and what it may take."""

    def note(self, text: str) -> None:
        """A remark within the phase."""
