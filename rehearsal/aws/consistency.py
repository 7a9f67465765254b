"""What AWS tells late: a role that was just made is not found for a moment, and other services do not know it yet.

What was asked to do so is counted and not timed, so that a test sees the same each time. The real provider asks again
until it is told; so does its double. Commands that look around must bear it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

Refusal = tuple[str, str]
"""Code and text."""

_READS = frozenset({"GetRole", "ListRoleTags", "ListRolePolicies", "ListAttachedRolePolicies", "GetRolePolicy"})
_ASSUMED = {
    "eks": ("InvalidParameterException", "The role with name {role} cannot be found or could not be assumed."),
    "scheduler": (
        "ValidationException",
        "The execution role you provide must allow AWS EventBridge Scheduler to assume the role.",
    ),
}
PROPAGATING = ("could not be assumed", "must allow AWS EventBridge Scheduler", "cannot be found")
"""Words of refusals after which the real provider tries again."""


@dataclass
class Consistency:
    """New roles and what does not know them yet.

    Attributes:
        unread: how often a new role is not found when it is looked at.
        unused: how often a service refuses to take it.
    """

    unread: int = 0
    unused: int = 0
    _reads: dict[str, int] = field(default_factory=dict)
    _uses: dict[str, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def born(self, role: str) -> None:
        """Take note of a role that was just made."""
        with self._lock:
            self._reads[role], self._uses[role] = self.unread, self.unused

    def read(self, action: str, role: str) -> Refusal | None:
        """Return how IAM refuses to look at a role that it has not heard of everywhere; None if it has."""
        if action in _READS and self._counts_down(self._reads, role):
            return "NoSuchEntity", f"The role with name {role} cannot be found."
        return None

    def used(self, service: str, body: Mapping[str, Any]) -> Refusal | None:
        """Return how a service refuses a request because of a role in it that it does not know yet; None if not."""
        for name in _roles(body):
            if service in _ASSUMED and self._counts_down(self._uses, name):
                code, text = _ASSUMED[service]
                return code, text.format(role=name)
        return None

    def _counts_down(self, left: dict[str, int], role: str) -> bool:
        with self._lock:
            if not left.get(role):
                return False
            left[role] -= 1
            return True


def _roles(body: Any) -> list[str]:
    """Return the names of all roles whose ARNs are in a request, however deep."""
    if isinstance(body, Mapping):
        return [name for value in body.values() for name in _roles(value)]
    if isinstance(body, str) and body.startswith("arn:aws:iam::") and ":role/" in body:
        return [body.rpartition("/")[2]]
    return []
