"""What the stand-in's tests share: recordings, made-up prompts, and a server in this process."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import web

from rehearsal.engine import arguments
from rehearsal.engine.assembly import assemble
from rehearsal.engine.generation import Server
from rehearsal.engine.listener import Runner
from rehearsal.engine.memory import cache_of
from rehearsal.engine.ranks import Leader
from rehearsal.engine.server import Api
from rehearsal.engine.settings import settings
from rehearsal.engine.stamps import Stamps

RECORDINGS = Path(__file__).parents[2] / "data" / "vllm"
MODEL = "google/gemma-3-1b-it"
QUICK = (
    '{"step_s":0.0004,"sequence_s":0.00001,"prefill_token_s":0.000001,"frontend_s":0,"schedule_s":0,"hop_s":0,'
    '"jitter":0,"end_of_text":0}'
)


@pytest.fixture
def recordings() -> Path:
    """The directory of what a real vLLM 0.31.0 answered."""
    return RECORDINGS


@pytest.fixture
def prompt() -> Callable[..., list[int]]:
    """Make up a prompt of so many tokens; the same seed gives the same one."""

    def make(tokens: int, seed: int) -> list[int]:
        dice = random.Random(seed)  # noqa: S311
        return [dice.randrange(256, 262_144) for _ in range(tokens)]

    return make


class Running:
    """A server in this process, and its address."""

    def __init__(self, url: str, port: int, server: Server) -> None:
        self.url = url
        self.port = port
        self.server = server


Start = Callable[..., Awaitable[Running]]


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Start servers by command line and environment; they are stopped at the end."""
    async with AsyncExitStack() as stack:

        async def run(*flags: str, stamps: Path | None = None, **environ: str) -> Running:
            environ.setdefault("SPLITBED_STANDIN_PARAMETERS", QUICK)
            found = settings(arguments.parse(["serve", MODEL, "--max-model-len=4096", *flags]), environ)
            leader = Leader(1, 0)
            server, observations = assemble(found, cache_of(found), leader)
            file = Stamps(stamps)
            runner = Runner(Api(server, observations, file).application())
            await runner.setup()
            stack.callback(file.close)
            stack.push_async_callback(runner.cleanup)
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            stack.push_async_callback(server.engine.halt)
            server.engine.start()
            port = runner.addresses[0][1]
            return Running(f"http://127.0.0.1:{port}", port, server)

        yield run
