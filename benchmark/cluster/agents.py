"""The agents in the engine's pods: each tells its container's counters, and who is connected to the engine."""

import asyncio
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchmark.connection import Clock, Exchange
from benchmark.endpoint import Endpoint
from experiment.measure.part import Seconds
from experiment.measure.pods import Agent, Cpu, Interface, Memory, PodCounters

TIMEOUT_S = 5.0
Port = Annotated[int, Field(ge=0, le=65535)]


class AgentError(Exception):
    """An agent does not answer, or not as ours does; the text says which."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    format: Literal[1] = Field(alias="schema")


class Told(_Answer):
    """What an agent tells of its container."""

    started: tuple[str, ...]
    monotonic_s: Seconds
    cgroup: Literal[1, 2]
    cpu: Cpu
    memory: Memory
    network: dict[str, Interface]
    agent: Agent


class _Peers(_Answer):
    peers: tuple[tuple[str, Port], ...]


async def told(endpoint: Endpoint) -> tuple[Told, PodCounters]:
    """Ask for the counters.

    Raises:
        AgentError: see there.
    """
    exchange = await _ask(endpoint, "/counters")
    try:
        found = Told.model_validate_json(exchange.body)
        counters = PodCounters(
            asked_s=exchange.sent_s,
            answered_s=exchange.end_s or exchange.sent_s,
            **{name: getattr(found, name) for name in ("monotonic_s", "cgroup", "cpu", "memory", "network", "agent")},
        )
    except ValidationError as error:
        raise AgentError(_unlike(endpoint, error)) from None
    return found, counters


async def peers(endpoint: Endpoint) -> frozenset[tuple[str, int]]:
    """Ask who is connected to the engine's port, by address and port.

    Raises:
        AgentError: see there.
    """
    exchange = await _ask(endpoint, "/peers")
    try:
        return frozenset(_Peers.model_validate_json(exchange.body).peers)
    except ValidationError as error:
        raise AgentError(_unlike(endpoint, error)) from None


async def told_by_all(endpoints: Sequence[Endpoint | None]) -> list[tuple[Told, PodCounters] | str]:
    """Ask all at once; of one that does not answer, or has no address yet, why."""

    async def one(endpoint: Endpoint | None) -> tuple[Told, PodCounters] | str:
        if endpoint is None:
            return "the pod has no address"
        try:
            return await told(endpoint)
        except AgentError as error:
            return str(error)

    return list(await asyncio.gather(*(one(endpoint) for endpoint in endpoints)))


def agent_at(address: str | None, port: int, clock: Clock) -> Endpoint | None:
    """Return the way to the agent of the pod that has this address."""
    if address is None:
        return None
    return Endpoint(f"http://{f'[{address}]' if ':' in address else address}:{port}", clock)


async def _ask(endpoint: Endpoint, path: str) -> Exchange:
    try:
        exchange = await endpoint.ask(path, timeout_s=TIMEOUT_S)
    except OSError as error:
        raise AgentError(f"the agent at {endpoint.url}: no connection: {error or type(error).__name__}") from None
    if exchange.error is not None or exchange.status != 200:
        raise AgentError(f"the agent at {endpoint.url}: {exchange.error or f'status {exchange.status}'}")
    return exchange


def _unlike(endpoint: Endpoint, error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{endpoint.url} does not answer as an agent: {'.'.join(map(str, first['loc']))}: {first['msg']}"
