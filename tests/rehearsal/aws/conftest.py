"""An account of the doubles, with clusters on paper."""

from collections.abc import Iterator

import grpc
import pytest

from rehearsal.aws.kubernetes import Paper
from rehearsal.aws.world import World, world
from tests.rehearsal.aws.driver import Driver


@pytest.fixture
def paper() -> Paper:
    return Paper()


@pytest.fixture
def account(paper: Paper) -> Iterator[World]:
    with world(paper) as found:
        yield found


@pytest.fixture
def aws(account: World) -> Iterator[Driver]:
    port = account.providers.split(",")[0].partition(":")[2]
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        driver = Driver(channel)
        driver.configure(region="us-east-1")
        yield driver
