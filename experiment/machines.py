"""What a node is started with: its machine image and the data that its first boot reads."""

import json
from collections.abc import Mapping, Sequence
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText

from experiment.nodes import Architecture

WEIGHTS = "/var/lib/splitbed/weights"
"""Directory of a node in which it keeps the model's weights, owned by the user of our containers."""

OWNER = 65532
"""User and group of every process in our containers; images need not know it by a name."""

_BOUNDARY = "==splitbed=="
STATIC_CPU_MANAGER = {"cpuManagerPolicy": "static"}
"""The kubelet's options by which a container that asks for whole cores has them to itself."""


def ami_type(architecture: Architecture, gpus: int) -> str:
    """Return EKS's name of the Amazon Linux 2023 image family for such nodes.

    Args:
        architecture: as in the label `kubernetes.io/arch`.
        gpus: how many NVIDIA GPUs a node has; with some, the image carries their driver.
    """
    family = {"arm64": "AL2023_ARM_64", "amd64": "AL2023_x86_64"}[architecture]
    return f"{family}_{'NVIDIA' if gpus else 'STANDARD'}"


def user_data(*, directories: Sequence[str] = (), owner: int = 0, kubelet: Mapping[str, object] | None = None) -> str:
    """Return the user data of a node, in the parts that EKS merges with its own; empty if there is nothing to say.

    Args:
        directories: made on the node's disk before the kubelet starts.
        owner: number of the user and group whose they are.
        kubelet: fields of a KubeletConfiguration, handed over by nodeadm.
    """
    parts = []
    if directories:
        made = " ".join(directories)
        parts.append(("x-shellscript", f"#!/bin/bash\nset -e\nmkdir -p {made}\nchown {owner}:{owner} {made}\n"))
    if kubelet:
        config = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"kubelet": {"config": kubelet}}}
        parts.append(("application/node.eks.aws", json.dumps(config)))  # JSON is YAML too
    if not parts:
        return ""
    message = MIMEMultipart("mixed", boundary=_BOUNDARY)
    for kind, text in parts:
        part = MIMEText(text, "x-shellscript", "us-ascii")
        part.replace_header("Content-Type", kind if "/" in kind else f"text/{kind}")
        message.attach(part)
    return message.as_string()
