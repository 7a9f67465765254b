"""The life of one process: start-up phases, joining the other ranks, serving, and a clean end on SIGTERM."""

import asyncio
import contextlib
import logging
import signal
import socket

from aiohttp import web

from rehearsal.engine import VLLM_VERSION
from rehearsal.engine.arrival import Arrivals
from rehearsal.engine.assembly import assemble
from rehearsal.engine.driver import Engine
from rehearsal.engine.listener import Runner
from rehearsal.engine.memory import Cache, cache_of, check_memory
from rehearsal.engine.ranks import Leader, RankError, Worker
from rehearsal.engine.server import Api
from rehearsal.engine.settings import Settings
from rehearsal.engine.stamps import Stamps

log = logging.getLogger("vllm")
WATCHDOG_S = 5.0


def _stopping() -> asyncio.Event:
    """Return an event that SIGTERM or SIGINT sets; as process 1 the kernel would ignore them otherwise."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, event.set)
    return event


async def _unless(stop: asyncio.Event, work: "asyncio.Task[None]") -> bool:
    """Wait for `work`, or for `stop`, and say whether the work was done. Errors of the work are raised."""
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
            return True
        return False
    finally:
        for task in (work, stopped):
            task.cancel()
        await asyncio.gather(work, stopped, return_exceptions=True)


async def _start_up(settings: Settings, cache: Cache) -> None:
    """Let the start-up phases pass; after loading it is clear whether the cache fits.

    Raises:
        MemoryRefusalError: It does not.
    """
    profile = settings.profile
    await _phase(profile.download_s, f"Downloading weights of {settings.model}")
    await _phase(profile.load_s, "Loading safetensors checkpoint shards")
    check_memory(settings)
    cache.check()
    log.info(
        "CPU KV cache size: %s tokens, Maximum concurrency for %s tokens per request: %.2fx",
        f"{cache.tokens:,}",
        f"{cache.max_model_len:,}",
        cache.concurrency,
    )
    await _phase(profile.warm_s, "Warming up model for the compilation...")


async def _phase(seconds: float, text: str) -> None:
    log.info("%s (simulated, %.1f s)", text, seconds)
    await asyncio.sleep(seconds)


def _listener(settings: Settings) -> Arrivals:
    """Take the HTTP port without listening yet: connections are refused until the engine is up."""
    sock = Arrivals(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((settings.host, settings.port))
    return sock


async def lead(settings: Settings) -> int:
    """Run the leader, or the only rank; return the exit code."""
    stop = _stopping()
    log.info("vLLM server version %s, serving model %s (stand-in)", VLLM_VERSION, settings.model)
    log.info("figures are simulated, profile %s", settings.profile.name)
    sock = _listener(settings)
    leader = Leader(settings.nnodes, settings.master_port)
    try:
        if settings.nnodes > 1 and not await _unless(stop, asyncio.create_task(leader.gather())):
            return 0
        cache = cache_of(settings)
        if not await _unless(stop, asyncio.create_task(_start_up(settings, cache))):
            return 0
        return await _serve(settings, sock, leader, stop)
    finally:
        await leader.close()
        sock.close()


async def _serve(settings: Settings, sock: Arrivals, leader: Leader, stop: asyncio.Event) -> int:
    server, observations = assemble(settings, cache_of(settings), leader)
    engine = server.engine
    stamps = Stamps(settings.stamps)
    runner = Runner(Api(server, observations, stamps).application(), sock.of)
    await runner.setup()
    await web.SockSite(runner, sock, backlog=2048).start()
    log.info("Starting vLLM API server 0 on http://%s:%d", settings.host, settings.port)
    log.info("Application startup complete.")
    driving = engine.start()
    try:
        if await _unless(stop, asyncio.create_task(_death(driving))):
            return 1
        await _wind_down(engine, settings.shutdown_timeout_s)
        return 0
    finally:
        await engine.halt()
        await runner.cleanup()
        stamps.close()


async def _death(driving: "asyncio.Task[None]") -> None:
    """Wait for the engine to die, and then as long as vLLM's watchdog takes to see it."""
    await asyncio.shield(driving)
    log.error("EngineCore encountered an issue: RPC call to sample_tokens timed out.")
    await asyncio.sleep(WATCHDOG_S)


async def _wind_down(engine: Engine, timeout_s: int) -> None:
    engine.closing = True
    mode = "abort" if timeout_s == 0 else "drain"
    log.info("[shutdown] API server: stopping engine client mode=%s timeout=%ds", mode, timeout_s)
    if timeout_s:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await engine.drained()
    engine.abort_all()
    await asyncio.sleep(0)
    log.info("[shutdown] API server: engine client stopped")


async def follow(settings: Settings) -> int:
    """Run a headless worker; return the exit code."""
    stop = _stopping()
    log.info(
        "Launching vLLM (v%s) headless multiproc executor, with head node address %s:%d for torch.distributed "
        "process group. (stand-in)",
        VLLM_VERSION,
        settings.master_addr,
        settings.master_port,
    )
    worker = Worker(settings.node_rank, settings.nnodes, settings.master_addr, settings.master_port)
    try:
        await _unless(stop, asyncio.create_task(_work(worker)))
    except RankError as e:
        log.error("%s", e)
        return 1
    return 0


async def _work(worker: Worker) -> None:
    reader, writer = await worker.join()
    log.info("rank %d of %d is in the group", worker.rank, worker.nnodes)
    await worker.work(reader, writer)
