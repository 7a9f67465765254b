"""The whole program as a process: refusals, the end on SIGTERM, and what ranks do when another one is gone."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import ClientConnectionError, ClientSession

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]
MODEL = "google/gemma-3-1b-it"
PATIENCE_S = 240  # a process may take long to start beside other work
QUICK = {"download_s": 0, "load_s": 0, "warm_s": 0, "step_s": 0.002, "end_of_text": 0}
SPLIT = ["--pipeline-parallel-size=2", "--nnodes=2", "--master-addr=127.0.0.1"]

Process = asyncio.subprocess.Process
Launch = Callable[..., Awaitable[Process]]


@pytest.fixture
async def launch() -> AsyncIterator[Launch]:
    """Start the program; what still runs at the end is killed."""
    started: list[Process] = []

    async def run(*flags: str, **parameters: object) -> Process:
        environ = {**os.environ, "SPLITBED_STANDIN_PARAMETERS": json.dumps(QUICK | parameters)}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "rehearsal.engine", "serve", MODEL, *flags),
            cwd=ROOT,
            env=environ,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


async def healthy(client: ClientSession, port: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                async with client.get(f"http://127.0.0.1:{port}/health") as answer:
                    if answer.status == 200:
                        return
            except ClientConnectionError:
                await asyncio.sleep(0.05)


def body(tokens: int) -> dict[str, object]:
    return {"prompt": "a", "max_tokens": tokens, "min_tokens": tokens, "ignore_eos": True, "stream": True}


async def ask(client: ClientSession, port: int) -> str:
    async with client.post(f"http://127.0.0.1:{port}/v1/completions", json=body(5)) as answer:
        return await answer.text()


@pytest.mark.parametrize(
    ("flags", "parameters", "message"),
    [
        (["--kv-cache-memory-bytes=20000000"], {}, "GiB KV cache is needed, which is larger than the available"),
        ([], {"memory_gib": 4}, "on kv cache allocation is less than requested memory for kv (4.00 GiB)"),
        (["--nnodes=3", "-pp=2"], {}, "global world_size (2) must be divisible by nnodes_within_dp (3)"),
        (["--headless"], {}, "--headless is for the ranks after the first"),
    ],
)
async def test_refusals_at_start(launch: Launch, flags: list[str], parameters: dict[str, object], message: str) -> None:
    process = await launch(f"--port={free_port()}", *flags, **parameters)
    output, _ = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode == 1
    assert message in output.decode()
    assert "Traceback" not in output.decode()


@pytest.mark.parametrize(("drain_s", "tokens", "reason"), [(0, 4000, "abort"), (120, 300, "length")])
async def test_sigterm_aborts_or_drains(launch: Launch, drain_s: int, tokens: int, reason: str) -> None:
    port = free_port()
    process = await launch(f"--port={port}", f"--shutdown-timeout={drain_s}")
    async with ClientSession() as client:
        await healthy(client, port)
        async with client.post(f"http://127.0.0.1:{port}/v1/completions", json=body(tokens)) as answer:
            await answer.content.readline()
            process.send_signal(signal.SIGTERM)
            rest = (await answer.content.read()).decode()
    assert f'"finish_reason":"{reason}"' in rest
    assert rest.endswith("data: [DONE]\n\n")
    await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode == 0


async def test_a_lost_worker_leaves_the_leader_healthy_and_requests_hanging(launch: Launch) -> None:
    port, master = free_port(), free_port()
    leader = await launch(f"--port={port}", f"--master-port={master}", *SPLIT)
    async with ClientSession() as client:
        await asyncio.sleep(1)
        with pytest.raises(ClientConnectionError):
            await client.get(f"http://127.0.0.1:{port}/health")  # not before all ranks are there
        worker = await launch("--headless", "--node-rank=1", f"--master-port={master}", *SPLIT)
        await healthy(client, port)
        assert "[DONE]" in await ask(client, port)
        worker.kill()
        await worker.wait()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask(client, port), 0.5)
        await healthy(client, port)
    assert leader.returncode is None


async def test_a_lost_leader_lets_the_worker_fail_and_sigterm_lets_it_end(launch: Launch) -> None:
    port, master = free_port(), free_port()
    leader = await launch(f"--port={port}", f"--master-port={master}", *SPLIT)
    worker = await launch("--headless", "--node-rank=1", f"--master-port={master}", *SPLIT)
    async with ClientSession() as client:
        await healthy(client, port)
    leader.kill()
    output, _ = await asyncio.wait_for(worker.communicate(), PATIENCE_S)
    assert worker.returncode == 1
    assert "Connection closed by peer" in output.decode()
    waiting = await launch("--headless", "--node-rank=1", f"--master-port={master}", *SPLIT)
    assert waiting.stdout is not None
    await asyncio.wait_for(waiting.stdout.readline(), PATIENCE_S)
    waiting.send_signal(signal.SIGTERM)
    assert await asyncio.wait_for(waiting.wait(), PATIENCE_S) == 0
