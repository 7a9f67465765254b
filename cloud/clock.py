"""Time as a command waits in it; tests have one of their own."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the moment, and waits."""

    def now(self) -> datetime:
        """Return the moment, with its time zone."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class WallClock:
    """The machine's own."""

    def now(self) -> datetime:
        """Return the moment in UTC."""
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        """Wait that long."""
        time.sleep(seconds)
