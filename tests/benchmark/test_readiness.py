import socket
import time
from collections.abc import Callable

import pytest

from benchmark import readiness
from benchmark.endpoint import Endpoint
from benchmark.readiness import NotReadyError, gate, wait_ready
from experiment.record import Failure
from tests.benchmark.server import MODEL, STANDIN, Server


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "POLL_S", 0.01)
    monkeypatch.setattr(readiness, "SAY_EVERY_S", 0.05)


def endpoint(url: str) -> Endpoint:
    return Endpoint(url, time.monotonic)


async def test_a_server_that_is_ready_is_described(server: Server) -> None:
    engine = await wait_ready(endpoint(server.url + "/"), MODEL, 20, 20, print)
    assert (engine.url, engine.version, engine.simulated) == (server.url, "0.31.0", True)
    assert engine.standin == STANDIN


async def test_a_server_that_comes_late_is_waited_for_and_the_wait_is_told(server: Server) -> None:
    server.health = 503
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        server.health = 200

    await wait_ready(endpoint(server.url), MODEL, 20, 20, say)
    assert said[0].endswith("of 20 s: GET /health: status 503")


@pytest.mark.thorough
async def test_a_leader_that_is_healthy_and_completes_nothing_is_not_ready(server: Server) -> None:
    server.dead = True
    with pytest.raises(NotReadyError, match=r"not ready within 1\.5 s; at the last look a completion of one token"):
        await wait_ready(endpoint(server.url), MODEL, 1.5, 0.05, print)


@pytest.mark.thorough
async def test_nobody_there_is_said_after_the_time_given() -> None:
    with socket.socket() as reserved:  # bound, not listening: connections are refused
        reserved.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{reserved.getsockname()[1]}"
        with pytest.raises(NotReadyError, match=r"GET /health: .*(refused|Connect call failed)") as caught:
            await wait_ready(endpoint(url), MODEL, 1, 20, print)
        failure = await gate(endpoint(url), MODEL, 1)
    assert "ready_timeout_s" in caught.value.remedy
    assert failure is not None
    assert failure.reason.startswith("no connection: ")


async def test_another_model_is_not_waited_for(server: Server) -> None:
    with pytest.raises(NotReadyError, match=r"serves org/model, the plan asks for org/other\."):
        await wait_ready(endpoint(server.url), "org/other", 600, 20, print)


async def test_a_server_that_refuses_our_request_is_not_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "gate", _refusing(400))
    with pytest.raises(NotReadyError, match="refuses a completion of one token: no such key"):
        await wait_ready(endpoint(server.url), MODEL, 600, 20, print)


def _refusing(status: int) -> Callable[..., object]:
    async def refuse(*_: object) -> Failure:
        return Failure(reason="no such key", status=status, stamps=None)

    return refuse


@pytest.mark.thorough
async def test_a_server_whose_kind_cannot_be_told_is_not_taken_for_a_real_one(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Endpoint.ask

    async def broken(self: Endpoint, path: str) -> object:
        exchange = await ask(self, path)
        if path == "/splitbed/standin":
            exchange.status = 502
        return exchange

    monkeypatch.setattr(Endpoint, "ask", broken)
    with pytest.raises(NotReadyError, match="at the last look GET /splitbed/standin: status 502"):
        await wait_ready(endpoint(server.url), MODEL, 1, 20, print)
