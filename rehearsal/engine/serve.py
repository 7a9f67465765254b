"""The life of one process: start-up phases, joining the other ranks, serving, and a clean end on SIGTERM."""

import asyncio
import contextlib
import logging
import signal
import socket
import time

from aiohttp import web

from rehearsal.engine import VLLM_VERSION
from rehearsal.engine.core import Core
from rehearsal.engine.driver import Engine
from rehearsal.engine.frontend import FrontEnd
from rehearsal.engine.generation import Server
from rehearsal.engine.kvcache import BlockPool
from rehearsal.engine.metrics import Registry, labels
from rehearsal.engine.observations import Observations
from rehearsal.engine.pipeline import Pipeline
from rehearsal.engine.profile import Profile
from rehearsal.engine.ranks import Leader, RankError, Worker
from rehearsal.engine.request import Writer
from rehearsal.engine.scheduler import Chunk, Scheduler
from rehearsal.engine.server import Api
from rehearsal.engine.settings import Settings
from rehearsal.engine.stamps import Stamps
from rehearsal.engine.tokenizer import Tokenizer

log = logging.getLogger("vllm")
WATCHDOG_S = 5.0
BYTES_PER_TOKEN = 26 * 1024


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


async def _phases(profile: Profile, model: str) -> None:
    for seconds, text in (
        (profile.download_s, f"Downloading weights of {model}"),
        (profile.load_s, "Loading safetensors checkpoint shards"),
        (profile.warm_s, "Warming up model for the compilation"),
    ):
        log.info("%s (simulated, %.1f s)", text, seconds)
        await asyncio.sleep(seconds)


def _listener(settings: Settings) -> socket.socket:
    """Take the HTTP port without listening yet: connections are refused until the engine is up."""
    sock = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((settings.host, settings.port))
    return sock


def _engine(settings: Settings, leader: Leader) -> tuple[Server, Observations]:
    blocks = max(2, settings.cache_bytes // BYTES_PER_TOKEN // settings.block_size)
    pool = BlockPool(blocks - 1, settings.block_size, settings.prefix_caching)
    tokenizer = Tokenizer()
    scheduler = Scheduler(settings.limits, pool, Writer(tokenizer))
    profile = settings.profile
    pipeline = Pipeline(profile, settings.stages, settings.tensor, settings.seed)

    def send(number: int, chunks: list[Chunk]) -> None:
        size = sum(
            chunk.tokens * profile.prompt_token_bytes if chunk.is_prefill else profile.generated_token_bytes
            for chunk in chunks
        )
        leader.send(number, size)

    core = Core(scheduler, pipeline, on_send=send, confirmed={} if settings.nnodes > 1 else None)
    registry = Registry(settings.names[0], settings.limits.max_model_len)
    observations = Observations(registry, core)
    engine = Engine(
        core,
        FrontEnd(profile, settings.seed),
        time.monotonic,
        on_step=observations.step,
        on_stop=observations.stopped,
        step_timeout_s=settings.step_timeout_s,
    )
    leader.on_answer = engine.confirm
    info = registry.families["vllm:cache_config_info"]
    info.series.clear()
    info.at(
        labels(
            {
                "engine": "0",
                "block_size": str(settings.block_size),
                "cache_dtype": "auto",
                "enable_prefix_caching": str(settings.prefix_caching),
                "kv_cache_memory_bytes": str(settings.cache_bytes),
                "num_gpu_blocks": str(blocks),
            }
        )
    ).value = 1
    return Server(settings, tokenizer, engine), observations


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
        if not await _unless(stop, asyncio.create_task(_phases(settings.profile, settings.model))):
            return 0
        return await _serve(settings, sock, leader, stop)
    finally:
        await leader.close()
        sock.close()


async def _serve(settings: Settings, sock: socket.socket, leader: Leader, stop: asyncio.Event) -> int:
    server, observations = _engine(settings, leader)
    engine = server.engine
    stamps = Stamps(settings.stamps)
    runner = web.AppRunner(
        Api(server, observations, stamps).application(),
        handler_cancellation=True,
        access_log=None,
        shutdown_timeout=1.0,
    )
    await runner.setup()
    await web.SockSite(runner, sock, backlog=2048).start()
    log.info("Starting vLLM API server 0 on http://%s:%d", settings.host, settings.port)
    log.info("Application startup complete.")
    driving = asyncio.create_task(engine.run())
    try:
        if await _unless(stop, asyncio.create_task(_death(driving))):
            return 1
        await _wind_down(engine, settings.shutdown_timeout_s)
        return 0
    finally:
        driving.cancel()
        await asyncio.gather(driving, return_exceptions=True)
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
