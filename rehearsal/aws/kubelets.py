"""Clusters with real kubelets behind those of the doubles, for stacks whose pods really run.

A cluster has as many machines as it may ever have nodes, each with a kubelet that waits. An instance of a node group
becomes one of them: its Node object is made, with the group's labels and taints, and the kubelet takes over. What pods
and the API server ask of AWS leaves the cluster's network by its outlets.
"""

import base64
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rehearsal import cluster as clusters
from rehearsal import weightsroom
from rehearsal.aws.controlplane import TOKEN
from rehearsal.aws.front import Serving
from rehearsal.aws.kubernetes import Account, Application, Node
from rehearsal.aws.podidentity import AGENT, AUDIENCE, SERVICES, WEBHOOK
from rehearsal.cluster.api import Api, ApiError
from rehearsal.cluster.cluster import Cluster
from rehearsal.cluster.pki import Authority
from rehearsal.cluster.status import ClusterError
from rehearsal.images.image import Image, architecture
from rehearsal.progress import Progress

_READY_S = 300.0
_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/pod-identity-webhook"
_POD = "authentication.kubernetes.io/pod-name"


@dataclass
class Kubelets:
    """Real clusters, one after another or at once.

    Attributes:
        tools: a binary for each program of a cluster, see `rehearsal.cluster.up`.
        images: on every node.
        directory: of sockets and keys of its own; its path must be short.
        progress: is told what a cluster waits for.
        weights: files that a node's owner has put where a stack takes its weights from, by name.
        machines: how many nodes a cluster can have.
    """

    tools: Mapping[str, Path]
    images: Sequence[Image]
    directory: Path
    progress: Progress
    weights: Mapping[str, bytes]
    machines: int = 3
    _clusters: dict[str, Cluster] = field(default_factory=dict)
    _nodes: dict[tuple[str, str], str] = field(default_factory=dict)

    def up(self, cluster: str) -> tuple[str, str]:
        """Start a cluster; return its address and its authority's certificate, as base64."""
        plain, encrypted = (str(path) for path in self._sockets())
        spec = clusters.ClusterSpec(
            cluster,
            tuple(clusters.NodeSpec(f"machine-{number}", joins=False) for number in range(self.machines)),
            outlets=(
                clusters.Outlet(SERVICES, 80, plain),
                clusters.Outlet(AGENT, 80, plain),
                clusters.Outlet(WEBHOOK, 443, encrypted),
            ),
            token=TOKEN,
        )
        made = clusters.up(spec, self.tools, self.images, self.progress)
        self._clusters[cluster] = made
        made.api().apply(_WEBHOOKS, _webhook(cluster, self._authority.certificate.read_bytes()))
        certificate = (made.layout.pki / "ca.crt").read_bytes()
        return made.record.server, base64.b64encode(certificate).decode()

    def down(self, cluster: str) -> None:
        """End it with everything in it; one that is not there is none."""
        if self._clusters.pop(cluster, None) is not None:
            clusters.down(cluster, self.progress)
            for key in [key for key in self._nodes if key[0] == cluster]:
                del self._nodes[key]

    def api(self, cluster: str) -> Api:
        """Return an administrator's calls to a cluster."""
        return self._clusters[cluster].api()

    def kubeconfig(self, cluster: str) -> Path:
        """Return an administrator's kubeconfig of a cluster."""
        return self._clusters[cluster].kubeconfig

    def said(self, cluster: str, pod: str) -> str:
        """Return the logs of a cluster's containers that still are, of pods whose names have this in them."""
        logs = self._clusters[cluster].logs / "pods"
        found = sorted(path for path in logs.rglob("*.log") if pod in str(path.relative_to(logs)))
        return "".join(f"{path.relative_to(logs)}:\n{path.read_text(errors='replace')}\n" for path in found)

    def node_up(self, cluster: str, node: Node) -> None:
        """Have an instance become a node, and wait until it is ready.

        Raises:
            ClusterError: there is no machine left for it, or it does not get ready.
        """
        taken = {machine for (where, _), machine in self._nodes.items() if where == cluster}
        free = [one.name for one in self._clusters[cluster].spec.nodes if one.name not in taken]
        if not free:
            raise ClusterError(f"The cluster {cluster} has {self.machines} machines, and all of them are nodes.")
        machine = self._nodes[cluster, node.name] = free[0]
        room = weightsroom.make(self._clusters[cluster].layout, machine)
        for name, content in self.weights.items():
            (room / name).write_bytes(content)
        self.api(cluster).apply(f"/api/v1/nodes/{machine}", node.document(machine, architecture(), {}))
        deadline = time.monotonic() + _READY_S
        while machine not in self._clusters[cluster].ready_nodes():
            if time.monotonic() > deadline:
                raise ClusterError(f"The node {machine} is not ready after {_READY_S:.0f} s.")
            time.sleep(0.2)

    def node_down(self, cluster: str, node: str) -> None:
        """Take a node away by its instance's name, with its pods, as if somebody had pulled its plug."""
        machine = self._nodes.pop((cluster, node), None)
        if machine is None or cluster not in self._clusters:
            return
        api = self.api(cluster)
        with suppress(ApiError):
            api.delete(f"/api/v1/nodes/{machine}")
            for pod in api.get(f"/api/v1/pods?fieldSelector=spec.nodeName%3D{machine}")["items"]:
                metadata = pod["metadata"]
                with suppress(ApiError):
                    api.delete(
                        f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}?gracePeriodSeconds=0"
                    )

    @contextmanager
    def opened(self, services: Application) -> Iterator[None]:
        """Answer what comes out of the clusters' outlets."""
        self.directory.mkdir(parents=True, exist_ok=True)
        serving = self._authority.issue("webhook", "pod-identity-webhook", hosts=(WEBHOOK,))
        encrypted = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        encrypted.load_cert_chain(serving.certificate, serving.key)
        plain, secure = self._sockets()
        with ExitStack() as stack:
            stack.enter_context(Serving(services, f"unix://{plain}"))
            stack.enter_context(Serving(services, f"unix://{secure}", encrypted))
            yield

    def account(self, token: str) -> Account | None:
        """Return whose token this is: each cluster is asked, as each signs its own."""
        review: dict[str, Any] = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": [AUDIENCE]},
        }
        for name in list(self._clusters):
            status = self.api(name).create(_REVIEWS, review)["status"]
            user = status.get("user", {})
            if status.get("authenticated") and _POD in user.get("extra", {}):
                _, _, namespace, account = user["username"].split(":")
                return Account(name, namespace, account)
        return None

    def _sockets(self) -> tuple[Path, Path]:
        return self.directory / "plain.sock", self.directory / "tls.sock"

    @cached_property
    def _authority(self) -> Authority:
        return Authority(self.directory / "pki")


def _webhook(cluster: str, authority: bytes) -> dict[str, Any]:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "pod-identity-webhook"},
        "webhooks": [
            {
                "name": "pods.eks.amazonaws.com",
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Ignore",  # as EKS has it: a pod without rights rather than none
                "reinvocationPolicy": "IfNeeded",
                "clientConfig": {
                    "url": f"https://{WEBHOOK}/pods/{cluster}",
                    "caBundle": base64.b64encode(authority).decode(),
                },
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
            }
        ],
    }
