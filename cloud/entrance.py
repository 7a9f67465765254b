"""The way into an EKS cluster for whoever is signed in at AWS."""

import json
from typing import Any

from cloud.account import Account
from cloud.refusal import AWSRefusedError

_EXEC = "client.authentication.k8s.io/v1beta1"


def kubeconfig(account: Account, region: str, cluster: str, profile: str | None) -> str:
    """Return a kubeconfig whose user signs in by the AWS CLI; nothing in it is secret.

    Args:
        account: asked for the cluster's address.
        region: where it is.
        cluster: its name.
        profile: of AWS's configuration; that of the environment if none.

    Raises:
        AWSRefusedError: there is no such cluster, or it may not be looked at.
    """
    try:
        found: dict[str, Any] = account.ask("eks", region, "describe_cluster", name=cluster)["cluster"]
    except AWSRefusedError as error:
        if "No cluster found" not in error.message:
            raise
        raise AWSRefusedError(
            f"There is no cluster {cluster} in {region}.", "It is there between `pulumi up` and `pulumi destroy`."
        ) from error
    if "endpoint" not in found:
        raise AWSRefusedError(
            f"Cluster {cluster} in {region} has no address yet (it is {found.get('status', 'unknown')}).",
            "Wait until `pulumi up` has made it.",
        )
    arguments = ["--region", region, "eks", "get-token", "--cluster-name", cluster, "--output", "json"]
    environment = [{"name": "AWS_PROFILE", "value": profile}] if profile else []
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": cluster,
                "cluster": {
                    "server": found["endpoint"],
                    "certificate-authority-data": found["certificateAuthority"]["data"],
                },
            }
        ],
        "users": [
            {
                "name": cluster,
                "user": {
                    "exec": {"apiVersion": _EXEC, "command": "aws", "args": arguments, "env": environment},
                },
            }
        ],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": cluster}}],
        "current-context": cluster,
    }
    return json.dumps(document)
