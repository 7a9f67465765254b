"""What becomes true on a real cluster, sooner or later."""

import time
from collections.abc import Callable
from typing import TypeVar

import pytest
from kubernetes.client.exceptions import ApiException

PATIENCE_S = 240.0  # a slow machine takes several times what ours does
T = TypeVar("T")


def eventually(ask: Callable[[], T], what: str, timeout_s: float = PATIENCE_S) -> T:
    """Ask until the answer is true, and return it; what cannot be answered yet counts as no."""
    deadline = time.monotonic() + timeout_s
    last: object = None
    while time.monotonic() < deadline:
        try:
            if last := ask():
                return last
        except (ApiException, OSError) as error:
            last = error
        time.sleep(0.2)
    pytest.fail(f"{what}: not within {timeout_s:g} s, last was {last!r}")
