"""Real vLLM, installed if need be, and servers of it and of the stand-in. Only `make test-vllm` runs these."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from rehearsal.home import home
from rehearsal.progress import ConsoleProgress, Progress
from rehearsal.vllm.environment import Environment, ensure_environment
from rehearsal.vllm.model import ensure_model
from rehearsal.vllm.server import Server, real, serving, standin

FLAGS = (
    "--load-format=dummy",
    "--dtype=bfloat16",
    "--max-model-len=4096",
    "--kv-cache-memory-bytes=268435456",
    # With mode 0 and a cache given in bytes vLLM 0.31.0 skips the warm-up, and a split dies of the first request.
    "-cc.mode=2",
    "-cc.backend=eager",
    "--no-async-scheduling",
)
KEY = "of-this-test"
MORE_FLAGS = ("--enable-prompt-tokens-details", f"--api-key={KEY}")
HEADERS = (("Authorization", f"Bearer {KEY}"),)


@dataclass(frozen=True)
class Pair:
    """Both engines, started alike, and the headers that they want."""

    real: Server
    standin: Server
    headers: tuple[tuple[str, str], ...]


@pytest.fixture(scope="session")
def progress() -> Progress:
    return ConsoleProgress(Console(stderr=True, width=160))


@pytest.fixture(scope="session")
def environment(progress: Progress) -> Environment:
    return ensure_environment(home(), progress)


@pytest.fixture(scope="session")
def model(progress: Progress) -> Path:
    return ensure_model(home(), progress)


@pytest.fixture(scope="session")
def records(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where what was measured is kept: the directory of `--records`, or one of this run's own."""
    kept = request.config.getoption("--records")
    return Path(kept) if kept else tmp_path_factory.mktemp("records")


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def single(environment: Environment, model: Path, logs: Path, progress: Progress) -> Iterator[Pair]:
    """One process each, with the flags of the posts."""
    with (
        serving(real(environment), str(model), FLAGS, logs, progress) as first,
        serving(standin("fast", '{"end_of_text": 0}'), str(model), FLAGS, logs, progress) as second,
    ):
        yield Pair(first, second, ())


@pytest.fixture(scope="session")
def split(environment: Environment, model: Path, logs: Path, progress: Progress) -> Iterator[Pair]:
    """Two stages each, with a key and details of prompt tokens; the stand-in in the timing of the recorded runs."""
    flags = (*FLAGS, *MORE_FLAGS)
    timing = '{"load_s": 0, "warm_s": 0}'
    with (
        serving(real(environment), str(model), flags, logs, progress, stages=2) as first,
        serving(standin("trial-split", timing), str(model), flags, logs, progress, stages=2) as second,
    ):
        yield Pair(first, second, HEADERS)
