"""Nodes of true size that only pretend: a Node object each, and kwok to answer for them."""

from pathlib import Path

from rehearsal.cluster.api import Api
from rehearsal.cluster.controlplane import API_READY, SERVER
from rehearsal.cluster.layout import Layout
from rehearsal.cluster.pki import Authority
from rehearsal.cluster.plan import Program
from rehearsal.cluster.spec import KwokNode

ANNOTATION = "kwok.x-k8s.io/node"
_KUBECONFIG = "kwok.kubeconfig"


def prepare(layout: Layout, authority: Authority) -> None:
    """Give kwok its credentials while there is an authority: its key is not kept."""
    authority.kubeconfig(layout.pki / _KUBECONFIG, SERVER, "kwok", "system:masters")


def program(layout: Layout, binary: Path) -> Program:
    """Return the program that answers for the annotated nodes, and for no others."""
    config = layout.config / "kwok.yaml"  # empty; else it would look into the user's home
    config.touch()
    return Program(
        name="kwok",
        argv=(
            str(binary),
            f"--kubeconfig={layout.pki / _KUBECONFIG}",
            f"--config={config}",
            "--manage-all-nodes=false",
            f"--manage-nodes-with-annotation-selector={ANNOTATION}=fake",
            "--node-lease-duration-seconds=40",
        ),
        log=str(layout.logs / "kwok.log"),
        needs=(API_READY,),
    )


def register(api: Api, node: KwokNode) -> None:
    """Create the Node object and its capacity; raises `ApiError`."""
    labels = {
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "type": "kwok",
        **({"node.kubernetes.io/instance-type": node.instance_type} if node.instance_type else {}),
        **node.labels,
    }
    size = {"cpu": node.cpu, "memory": node.memory, "pods": str(node.pods)}
    document = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": labels, "annotations": {ANNOTATION: "fake"}},
    }
    path = f"/api/v1/nodes/{node.name}"
    api.apply(path, document)
    status = {"allocatable": size, "capacity": size}
    api.apply(f"{path}/status", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node.name}, "status": status})
