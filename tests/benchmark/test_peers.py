import asyncio
from pathlib import Path

from benchmark.peers import PERIOD_S, Peers
from tests.benchmark.cluster.double import Kubernetes, asked, in_cluster


class Stage:
    """What `Peers` knows of a stage."""

    def __init__(self) -> None:
        self.opened: dict[int, tuple[str, int]] = {}
        self.behind: dict[int, str] = {}


class Seer:
    def __init__(self) -> None:
        self.connected: set[tuple[str, int]] = set()
        self.asked = 0

    async def peers(self) -> frozenset[tuple[str, int]]:
        self.asked += 1
        return frozenset(self.connected)


def test_the_replica_behind_each_connection_is_the_one_that_sees_it(tmp_path: Path) -> None:
    async def main(_: Kubernetes) -> None:
        stage, one, two = Stage(), Seer(), Seer()
        peers = Peers([("http://one", one), ("http://two", two)])
        async with peers.watching(stage):  # type: ignore[arg-type]
            await asyncio.sleep(5)
            assert one.asked == 0, "nothing is open: nothing is asked"
            stage.opened |= {1: ("10.1.0.9", 40001), 2: ("10.1.0.9", 40002), 3: ("10.1.0.9", 40003)}
            one.connected = {("10.1.0.9", 40002), ("10.1.0.8", 40001)}
            two.connected = {("10.1.0.9", 40001)}
            await asyncio.sleep(1.5 * PERIOD_S)
            assert stage.behind == {1: "http://two", 2: "http://one"}
            one.connected.add(("10.1.0.9", 40003))
            await asyncio.sleep(1.5 * PERIOD_S)
            asked_times = one.asked
            await asyncio.sleep(5)
            assert one.asked == asked_times, "all are known"
        assert stage.behind == {1: "http://two", 2: "http://one", 3: "http://one"}

    in_cluster(tmp_path, asked(), main)
