from collections.abc import Iterator
from pathlib import Path

import pytest

from components.pod.weights import __main__ as program
from tests.components.pod.weights.hubserver import Hub, serving

FILES = {
    "config.json": b'{"model_type": "gemma3_text"}',
    "README.md": b"",
    "tokenizer.json": b"t" * 1200,
    "model.safetensors": bytes(range(256)) * 40,
    "pytorch_model.bin": b"the same again",
    "original/consolidated.00.pth": b"and again",
}


class Clock:
    """Time that passes only in sleep."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in ("patience", "store", "__main__", "aws"):
        monkeypatch.setattr(f"components.pod.weights.{module}.time", clock)
    return clock


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(FILES) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield hub


@pytest.fixture
def message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a container leaves its last words."""
    path = tmp_path / "termination-log"
    monkeypatch.setattr(program, "MESSAGE", path)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # this process is the tests' own
    return path
