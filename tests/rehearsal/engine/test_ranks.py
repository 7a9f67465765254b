"""Ranks over real sockets: joining, losing a worker, losing the leader."""

import asyncio
from collections.abc import Callable

import pytest

from rehearsal.engine.ranks import Leader, RankError, Worker


async def group(nnodes: int, **leader: object) -> tuple[Leader, list[asyncio.Task[None]]]:
    """Start a leader and its workers; the workers come first and have to wait for it."""
    probe = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
    port = probe.sockets[0].getsockname()[1]
    probe.close()
    await probe.wait_closed()

    async def work(rank: int) -> None:
        worker = Worker(rank, nnodes, "127.0.0.1", port, join_timeout_s=10, retry_s=0.01)
        await worker.work(*await worker.join())

    workers = [asyncio.create_task(work(rank)) for rank in range(1, nnodes)]
    await asyncio.sleep(0.05)
    found = Leader(nnodes, port, **leader)  # type: ignore[arg-type]
    await asyncio.wait_for(found.gather(), 10)
    return found, workers


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that nobody tells of."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_all_ranks_join_and_answer_steps() -> None:
    answered: asyncio.Queue[int] = asyncio.Queue()
    leader, workers = await group(3, on_answer=answered.put_nowait)
    leader.send(1, 0)
    leader.send(2, 1_000_000)
    assert [await asyncio.wait_for(answered.get(), 10) for _ in range(2)] == [1, 2]
    await leader.close()
    for worker in workers:
        with pytest.raises(RankError, match="Connection closed by peer"):
            await asyncio.wait_for(worker, 10)


async def test_gathering_waits_for_the_last_rank() -> None:
    leader = Leader(2, 0)
    gathering = asyncio.create_task(leader.gather())
    await asyncio.sleep(0.05)
    assert not gathering.done()
    gathering.cancel()
    await asyncio.gather(gathering, return_exceptions=True)
    await leader.close()


async def test_a_lost_worker_never_answers(caplog: pytest.LogCaptureFixture) -> None:
    answered: list[int] = []
    leader, (worker,) = await group(2, on_answer=answered.append)
    worker.cancel()
    await until(lambda: "connection to rank 1 is lost" in caplog.text)
    leader.send(1, 100)
    await asyncio.sleep(0.05)
    assert answered == []
    await leader.close()


@pytest.mark.parametrize(
    "hello",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff\xfe\n",
        b"5\n",
        b'{"rank":"x","nnodes":2}\n',
        b'{"rank":7,"nnodes":2}\n',
        b'{"rank":0,"nnodes":2}\n',
        b'{"rank":1}\n',
        b"[" * 50_000 + b"\n",
        b"a" * 200_000,
        b"",
    ],
)
async def test_what_is_no_rank_does_not_join(hello: bytes, caplog: pytest.LogCaptureFixture) -> None:
    leader = Leader(2, 0)
    gathering = asyncio.create_task(leader.gather())
    await until(lambda: leader.port != 0)
    _, stranger = await asyncio.open_connection("127.0.0.1", leader.port)
    stranger.write(hello)
    stranger.write_eof()
    await asyncio.sleep(0.05)
    assert not gathering.done()
    worker = Worker(1, 2, "127.0.0.1", leader.port)
    _, joined = await asyncio.wait_for(worker.join(), 10)
    await asyncio.wait_for(gathering, 10)
    joined.close()
    stranger.close()
    await leader.close()
    assert [record for record in caplog.records if record.exc_info] == []


async def test_a_rank_too_many_waits_in_vain() -> None:
    leader, (first,) = await group(2)
    late = Worker(1, 2, "127.0.0.1", leader.port, join_timeout_s=0.1)
    with pytest.raises(RankError, match="timed out"):
        await late.join()
    assert not first.done()
    await leader.close()
    await asyncio.gather(first, return_exceptions=True)


async def test_a_worker_without_a_leader_gives_up() -> None:
    worker = Worker(1, 2, "127.0.0.1", 9, join_timeout_s=0.1, retry_s=0.01)
    with pytest.raises(RankError, match=r"timed out after 0s while trying to connect to \(127.0.0.1, 9\)"):
        await worker.join()
