"""Who kills a pod for the loss test: it deletes one through the API server, which the Job's Role allows it."""

from dataclasses import dataclass

from benchmark.cluster.apiserver import ApiError, ApiServer
from benchmark.cluster.look import Pod, pods_of
from benchmark.killer import Killed, KillError
from experiment.kinds.loads import Victim

GRACE_S = 1
"""As `kubectl delete --now`: a pod that is lost finishes nothing."""


@dataclass(frozen=True)
class PodKiller:
    """Kills pods of one LeaderWorkerSet."""

    api: ApiServer
    set_name: str

    async def kill(self, victim: Victim) -> Killed:
        """See `Killer`.

        Raises:
            KillError: see above.
        """
        try:
            pod = _chosen(victim, list((await pods_of(self.api, self.set_name)).values()))
            path = f"/api/v1/namespaces/{self.api.namespace}/pods/{pod.name}"
            return Killed(pod.name, await self.api.delete(path, pod.uid, GRACE_S))
        except ApiError as error:
            raise KillError(f"The {victim} could not be killed: {error.message}", error.remedy) from None


def _chosen(victim: Victim, pods: list[Pod]) -> Pod:
    """Return the first leader, the first worker, or the last one of several replicas: another one than the first."""
    groups = sorted({pod.group for pod in pods})
    fitting = {
        "leader": [pod for pod in pods if not pod.worker],
        "worker": sorted((pod for pod in pods if pod.worker), key=lambda pod: pod.worker),
        "replica": [pod for pod in pods if not pod.worker and pod.group == groups[-1]] if len(groups) > 1 else [],
    }[victim]
    if not fitting:
        raise KillError(
            f"There is no {victim} to kill among {', '.join(sorted(pod.name for pod in pods)) or 'no pods'}.",
            "Take another victim, or another topology.",
        )
    return min(fitting, key=lambda pod: (pod.group, pod.worker))
