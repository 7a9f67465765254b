from collections.abc import Iterator

import pytest

from tests.benchmark.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with Server.running() as running:
        yield running
