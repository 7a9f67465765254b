"""What a CPU quota does to a split engine: the same loads on real vLLM in the rehearsal's pods, setting by setting.

`python -m rehearsal.vllm.quota JOURNAL` brings the rehearsed split up once for each number of threads, keeps it, and
changes quota and cores of its containers in their control groups between the loads. The limit that Kubernetes itself
has set comes first. Killed and run again it goes on where it was.
"""

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from experiment.arguments import HTTP_PORT
from experiment.errors import SplitbedError
from rehearsal import cluster as clusters
from rehearsal.cluster.api import ApiError
from rehearsal.home import home
from rehearsal.local import cluster_of, on_local_cluster
from rehearsal.podengine import SERVED_NAME, machine
from rehearsal.progress import ConsoleProgress, Progress
from rehearsal.vllm.campaign import Journal, run_all
from rehearsal.vllm.environment import VERSION, VllmError
from rehearsal.vllm.loadclient import LoadClient, load_client
from rehearsal.vllm.modes import Load
from rehearsal.vllm.podcpu import PodCpu
from report.modes import LoadRun

ENGINE = f"vLLM {VERSION} in pods"
LOADS = [Load(1, 0, 40), *[Load(4, 0)] * 3, *[Load(4, 60)] * 2, Load(8, 0), Load(8, 60)]
"""Those of the recorded runs."""

_STACK = "rehearsal-split"
_ROLES = {"0": "leader"}
_LWS_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
_READY_S = 600.0


@dataclass(frozen=True)
class Setting:
    """A quota for each pod.

    Attributes:
        threads: OpenMP threads of each stage.
        cores: the quota in cores; None for none.
        own_core: whether each pod has a core of its own; otherwise all pods share all cores.
        given: whether Kubernetes has set this limit, so that nothing is to be changed.
    """

    threads: int
    cores: float | None
    own_core: bool
    given: bool = False

    @property
    def label(self) -> str:
        """A name, unique among the settings."""
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        bound = " on a core of its own" if self.own_core else ""
        limit = "no limit" if self.cores is None else f"limit {self.cores:g} CPU"
        return f"{threads}{bound}, {limit}"


SETTINGS: Mapping[int, Sequence[Setting]] = {
    1: (
        Setting(1, 1.0, own_core=False, given=True),
        Setting(1, None, own_core=True),
        Setting(1, 1.0, own_core=True),
        Setting(1, 0.85, own_core=True),
        Setting(1, 0.6, own_core=True),
    ),
    2: (Setting(2, 1.0, own_core=False, given=True), Setting(2, None, own_core=False)),
}
"""By the threads of each stage, which only a new start can change."""


@dataclass(frozen=True)
class _Pods:
    """The pods of the split engine: the leader's address, and each container's CPU by role."""

    address: str
    cpu: Mapping[str, PodCpu]


def measure(journal: Journal, progress: Progress, settings: Mapping[int, Sequence[Setting]] = SETTINGS) -> None:
    """Run what the journal does not have yet, and take the cluster down; after an error it stays up to be looked at.

    Raises:
        SplitbedError: this machine cannot run a cluster, or the engine did not come up or answer.
    """
    name = cluster_of("vllm")
    for threads, of_threads in settings.items():
        if all(_done(journal, setting) for setting in of_threads):
            continue
        progress.step(f"a split engine with {threads} thread(s) a stage, in pods")
        on_local_cluster(home(), (_STACK,), progress, overrides(threads), keep=True, engine="vllm")
        cluster = clusters.find(name)
        if cluster is None:
            raise VllmError(f"The cluster {name} is gone.", "Run this again.")
        pods = _wait(cluster, threads)
        with load_client(cluster.pids()["supervisor"], pods.address, HTTP_PORT, SERVED_NAME) as client:
            for setting in of_threads:
                _measure(journal, setting, pods, client, progress)
    progress.step(f"cluster {name}: down")
    clusters.down(name, progress)


def _measure(journal: Journal, setting: Setting, pods: _Pods, client: LoadClient, progress: Progress) -> None:
    if _done(journal, setting):
        return
    progress.step(setting.label)
    if not setting.given:
        cores = sorted(os.sched_getaffinity(0))
        for place, cpu in enumerate(pods.cpu.values()):
            cpu.pin(str(cores[place % len(cores)]) if setting.own_core else ",".join(map(str, cores)))
            cpu.limit(setting.cores)
    client.run(Load(2, 0, 10), f"{setting.label}/warm")

    async def make(load: Load, place: int) -> LoadRun:
        for role, cpu in pods.cpu.items():
            if cpu.quota() != setting.cores:
                raise VllmError(
                    f"The {role} has a quota of {cpu.quota()} cores, not of {setting.cores}.", "Run it again."
                )
        before = {role: cpu.read() for role, cpu in pods.cpu.items()}
        found = client.run(load, f"{setting.label}/{place}")
        used = {role: cpu.read().since(before[role]) for role, cpu in pods.cpu.items()}
        named = {"engine": ENGINE, "machine": machine()[0], "setting": setting.label}
        return found.model_copy(update={**named, "pods": used})

    asyncio.run(run_all(journal, LOADS, make, progress, engine=ENGINE, setting=setting.label))


def _done(journal: Journal, setting: Setting) -> bool:
    return sum(found.setting == setting.label for found in journal.runs()) >= len(LOADS)


def overrides(threads: int) -> dict[str, Any]:
    """Return the stack's settings for so many threads a stage; one short test shows that it answers."""
    return {
        "engine.env": {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": str(threads)},
        "benchmark.tests": [{"kind": "one-user", "prompt_tokens": 64, "output_tokens": 40, "repeats": 1}],
    }


def _wait(cluster: clusters.Cluster, threads: int) -> _Pods:
    """Return the pods of the engine once both are ready and have so many threads: an update replaces them."""
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        try:
            items = cluster.api().get(f"/api/v1/pods?labelSelector={_LWS_INDEX}")["items"]
        except ApiError:
            items = []
        ready = [pod for pod in items if _is_ready(pod, threads)]
        if len(items) == len(ready) == 2:
            ready.sort(key=_index)
            cpu = {
                _ROLES.get(_index(pod), "worker"): PodCpu.find(
                    cluster.cgroup, pod["status"]["containerStatuses"][0]["containerID"]
                )
                for pod in ready
            }
            return _Pods(ready[0]["status"]["podIP"], cpu)
        time.sleep(1)
    raise VllmError(f"The engine's pods are not ready after {_READY_S:.0f} s.", f"Their logs are in {cluster.logs}.")


def _index(pod: Mapping[str, Any]) -> str:
    return str(pod["metadata"]["labels"][_LWS_INDEX])


def _is_ready(pod: Mapping[str, Any], threads: int) -> bool:
    conditions = {item["type"]: item["status"] for item in pod["status"].get("conditions", [])}
    env = {item["name"]: item.get("value") for item in pod["spec"]["containers"][0].get("env", [])}
    leaving = pod["metadata"].get("deletionTimestamp") is not None
    # A worker has no probe that waits for the engine; the leader's covers both.
    return conditions.get("Ready") == "True" and env.get("OMP_NUM_THREADS") == str(threads) and not leaving


def main() -> int:
    """Measure, with progress on stderr; return the exit code."""
    progress = ConsoleProgress(Console(stderr=True, width=160))
    try:
        measure(Journal(Path(sys.argv[1])), progress)
    except SplitbedError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
