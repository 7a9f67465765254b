"""One thing that is wrong with a stack file."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """Where, what was found, why it is wrong, and what to do."""

    path: str
    found: str
    why: str
    remedy: str

    def __str__(self) -> str:
        found = f"found {self.found}: " if self.found else ""
        return f"{self.path}: {found}{self.why}. {self.remedy}"
