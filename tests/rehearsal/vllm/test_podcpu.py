from collections.abc import Callable
from pathlib import Path

import pytest

from rehearsal.cluster.cgroups import Hierarchy
from rehearsal.vllm.environment import VllmError
from rehearsal.vllm.podcpu import PodCpu

ID = "0123456789abcdef" * 4
BELOW = f"splitbed-x-1/engine-0/kubepods/pod4711/{ID}"


def made(path: Path, **files: str) -> Path:
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(text)
    return path


def version_1(root: Path) -> list[Hierarchy]:
    stat = "nr_periods 100\nnr_throttled 40\nthrottled_time 2500000000\n"
    group = made(root / "cpu" / BELOW, cpu__stat=stat, cpu__cfs_quota_us="100000", cpu__cfs_period_us="100000\n")
    (group.parent / "cpu.cfs_quota_us").write_text("100000")
    made(root / "cpuacct" / BELOW, cpuacct__usage="12000000000\n")
    made(root / "cpuset" / BELOW, cpuset__cpus="0-1")
    made(root / "memory" / BELOW)
    return [Hierarchy(root / name, False, frozenset({name})) for name in ("cpu", "cpuacct", "cpuset", "memory")]


def version_2(root: Path) -> list[Hierarchy]:
    stat = "usage_usec 12000000\nuser_usec 1\nnr_periods 100\nnr_throttled 40\nthrottled_usec 2500000\n"
    group = made(root / BELOW, cpu__stat=stat, cpu__max="100000 100000", cpuset__cpus="")
    (group.parent / "cpu.max").write_text("100000 100000")
    return [Hierarchy(root, True, frozenset({"cpu", "cpuset", "memory"}))]


@pytest.mark.parametrize("trees", [version_1, version_2])
def test_what_a_container_used_since(trees: Callable[[Path], list[Hierarchy]], tmp_path: Path) -> None:
    cpu = PodCpu.find("splitbed-x-1", f"containerd://{ID}", trees(tmp_path))
    before = cpu.read()
    assert (before.periods, before.throttled, before.throttled_s, before.cpu_s) == (100, 40, 2.5, 12.0)
    stat = cpu.cpu / "cpu.stat"
    later = stat.read_text().replace("nr_periods 100", "nr_periods 160").replace("nr_throttled 40", "nr_throttled 55")
    stat.write_text(later)
    used = cpu.read().since(before)
    assert (used.periods, used.throttled, used.throttled_s, used.cpu_s) == (60, 15, 0, 0)


def test_quota_and_cores_version_1(tmp_path: Path) -> None:
    cpu = PodCpu.find("splitbed-x-1", f"containerd://{ID}", version_1(tmp_path))
    cpu.limit(0.85)
    cpu.pin("1")
    assert (cpu.cpu / "cpu.cfs_quota_us").read_text() == "85000"
    assert (cpu.cpu.parent / "cpu.cfs_quota_us").read_text() == "-1"
    assert (tmp_path / "cpuset" / BELOW / "cpuset.cpus").read_text() == "1"
    assert cpu.quota() == 0.85
    cpu.limit(None)
    assert cpu.quota() is None
    assert (cpu.cpu / "cpu.cfs_quota_us").read_text() == "-1"


def test_quota_and_cores_version_2(tmp_path: Path) -> None:
    cpu = PodCpu.find("splitbed-x-1", f"containerd://{ID}", version_2(tmp_path))
    cpu.limit(0.6)
    cpu.pin("0-1")
    assert (cpu.cpu / "cpu.max").read_text() == "60000 100000"
    assert (cpu.cpu.parent / "cpu.max").read_text() == "max 100000"
    assert (cpu.cpu / "cpuset.cpus").read_text() == "0-1"
    assert cpu.quota() == 0.6
    cpu.limit(None)
    assert cpu.quota() is None
    assert (cpu.cpu / "cpu.max").read_text() == "max 100000"


def test_a_container_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(VllmError, match="The container 0123456789ab has no control group"):
        PodCpu.find("splitbed-other-1", f"containerd://{ID}", version_1(tmp_path))
