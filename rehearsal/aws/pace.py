"""How fast time passes at the doubles: AWS's waits, of which a part is spent here."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """Seconds of AWS's as seconds of ours.

    Attributes:
        factor: of its time that passes here; 0 is no waiting at all.
    """

    factor: float = 0.0

    def spend(self, seconds: float) -> None:
        """Let time pass."""
        if self.factor:
            time.sleep(seconds * self.factor)
