from pathlib import Path

import pytest

from benchmark.cluster.killer import PodKiller
from benchmark.killer import KillError
from experiment.kinds.loads import Victim
from tests.benchmark.cluster.double import SET, Kubernetes, asked, in_cluster


@pytest.mark.parametrize(
    ("groups", "size", "victim", "killed"),
    [
        (1, 1, "leader", "exp-lab-0"),
        (1, 3, "leader", "exp-lab-0"),
        (1, 3, "worker", "exp-lab-0-1"),
        (3, 1, "replica", "exp-lab-2"),
        (2, 2, "worker", "exp-lab-0-1"),
    ],
)
def test_the_pod_that_is_named_is_killed(tmp_path: Path, groups: int, size: int, victim: Victim, killed: str) -> None:
    async def main(kubernetes: Kubernetes) -> None:
        kubernetes.allowed.add(("delete", "pods"))
        done = await PodKiller(kubernetes.client(), SET).kill(victim)
        assert (done.pod, kubernetes.deleted) == (killed, [killed])
        assert done.at_s == kubernetes.loop.time()

    in_cluster(tmp_path, asked(groups, size), main)


@pytest.mark.parametrize(("victim", "size"), [("worker", 1), ("replica", 1), ("replica", 2)])
def test_where_there_is_no_such_pod_that_is_said(tmp_path: Path, victim: Victim, size: int) -> None:
    async def main(kubernetes: Kubernetes) -> None:
        kubernetes.allowed.add(("delete", "pods"))
        with pytest.raises(KillError, match=f"There is no {victim} to kill among exp-lab-0"):
            await PodKiller(kubernetes.client(), SET).kill(victim)
        assert kubernetes.deleted == []

    in_cluster(tmp_path, asked(1, size), main)


def test_without_the_right_to_it_nothing_is_killed(tmp_path: Path) -> None:
    async def main(kubernetes: Kubernetes) -> None:
        with pytest.raises(KillError, match=r"The leader could not be killed: .* cannot delete resource"):
            await PodKiller(kubernetes.client(), SET).kill("leader")

    in_cluster(tmp_path, asked(), main)
