"""A running cluster, as a handle."""

import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rehearsal.cluster import kwok, node, processes, status
from rehearsal.cluster.api import Api, ApiError
from rehearsal.cluster.layout import Layout
from rehearsal.cluster.plan import Plan
from rehearsal.cluster.record import Record
from rehearsal.cluster.spec import ClusterSpec, Image, KwokNode
from rehearsal.cluster.status import ClusterError
from rehearsal.cluster.supervisor import PROGRAM_VARIABLE
from rehearsal.progress import Progress

_IMPORT_TIMEOUT = 300.0
_READY_TIMEOUT = 180.0


@dataclass(frozen=True)
class Cluster:
    """A cluster of this machine.

    Attributes:
        record: its spec, and what was found on the machine when it came up.
        layout: where its files are.
    """

    record: Record
    layout: Layout

    @property
    def name(self) -> str:
        """Its name."""
        return self.record.spec.name

    @property
    def spec(self) -> ClusterSpec:
        """As it was brought up."""
        return self.record.spec

    @property
    def directory(self) -> Path:
        """Everything it owns, but its cgroups; `down` removes it."""
        return self.layout.path

    @property
    def kubeconfig(self) -> Path:
        """An administrator's kubeconfig that works on the host."""
        return self.layout.kubeconfig

    @property
    def logs(self) -> Path:
        """One file per program, and pods' logs at `pods/<node>/`."""
        return self.layout.logs

    @property
    def cgroup(self) -> str:
        """The name of its control group, which the paths of all its pods' groups begin with."""
        return self.layout.cgroup

    def pids(self) -> dict[str, int]:
        """Return the PID on the host of every program that runs, and of the `supervisor`.

        Names are those of the plan, such as `kube-apiserver` or `kubelet/engine-0`.
        """
        return status.pids(self.layout)

    def alive(self) -> bool:
        """Tell whether its first process runs; single programs may be down, and will be started again."""
        return any(process.inner_pid == 1 for process in processes.marked(self.directory))

    def programs(self) -> dict[str, dict[str, Any]]:
        """Return state (waiting, running, done or failed), starts and last exit status of every program."""
        return status.read(self.layout)

    def api(self) -> Api:
        """Return a client of its API server."""
        pki = self.layout.pki
        return Api(self.record.server, pki / "ca.crt", pki / "kubeconfig.crt", pki / "kubeconfig.key")

    def ready_nodes(self) -> set[str]:
        """Return the names of the nodes that are Ready; empty while the API server does not answer."""
        with suppress(ApiError):
            return {
                item["metadata"]["name"]
                for item in self.api().get("/api/v1/nodes")["items"]
                for condition in item.get("status", {}).get("conditions", [])
                if condition["type"] == "Ready" and condition["status"] == "True"
            }
        return set()

    def wait_ready(self, progress: Progress, timeout: float = _READY_TIMEOUT) -> None:
        """Wait until every node is Ready and all else works too; raises `ClusterError`.

        Args:
            progress: is told what has come.
            timeout: seconds.
        """
        nodes = {spec.name for spec in self.spec.nodes if spec.joins}
        told: set[str] = set()

        def everything() -> bool:
            done = {name for name, run in self.programs().items() if run["state"] == "done"}
            ready = self.ready_nodes() & nodes if "gate/api" in done else set()
            for name in sorted((done | {f"node/{name}" for name in ready}) - told):
                progress.note(f"{name.partition('/')[2]} is ready" if not name.startswith("import/") else name)
                told.add(name)
            return ready == nodes and self._settled() and self._has_default_account()

        self._wait(everything, timeout, f"The cluster {self.name} is not ready after {timeout:.0f} s")

    def import_images(self, images: Sequence[Image], progress: Progress) -> None:
        """Bring images to every node, those it has excepted; raises `ClusterError`."""
        plan = Plan.load(self.layout.plan)
        have = {program.name for program in plan.programs}
        programs = [
            node.import_program(self.layout, self.record.machine, spec.name, image)
            for spec in self.spec.nodes
            for image in images
            if image.reference not in self.record.images
        ]
        fresh = tuple(program for program in programs if program.name not in have)
        if not fresh:
            return
        progress.note(f"importing {', '.join(image.reference for image in images)}")
        self._change(replace(plan, programs=(*plan.programs, *fresh)))
        names = {program.name for program in fresh}

        late = f"Images are not on every node after {_IMPORT_TIMEOUT:.0f} s"
        self._wait(lambda: status.done(self.layout, names), _IMPORT_TIMEOUT, late)

    def add_kwok_nodes(self, nodes: Sequence[KwokNode], binary: Path, progress: Progress) -> None:
        """Add nodes that only pretend, with the program that answers for them; raises `ClusterError`."""
        plan = Plan.load(self.layout.plan)
        program = kwok.program(self.layout, binary)
        if all(found.name != program.name for found in plan.programs):
            self._change(replace(plan, programs=(*plan.programs, program)))
        try:
            for fake in nodes:
                kwok.register(self.api(), fake)
        except ApiError as error:
            raise ClusterError(f"The node {fake.name} cannot be added to the cluster {self.name}: {error}.") from None
        names = {fake.name for fake in nodes}
        self._wait(lambda: names <= self.ready_nodes(), 60.0, f"The nodes {', '.join(sorted(names))} are not ready")
        progress.note(f"{', '.join(sorted(names))} pretend to be ready")

    def _settled(self) -> bool:
        """Tell whether everything that was to be done once is done."""
        once = {program.name for program in Plan.load(self.layout.plan).programs if program.once}
        return status.done(self.layout, once)

    def _has_default_account(self) -> bool:
        """Without it no pod can be created in the default namespace."""
        with suppress(ApiError):
            self.api().get("/api/v1/namespaces/default/serviceaccounts/default")
            return True
        return False

    def _change(self, plan: Plan) -> None:
        plan.save(self.layout.plan)
        for process in processes.marked(self.directory):
            if process.inner_pid == 1 and PROGRAM_VARIABLE not in process.variables:
                processes.send(process, self.directory, signal.SIGHUP)

    def _wait(self, condition: Callable[[], bool], timeout: float, otherwise: str) -> None:
        status.wait(self.layout, self.directory, condition, timeout, otherwise)
