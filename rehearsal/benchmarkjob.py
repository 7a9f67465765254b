"""A benchmark's Job, as the API server and the client's own log tell of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from experiment.handout import PREFIX
from rehearsal.observer import ClusterRefusedError, ClusterUnreachableError, JobState, Observer

_CONTAINER = "benchmark"
_MEASURED = re.compile(r"^(?P<heading>\S+ \d+/\d+): (?P<told>.*) -> (?P<name>[a-z0-9-]+)\.json$", re.MULTILINE)
_BEFORE = re.compile(r"^run \S+, plan \S+: (?P<done>\d+) of (?P<planned>\d+) repeats are done$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Look:
    """What was seen at one moment.

    Attributes:
        state: of the Job.
        why: of a Job that failed, what Kubernetes says.
        exit_code: of the client, by its pod; none if it has not ended, or its pod is gone.
        before: repeats that were finished before this Job; none while it has not said so.
        measured: what it said of each repeat that it tried, in order.
        doing: the last that it said, or what its pod waits for.
    """

    state: JobState
    why: str = ""
    exit_code: int | None = None
    before: int | None = None
    measured: tuple[str, ...] = ()
    doing: str = ""

    @property
    def finished(self) -> int:
        """Return how many of its repeats count."""
        return sum(": FAILED" not in line for line in self.measured)


class BenchmarkJob(Observer):
    """Looks at one Job; changes nothing."""

    def __init__(self, kubeconfig: Path, context: str | None, namespace: str, name: str) -> None:
        """Read the kubeconfig; raises as `Observer`."""
        super().__init__(kubeconfig, context)
        self._namespace, self._name = namespace, name

    def look(self) -> Look:
        """Return how far it is.

        Raises:
            ClusterUnreachableError: the API server does not answer.
            ClusterRefusedError: it answers, and refuses.
        """
        # First the Job: what the log of one that has ended says is then all.
        state, why = self._job(self._namespace, self._name)
        if state == "missing":
            return Look(state=state)
        pod = self._newest_pod(self._namespace, self._name)
        if pod is None:
            return Look(state=state, why=why, doing="it has no pod")
        exit_code, waits = _container(pod)
        log = self._log(pod["metadata"]["name"])
        lines = [line for line in log.splitlines() if line and not line.startswith(PREFIX)]
        before = _BEFORE.search(log)
        return Look(
            state=state,
            why=why,
            exit_code=exit_code,
            before=int(before["done"]) if before else None,
            measured=tuple(line for line in lines if _MEASURED.match(line)),
            doing=lines[-1] if lines else waits,
        )

    def others(self) -> Sequence[str]:
        """Return the names of all Jobs in its namespace; raises as `look`."""
        found = self._find(f"/apis/batch/v1/namespaces/{self._namespace}/jobs") or {"items": []}
        return sorted(one["metadata"]["name"] for one in found["items"])

    def whole_log(self) -> str | None:
        """Return the log of its newest pod, none if that is gone; raises as `Observer.log`."""
        return self.log(self._namespace, self._name)

    def _log(self, pod: str) -> str:
        try:
            status, text = self._ask(f"/api/v1/namespaces/{self._namespace}/pods/{pod}/log")
        except (ClusterRefusedError, ClusterUnreachableError):  # no container yet, or its node does not answer
            return ""
        return text if status == HTTPStatus.OK else ""


def _container(pod: dict[str, Any]) -> tuple[int | None, str]:
    """Return the client's exit code, and what its pod waits for."""
    status = pod.get("status", {})
    states = {one["name"]: one.get("state", {}) for one in status.get("containerStatuses", [])}
    state = states.get(_CONTAINER, {})
    if "terminated" in state:
        return int(state["terminated"]["exitCode"]), ""
    unscheduled = [
        str(one.get("message", ""))
        for one in status.get("conditions", [])
        if one["type"] == "PodScheduled" and one["status"] == "False"
    ]
    reason = state.get("waiting", {}).get("reason") or status.get("phase", "")
    return None, f"its pod: {unscheduled[0] if unscheduled else reason}"
