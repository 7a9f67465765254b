"""What pulumi-eks's component `Cluster` makes of its arguments, for those that we set.

As version 4 of the component does (nodejs/eks/cluster in its sources) and as was seen on the engine: without default
security groups, node group and add-ons, there are a role, the control plane and the access entries.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Inputs = Mapping[str, Any]

POLICY = "AmazonEKSClusterPolicy"
TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Effect": "Allow",
            "Principal": {"Service": ["eks.amazonaws.com"]},
        }
    ],
}
IGNORED_CHANGES = ("accessConfig.bootstrapClusterCreatorAdminPermissions", "bootstrapSelfManagedAddons")
_USED = {
    "name", "version", "enabledClusterLogTypes", "endpointPrivateAccess", "endpointPublicAccess", "publicAccessCidrs",
    "privateSubnetIds", "upgradePolicy", "tags", "authenticationMode", "bootstrapSelfManagedAddons", "accessEntries",
    "vpcId", "providerCredentialOpts",
}  # fmt: skip
_SWITCHED_OFF: dict[str, tuple[Any, ...]] = {
    "skipDefaultNodeGroup": (True,),
    "skipDefaultSecurityGroups": (True,),
    "createOidcProvider": (False, None),
    "useDefaultVpcCni": (True,),
}


def check(inputs: Inputs) -> None:
    """Refuse what the double does not do.

    Raises:
        ValueError: an argument is set that makes more than it knows of.
    """
    for name, value in inputs.items():
        if name in ("kubeProxyAddonOptions", "corednsAddonOptions"):
            known = value.get("enabled") is False
        else:
            known = name in _USED or value in _SWITCHED_OFF.get(name, ())
        if not known:
            raise ValueError(f"the double of eks:index:Cluster does not know {name}={value!r}")
    missing = [name for name, allowed in _SWITCHED_OFF.items() if inputs.get(name) not in allowed]
    if missing:
        raise ValueError(f"the double of eks:index:Cluster wants {', '.join(missing)} switched off")


def role(inputs: Inputs) -> dict[str, Any]:
    """Return the inputs of the control plane's role."""
    return _given(
        assumeRolePolicy=json.dumps(TRUST, separators=(",", ":")),
        description="Allows EKS to manage clusters on your behalf.",
        tags=inputs.get("tags"),
    )


def attachment_suffix() -> str:
    """Return how the component tells the attachment of the role's policy from others: by a part of a digest."""
    return hashlib.sha1(f"arn:aws:iam::aws:policy/{POLICY}".encode(), usedforsecurity=False).hexdigest()[:8]


def control_plane(name: str, inputs: Inputs, role_arn: str) -> dict[str, Any]:
    """Return the inputs of the control plane of the component `name`."""
    vpc = _given(
        subnetIds=inputs.get("privateSubnetIds"),
        endpointPrivateAccess=inputs.get("endpointPrivateAccess"),
        endpointPublicAccess=inputs.get("endpointPublicAccess"),
        publicAccessCidrs=inputs.get("publicAccessCidrs"),
    )
    return _given(
        name=inputs.get("name"),
        roleArn=role_arn,
        bootstrapSelfManagedAddons=inputs.get("bootstrapSelfManagedAddons", True),
        vpcConfig=vpc,
        version=inputs.get("version"),
        enabledClusterLogTypes=inputs.get("enabledClusterLogTypes"),
        tags={"Name": f"{name}-eksCluster", **(inputs.get("tags") or {})},
        accessConfig={
            "authenticationMode": inputs.get("authenticationMode"),
            "bootstrapClusterCreatorAdminPermissions": True,
        },
        upgradePolicy=inputs.get("upgradePolicy"),
    )


@dataclass(frozen=True)
class Entry:
    """An access entry and the policies associated with it, each with the suffix of its name."""

    suffix: str
    inputs: Inputs
    policies: Mapping[str, Inputs]


def entries(inputs: Inputs, cluster_name: str) -> Iterator[Entry]:
    """Return who may enter the cluster besides the one that makes it."""
    for suffix, entry in (inputs.get("accessEntries") or {}).items():
        principal = entry["principalArn"]
        policies = {
            name: {"clusterName": cluster_name, "principalArn": principal, **association}
            for name, association in (entry.get("accessPolicies") or {}).items()
        }
        yield Entry(suffix, _given(clusterName=cluster_name, principalArn=principal, tags=entry.get("tags")), policies)


def kubeconfig(cluster_name: str, endpoint: str, authority: str, region: str, profile: str | None) -> dict[str, Any]:
    """Return the kubeconfig that signs in by the `aws` program, with a profile where one is to be named."""
    arguments = ["--region", region, "eks", "get-token", "--cluster-name", cluster_name, "--output", "json"]
    return {
        "apiVersion": "v1",
        "clusters": [
            {"cluster": {"server": endpoint, "certificate-authority-data": authority}, "name": "kubernetes"},
        ],
        "contexts": [{"context": {"cluster": "kubernetes", "user": "aws"}, "name": "aws"}],
        "current-context": "aws",
        "kind": "Config",
        "users": [
            {
                "name": "aws",
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": "aws",
                        "args": [*arguments, *(["--profile", profile] if profile else [])],
                        "env": [
                            {
                                "name": "KUBERNETES_EXEC_INFO",
                                "value": '{"apiVersion": "client.authentication.k8s.io/v1beta1"}',
                            }
                        ],
                    }
                },
            }
        ],
    }


def _given(**inputs: Any) -> dict[str, Any]:
    return {name: value for name, value in inputs.items() if value is not None}
