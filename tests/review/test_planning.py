"""The plan of a stack as another tree's own code makes it."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from review.planning import as_it_was

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def test_code_that_does_not_end_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(command: list[str], *, timeout: float, **_: Any) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", endless)
    assert as_it_was(tmp_path, tmp_path / "Pulumi.x.yaml", NOW) is None
