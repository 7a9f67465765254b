"""What a cluster holds and does, as its API server tells it.

ClusterUnreachableError
    the API server does not answer just now, or there is no way to it.
ClusterRefusedError
    it answers, and refuses what is asked.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import urllib3
import yaml
from kubernetes import config
from kubernetes.client.exceptions import ApiException
from kubernetes.config.config_exception import ConfigException

from experiment.errors import SplitbedError
from experiment.handout import PREFIX
from experiment.labels import EXPERIMENT, LWS_WORKER
from experiment.printable import printable
from rehearsal.kubeconfig import check_shape

# Made and removed by the cluster itself, all the time, or views of something else that is listed.
_OWN_LIFE = frozenset({"events", "endpoints", "endpointslices", "leases", "componentstatuses", "podmetrics"})
# The control plane puts these into every namespace, some time after it is there.
_IN_EVERY_NAMESPACE = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})
_TIMEOUT_S = 20
# Too many requests, and what a server answers that is starting, ending or without its store.
_NOT_NOW = frozenset({429, 500, 502, 503, 504})
_NOTHING_THERE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE})

JobState = Literal["missing", "running", "succeeded", "failed"]


class ClusterUnreachableError(SplitbedError):
    """The API server does not answer, or the kubeconfig cannot be read."""


class ClusterRefusedError(SplitbedError):
    """The API server answers with a refusal, which asking again would not change."""


@dataclass(frozen=True, order=True)
class PodPlace:
    """Where a pod runs, and which part it plays."""

    pod: str
    node: str
    role: str


class Observer:
    """Reads a cluster through a kubeconfig; changes nothing."""

    def __init__(self, kubeconfig: Path | None, context: str | None = None) -> None:
        """Read the kubeconfig (the ambient one where none is given).

        Raises:
            KubeconfigError: it cannot be read, or is none.
            ClusterUnreachableError: it is missing, or lacks the context.
        """
        if kubeconfig is not None:
            check_shape(kubeconfig)
        try:
            self._api = config.new_client_from_config(str(kubeconfig) if kubeconfig else None, context)
        # What is left of the file's shape that the loader does not check ends in whatever Python says of it.
        except (ConfigException, OSError, yaml.YAMLError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise ClusterUnreachableError(
                f"The kubeconfig {kubeconfig or '(ambient)'} cannot be used: {error}.",
                "Check --kubeconfig and --context.",
            ) from error
        self._api.configuration.retries = False

    def check(self) -> str:
        """Return the server's version.

        Raises:
            ClusterUnreachableError: it does not answer.
        """
        return str(self._get("/version")["gitVersion"])

    def job(self, namespace: str, name: str) -> JobState:
        """Return the state of a Job."""
        state, _ = self._job(namespace, name)
        return state

    def pods(self, namespace: str) -> list[PodPlace]:
        """Return the placed pods of a namespace; roles are leader, worker, benchmark and other."""
        items = self._get(f"/api/v1/namespaces/{namespace}/pods")["items"]
        return sorted(
            PodPlace(
                printable(pod["metadata"]["name"]),
                printable(pod["spec"]["nodeName"]),
                _role(pod["metadata"].get("labels", {})),
            )
            for pod in items
            if pod["spec"].get("nodeName")
        )

    def log(self, namespace: str, job: str) -> str | None:
        """Return the log of a Job's newest pod; none if that pod is gone.

        Raises:
            ClusterRefusedError: that pod has no log, for example because it never started.
            ClusterUnreachableError: the API server does not answer, or its kubelet does not.
        """
        newest = self._newest_pod(namespace, job)
        if newest is None:
            return None
        status, text = self._ask(f"/api/v1/namespaces/{namespace}/pods/{newest['metadata']['name']}/log")
        return None if status == HTTPStatus.NOT_FOUND else text

    def last_words(self, namespace: str, job: str, lines: int = 20) -> str:
        """Return the last log lines of a Job's newest pod, but for records, or why there are none."""
        try:
            log = self.log(namespace, job)
        except (ClusterRefusedError, ClusterUnreachableError) as error:
            return f"its log cannot be read ({error})"
        if log is None:
            return "its pod is gone"
        return "\n".join([line for line in log.rstrip().split("\n") if not line.startswith(PREFIX)][-lines:])

    def identity(self) -> str:
        """Return what tells this cluster from any other: the id of its oldest namespace."""
        return str(self._get("/api/v1/namespaces/kube-system")["metadata"]["uid"])

    def nodes_labelled(self, labels: Mapping[str, str]) -> int:
        """Return how many nodes carry all these labels."""
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        return len(self._get(f"/api/v1/nodes?labelSelector={quote(selector, safe='')}")["items"])

    def controller_owner(self) -> str | None:
        """Return the experiment whose LeaderWorkerSet controller is there, "" if somebody else's is, none if none."""
        group = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        if self._find(f"{group}/leaderworkersets.leaderworkerset.x-k8s.io") is None:
            return None
        namespace = self._find("/api/v1/namespaces/lws-system") or {"metadata": {}}
        return str(namespace["metadata"].get("labels", {}).get(EXPERIMENT, ""))

    def has_default_storage_class(self) -> bool:
        """Return whether the cluster provides a volume to a claim that names no storage class."""
        classes = self._get("/apis/storage.k8s.io/v1/storageclasses")["items"]
        return any(
            (item["metadata"].get("annotations") or {}).get("storageclass.kubernetes.io/is-default-class") == "true"
            for item in classes
        )

    def objects(self) -> dict[str, bool]:
        """Return every object as `group/kind namespace/name`, and whether Pulumi applied it.

        What lives a life of its own (events, leases and the like) is left out.
        """
        return dict(self._objects())

    def _job(self, namespace: str, name: str) -> tuple[JobState, str]:
        """Return the state of a Job, and of one that failed what Kubernetes says."""
        found = self._find(f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}")
        if found is None:
            return "missing", ""
        conditions = found.get("status", {}).get("conditions", [])
        true = {condition["type"]: condition for condition in conditions if condition["status"] == "True"}
        if "Complete" in true:
            return "succeeded", ""
        if "Failed" in true:
            return "failed", str(true["Failed"].get("message") or true["Failed"].get("reason") or "")
        return "running", ""

    def _newest_pod(self, namespace: str, job: str) -> dict[str, Any] | None:
        """Return the pod of a Job that was made last; none if all are gone."""
        items = self._get(f"/api/v1/namespaces/{namespace}/pods?labelSelector=job-name%3D{job}")["items"]
        return max(items, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), default=None)

    def _objects(self) -> Iterator[tuple[str, bool]]:
        groups = self._get("/apis")["groups"]
        versions = [("", "/api/v1")]
        versions += [(group["name"], f"/apis/{group['preferredVersion']['groupVersion']}") for group in groups]
        for group, base in versions:
            for resource in (self._find(base) or {}).get("resources", []):
                plural = resource["name"]
                if "/" in plural or plural in _OWN_LIFE or "list" not in resource["verbs"]:
                    continue
                # A definition may go between its listing and this call: then it has no objects either.
                for item in (self._find(f"{base}/{plural}") or {"items": []})["items"]:
                    place, name = item["metadata"].get("namespace", ""), item["metadata"]["name"]
                    if (resource["kind"], name) in _IN_EVERY_NAMESPACE:
                        continue
                    yield f"{group or 'core'}/{resource['kind']} {place}/{name}", _applied(item)

    def _get(self, path: str) -> dict[str, Any]:
        document = self._find(path)
        if document is None:
            raise ClusterRefusedError(f"The API server at {self._host} has no {path}.")
        return document

    def _find(self, path: str) -> dict[str, Any] | None:
        status, text = self._ask(path)
        document: dict[str, Any] | None = None if status == HTTPStatus.NOT_FOUND else json.loads(text)
        return document

    def _ask(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Return the status and text of an answer, which is good or says that there is no such thing, or no more."""
        status, body = self._raw(path, headers)
        return status, body.decode(errors="replace")

    def _raw(self, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        request = self._api.param_serialize(
            "GET",
            path,
            header_params={"Accept": "application/json, */*", **(headers or {})},
            auth_settings=["BearerToken"],
        )
        try:
            response = self._api.call_api(*request, _request_timeout=_TIMEOUT_S)
            status, body = response.status, response.read()
        except (urllib3.exceptions.HTTPError, OSError, ApiException) as error:
            raise ClusterUnreachableError(
                f"The API server at {self._host} does not answer: {str(error).rstrip('.')}.",
                "Check that the cluster runs, and that the kubeconfig's server can be reached from here.",
            ) from error
        if status in _NOT_NOW:
            raise ClusterUnreachableError(
                f"The API server at {self._host} cannot answer {path} now ({status}: {_reason(body)}).", "Try again."
            )
        if status >= HTTPStatus.BAD_REQUEST and status not in _NOTHING_THERE:
            raise ClusterRefusedError(
                f"The API server at {self._host} refuses {path} ({status}: {_reason(body)}).",
                "Check that the kubeconfig's credentials are valid, and that its user may read the whole cluster.",
            )
        return status, body

    @property
    def _host(self) -> str:
        return str(self._api.configuration.host)


def _reason(body: bytes) -> str:
    """Return the message of Kubernetes' own Status, or the beginning of whatever else came."""
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return " ".join(body.decode(errors="replace").split())[:200] or "nothing said"


def _applied(item: dict[str, Any]) -> bool:
    managers = (entry.get("manager", "") for entry in item["metadata"].get("managedFields", []))
    return any(manager.startswith("pulumi-kubernetes") for manager in managers)


def _role(labels: dict[str, str]) -> str:
    if "job-name" in labels:
        return "benchmark"
    index = labels.get(LWS_WORKER)
    if index is None:
        return "other"
    return "leader" if index == "0" else "worker"
