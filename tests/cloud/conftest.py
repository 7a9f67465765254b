"""AWS played by moto, no network at all, and a clock that does not wait."""

import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest
from moto import mock_aws

from cloud.account import Account
from tests.cloud.unplayed import Unplayed

REGION = "us-east-1"
SESSION = boto3.Session("nobody", "nothing", region_name=REGION)
"""One for all tests: to read AWS's models takes seconds."""


class VirtualClock:
    """Time passes only where somebody waits; what is due then happens."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 12, 1, 12, tzinfo=UTC)
        self.slept: list[float] = []
        self.due: list[tuple[datetime, Any]] = []

    def now(self) -> datetime:
        return self.moment

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.moment += timedelta(seconds=seconds)
        for entry in [entry for entry in self.due if entry[0] <= self.moment]:
            self.due.remove(entry)
            entry[1]()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def at_home(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and address[0] != "127.0.0.1":
            raise AssertionError(f"a test called {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", at_home)


@pytest.fixture
def unplayed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Unplayed]:
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        double = Unplayed()
        double.install(monkeypatch)
        yield double


@pytest.fixture
def account(unplayed: Unplayed) -> Account:
    return Account(session=SESSION)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()
