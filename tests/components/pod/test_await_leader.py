import socket
from collections.abc import Iterator

import pytest

from components.pod import await_leader


class Clock:
    """Time that passes only in sleep."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("components.pod.await_leader.time", clock)
    return clock


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def port_of(server: socket.socket) -> int:
    port: int = server.getsockname()[1]
    return port


def test_a_leader_that_listens_is_found(listener: socket.socket) -> None:
    assert await_leader.missing("127.0.0.1", port_of(listener)) == ""


def test_a_leader_without_a_name_or_a_port_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = port_of(server)
    assert "nothing listens on 127.0.0.1" in await_leader.missing("127.0.0.1", port)
    assert "has no address yet" in await_leader.missing("leader.invalid", port)


def test_it_waits_until_the_leader_comes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(await_leader, "missing", lambda *_: "" if clock.now_s >= 1025 else "no address")
    assert await_leader.await_leader("leader", 29501, 60)
    assert capsys.readouterr().out.splitlines() == [
        "waiting for the leader, 0 of 60 s: no address",
        "waiting for the leader, 10 of 60 s: no address",
        "waiting for the leader, 20 of 60 s: no address",
        "leader leader listens on port 29501 after 25.0 s",
    ]


def test_it_gives_up_in_time_and_says_why(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(await_leader, "missing", lambda *_: "no address")
    monkeypatch.setenv("LWS_LEADER_ADDRESS", "leader")
    assert await_leader.main(["29501", "30"]) == 1
    assert clock.now_s == 1030
    assert capsys.readouterr().err == "gave up on the leader after 30 s: no address\n"


def test_without_a_leader_it_does_not_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LWS_LEADER_ADDRESS", raising=False)
    assert await_leader.main(["29501", "30"]) == 2
    assert capsys.readouterr().err.startswith("LWS_LEADER_ADDRESS is not set")
