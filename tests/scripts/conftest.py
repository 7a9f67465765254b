"""Commands that find their stack's cluster at an API server that says what it is told to say."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scripts import entrance
from scripts.measured import measured
from scripts.stack import read
from tests.apiserver import Answers, serving
from tests.rehearsal.benchmarkpod import placed


@pytest.fixture
def answers() -> Answers:
    return {"/version": (200, {"gitVersion": "v1.34.2"})}


@pytest.fixture
def at_api(answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lead every command to a server of `answers`, whatever cluster its stack names."""
    with serving(answers, tmp_path) as kubeconfig:

        @contextmanager
        def opened(*_: object) -> Iterator[tuple[Path, None]]:
            yield kubeconfig, None

        monkeypatch.setattr(entrance, "opened", opened)
        yield


def of_the_stack(stack: str | Path, told: Answers) -> Answers:
    """Return the same, told of the Job that a stack's file gives."""
    what = measured(read(str(stack)), None, None)
    return placed(told, what.namespace, what.job)
