"""The cluster as a witness: it looks at pods, nodes and events, and into each pod, before and after each repeat."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmark.cluster.agents import agent_at, told_by_all
from benchmark.cluster.apiserver import ApiError, ApiRefusedError, ApiServer
from benchmark.cluster.changes import changes
from benchmark.cluster.look import Look, Pod, look
from benchmark.cluster.proving import compare, described, lacking
from benchmark.connection import Clock
from benchmark.endpoint import Endpoint
from benchmark.readiness import POLL_S, SAY_EVERY_S, NotReadyError
from benchmark.witness import Testimony
from experiment.asked import Asked
from experiment.measure.pods import GONE, PodCounters, Pods
from experiment.measure.pods import Pod as PodRecord
from experiment.measure.proof import Proof


@dataclass
class ClusterWitness:
    """Sees one LeaderWorkerSet.

    Attributes:
        api: of the cluster.
        asked: by the stack.
        clock: of all stamps.
        own_node: where the benchmark runs.
    """

    api: ApiServer
    asked: Asked
    clock: Clock
    own_node: str | None
    _before: Look | None = None
    _trouble: str = ""
    _counted: dict[str, PodCounters | str] = field(default_factory=dict)

    async def before(self) -> None:
        """See `Witness`: first the API server, then the pods, so that the counters are the latest."""
        self._before, self._trouble, self._counted = None, "", {}
        try:
            self._before = await look(self.api, self.asked.set_name)
        except ApiError as error:
            self._trouble = error.message
        else:
            self._counted = await self._count(list(self._before.pods.values()))

    async def after(self) -> Testimony:
        """See `Witness`."""
        if self._before is None:
            return Testimony(unwatched=(f"pods: {self._trouble}",), pods=Pods(unknown=self._trouble))
        before = self._before
        counted = await self._count(list(before.pods.values()))
        try:
            after = await look(self.api, self.asked.set_name)
        except ApiError as error:
            found = tuple(self._pod(before, pod, counted, gone=False) for pod in before.pods.values())
            return Testimony(unwatched=(f"pods: {error.message}",), pods=Pods(pods=found))
        lost = {
            pod.name
            for pod in before.pods.values()
            if pod.name not in after.pods or after.pods[pod.name].uid != pod.uid
        }
        found = tuple(self._pod(before, pod, counted, gone=pod.name in lost) for pod in before.pods.values())
        unknown = tuple(f"counters of pod {pod.name}: {pod.unknown}" for pod in found if pod.unknown is not None)
        killed = tuple(
            f"pod {pod.name}: the kernel killed a process of it for lack of memory" for pod in found if _starved(pod)
        )
        unwatched = tuple(dict.fromkeys((*before.unseen, *after.unseen, *unknown)))
        return Testimony((*changes(before, after), *killed), unwatched, Pods(pods=found))

    async def prove(self, servers: Sequence[Endpoint], limit_s: float, say: Callable[[str], None]) -> Proof:
        """Wait until all pods are ready, then hold what runs against what was asked for.

        Raises:
            ProofError: something else runs.
            NotReadyError: they are not ready in time.
            ApiRefusedError: this may not look.
        """
        seen = await self._complete(limit_s, say)
        pods = list(seen.pods.values())
        answers = await told_by_all([self._agent(pod) for pod in pods])
        told = {
            pod.name: answer if isinstance(answer, str) else answer[0]
            for pod, answer in zip(pods, answers, strict=True)
        }
        described_servers = [await described(server) for server in servers]
        findings = compare(self.asked, seen, told, described_servers, self.own_node, self.api.namespace)
        arguments = {name: answer.started for name, answer in told.items() if not isinstance(answer, str)}
        return findings.proof(described_servers, arguments)

    async def _complete(self, limit_s: float, say: Callable[[str], None]) -> Look:
        begin_s = said_s = self.clock()
        while True:
            seen, missing = await self._once()
            if seen is not None and not missing:
                return seen
            now_s = self.clock()
            if now_s - begin_s >= limit_s:
                raise NotReadyError(
                    f"{self.asked.set_name} was not complete within {limit_s:g} s: {'; '.join(missing)}.",
                    "Look at its pods, or give them more time with ready_timeout_s of the plan.",
                )
            if now_s - said_s >= SAY_EVERY_S:
                said_s = now_s
                say(f"waiting for {self.asked.set_name}, {now_s - begin_s:.0f} of {limit_s:g} s: {'; '.join(missing)}")
            await asyncio.sleep(POLL_S)

    async def _once(self) -> tuple[Look | None, tuple[str, ...]]:
        try:
            seen = await look(self.api, self.asked.set_name)
        except ApiRefusedError:
            raise
        except ApiError as error:
            return None, (error.message,)
        return seen, lacking(self.asked, seen)

    async def _count(self, pods: Sequence[Pod]) -> dict[str, PodCounters | str]:
        answers = await told_by_all([self._agent(pod) for pod in pods])
        return {
            pod.uid: answer if isinstance(answer, str) else answer[1] for pod, answer in zip(pods, answers, strict=True)
        }

    def _agent(self, pod: Pod) -> Endpoint | None:
        return agent_at(pod.address, self.asked.agent_port, self.clock)

    def _pod(self, seen: Look, pod: Pod, counted: dict[str, PodCounters | str], *, gone: bool) -> PodRecord:
        before, after = self._counted.get(pod.uid, "not asked"), counted.get(pod.uid, "not asked")
        node = seen.nodes.get(pod.node)
        unknown = [one for one in (before, after) if isinstance(one, str)]
        if gone:  # another pod may have its address by now
            unknown = [GONE]
        return PodRecord(
            name=pod.name,
            uid=pod.uid,
            role=pod.role,
            group=pod.group,
            node=pod.node,
            instance_type=node.instance_type if node else None,
            zone=node.zone if node else None,
            image=pod.image,
            image_id=pod.image_id,
            before=None if isinstance(before, str) else before,
            after=None if gone or isinstance(after, str) else after,
            unknown=unknown[0] if unknown else None,
        )


def _starved(pod: PodRecord) -> bool:
    if pod.before is None or pod.after is None:
        return False
    before, after = (one.memory.out_of_memory_kills for one in (pod.before, pod.after))
    return before is not None and after is not None and after > before
