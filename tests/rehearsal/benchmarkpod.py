"""A benchmark's Job as an API server tells of it."""

import json
from typing import Any

from tests.apiserver import Answers

NAMESPACE, JOB = "exp-a", "bench-1-0123456789ab-a1"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
SELECTED = f"{PODS}?labelSelector=job-name%3D{JOB}"
LOG = f"{PODS}/{JOB}-x/log"
RUNNING: dict[str, Any] = {"running": {}}
BEGUN = "run 1, plan 0123456789ab: 1 of 4 repeats are done\nready: vLLM 0.31.0\n"
ONE = "one-user 2/4: 0.120 s to the first token -> one-user-2.json"
TWO = "one-user 3/4: FAILED, 1 of 1 requests (HTTP 500) -> one-user-3-1.json"
THREE = "one-user 4/4: 0.121 s to the first token -> one-user-4.json"


def told(log: str | None, state: dict[str, Any] | None = None, condition: dict[str, Any] | None = None) -> Answers:
    """What the server answers of a Job whose pod has this log, and whose container is in that state."""
    conditions = [{"status": "True", **condition}] if condition else []
    pod = {
        "metadata": {"name": f"{JOB}-x", "creationTimestamp": "2026-12-01T12:00:00Z"},
        "status": {
            "phase": "Running" if state else "Pending",
            "conditions": [],
            "containerStatuses": [{"name": "benchmark", "state": state}] if state else [],
        },
    }
    older = {"metadata": {"name": f"{JOB}-w", "creationTimestamp": "2026-12-01T11:00:00Z"}}
    return {
        f"{JOBS}/{JOB}": (200, {"status": {"conditions": conditions}}),
        JOBS: (200, {"items": [{"metadata": {"name": JOB}}]}),
        SELECTED: (200, {"items": [older, pod]}),
        LOG: (200, log) if log is not None else (400, {"message": "container is waiting to start"}),
    }


def ended(log: str, exit_code: int, why: str = "") -> Answers:
    condition = {"type": "Failed", "message": why} if exit_code else {"type": "Complete"}
    return told(log, {"terminated": {"exitCode": exit_code}}, condition)


def placed(answers: Answers, namespace: str, job: str) -> Answers:
    """The same, of another Job."""
    text = json.dumps(answers).replace(NAMESPACE, namespace).replace(JOB, job)
    return {path: (status, body) for path, (status, body) in json.loads(text).items()}
