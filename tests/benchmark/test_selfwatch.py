import asyncio
from pathlib import Path

import pytest

from benchmark.selfwatch import Cgroup, SelfWatch, Throttling
from tests.benchmark.virtual import VirtualLoop, run

V2 = "usage_usec 9\nnr_periods 40\nnr_throttled 3\nthrottled_usec 1500000\n"
V1 = "nr_periods 40\nnr_throttled 3\nthrottled_time 1500000000\n"


def made(directory: Path, files: dict[str, str]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text)


def found(tmp_path: Path, lines: str) -> Cgroup:
    (tmp_path / "cgroup").write_text(lines)
    return Cgroup.of_this_process(tmp_path / "cgroup", tmp_path / "fs")


@pytest.mark.parametrize("place", ["", "kubepods/pod7/c9"])
def test_version_two_in_a_container_and_outside(tmp_path: Path, place: str) -> None:
    made(tmp_path / "fs" / place, {"cpu.stat": V2, "cpu.max": "50000 100000\n"})
    cgroup = found(tmp_path, f"0::/{place}\n")
    assert cgroup.throttling() == Throttling(40, 3, 1.5)
    assert cgroup.quota_cores() == 0.5


@pytest.mark.parametrize("mount", ["cpu,cpuacct", "cpu"])
def test_version_one_under_both_names_of_its_mount(tmp_path: Path, mount: str) -> None:
    files = {"cpu.stat": V1, "cpu.cfs_quota_us": "200000\n", "cpu.cfs_period_us": "100000\n"}
    made(tmp_path / "fs" / mount / "pod7", files)
    cgroup = found(tmp_path, "7:memory:/pod7\n4:cpu,cpuacct:/pod7\n0::/\n")
    assert cgroup.throttling() == Throttling(40, 3, 1.5)
    assert cgroup.quota_cores() == 2


@pytest.mark.parametrize(
    ("files", "cores"),
    [({"cpu.stat": V2, "cpu.max": "max 100000\n"}, None), ({"cpu.stat": "usage_usec 9\n"}, None)],
)
def test_without_a_quota_there_is_none(tmp_path: Path, files: dict[str, str], cores: float | None) -> None:
    made(tmp_path / "fs", files)
    assert found(tmp_path, "0::/\n").quota_cores() == cores


def test_what_the_system_does_not_tell_is_unknown_and_not_zero(tmp_path: Path) -> None:
    made(tmp_path / "fs", {"cpu.stat": "usage_usec 9\n"})
    assert found(tmp_path, "0::/\n").throttling() is None
    assert Cgroup.of_this_process(tmp_path / "nothing", tmp_path).throttling() is None
    assert Cgroup.of_this_process(tmp_path / "nothing", tmp_path).quota_cores() is None


def test_standing_still_under_the_quota_is_counted(tmp_path: Path) -> None:
    made(tmp_path, {"cpu.stat": V2, "cpu.max": "50000 100000\n"})

    async def main(loop: VirtualLoop) -> None:
        cpu = iter([1.0, 3.5])
        watch = SelfWatch(loop.time, Cgroup(tmp_path), lambda: next(cpu))
        watch.begin()
        loop.burn(10)
        (tmp_path / "cpu.stat").write_text("nr_periods 140\nnr_throttled 53\nthrottled_usec 3500000\n")
        use = watch.end([0.002, 0.004])
        assert (use.wall_s, use.cpu_s, use.quota_cores) == (10, 2.5, 0.5)
        assert (use.periods, use.throttled_periods, use.throttled_s) == (100, 50, 2.0)
        assert use.late_s is not None
        assert use.late_s.max == 0.004

    run(main)


def test_the_loop_is_late_only_while_something_streams() -> None:
    streaming = False

    async def main(loop: VirtualLoop) -> None:
        nonlocal streaming
        watch = SelfWatch(loop.time, Cgroup(None), lambda: 0.0)
        watch.begin(lambda: streaming)
        loop.burn(1)  # prompts are made, nothing is on its way
        await asyncio.sleep(0.5)
        assert watch.end([]).lag_s is None
        streaming = True
        watch.begin(lambda: streaming)
        await asyncio.sleep(0.5)
        use = watch.end([], [0.001, 0.003])
        assert use.lag_s is not None
        assert use.lag_s.max < 0.001
        assert use.read_late_s is not None
        assert use.read_late_s.max == 0.003

    run(main)


def test_one_read_that_the_kernel_did_not_stamp_is_enough_not_to_rely_on_it() -> None:
    async def main(loop: VirtualLoop) -> None:
        watch = SelfWatch(loop.time, Cgroup(None), lambda: 0.0)
        watch.begin()
        assert watch.end([], [0.001, None]).read_late_s is None

    run(main)
