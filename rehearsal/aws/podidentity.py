"""EKS Pod Identity: pods of associated service accounts are told where to ask for keys, and get those of their role.

On EKS a webhook of the control plane does the first, and an agent on each node, before an API of EKS's, the second.
"""

import base64
import json
import re
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

from rehearsal.aws.kubernetes import Account, Kubernetes
from rehearsal.aws.parts import Parts
from rehearsal.aws.rights import may
from rehearsal.aws.services import Services

AUDIENCE = "pods.eks.amazonaws.com"
AGENT, SERVICES, WEBHOOK = "169.254.170.23", "10.89.0.80", "10.89.0.81"
"""Addresses in a cluster's network: the first is EKS's own, the others are the rehearsal's."""

CREDENTIALS_PATH, WEBHOOK_PATH = "/v1/credentials", "/pods/"
_VOLUME, _MOUNT = "eks-pod-identity-token", "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount"
_LIFE = timedelta(hours=6)
_OBJECT_ACTIONS = {"GET": "s3:GetObject", "HEAD": "s3:GetObject", "PUT": "s3:PutObject", "POST": "s3:PutObject"}
Answer = tuple[int, dict[str, Any]]


@dataclass
class PodIdentity:
    """Who may be whom, and what they may do.

    Attributes:
        roles: name of the role by the key that was given out for it.
    """

    services: Services
    parts: Parts
    kubernetes: Kubernetes
    roles: dict[str, str] = field(default_factory=dict)

    def admitted(self, cluster: str, review: dict[str, Any]) -> dict[str, Any]:
        """Answer the API server's question about a pod: one of an associated account gets the token, and the way."""
        request = review["request"]
        spec = request["object"]["spec"]
        account = Account(cluster, request["namespace"], spec.get("serviceAccountName", "default"))
        response: dict[str, Any] = {"uid": request["uid"], "allowed": True}
        if self._role(account) is not None:
            patch = base64.b64encode(json.dumps(_patch(spec)).encode()).decode()
            response |= {"patchType": "JSONPatch", "patch": patch}
        return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}

    def credentials(self, token: str) -> Answer:
        """Return the keys of the role that the account of a pod's token is associated with."""
        account = self.kubernetes.account(token)
        role = self._role(account) if account is not None else None
        if role is None:
            return 404, {"message": "there is no pod identity association for this token"}
        key = f"ASIA{secrets.token_hex(8).upper()}"
        self.roles[key] = role.rpartition("/")[2]
        return 200, {
            "AccessKeyId": key,
            "SecretAccessKey": secrets.token_urlsafe(30),
            "Token": secrets.token_urlsafe(60),
            "AccountId": role.split(":")[4],
            "Expiration": (datetime.now(UTC) + _LIFE).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    def refusal(self, key: str, method: str, path: str, query: str) -> str | None:
        """Return why a request to S3 with a key of ours is refused; None if its role may, or it is another's key."""
        role = self.roles.get(key)
        if role is None:
            return None
        bucket, _, name = path.lstrip("/").partition("/")
        if name:
            action, resource, context = _OBJECT_ACTIONS.get(method, "s3:DeleteObject"), f"{bucket}/{name}", {}
        else:
            prefix = parse_qs(query).get("prefix", [""])[0]
            action, resource, context = "s3:ListBucket", bucket, {"s3:prefix": prefix}
        if may(self.services, role, action, f"arn:aws:s3:::{resource}", context):
            return None
        return f"{role} may not {action} on {resource}"

    def _role(self, account: Account) -> str | None:
        for (cluster, _), one in list(self.parts.associations.items()):
            if Account(cluster, one["namespace"], one["serviceAccount"]) == account:
                role: str = one["roleArn"]
                return role
        return None


def cluster_of(path: str) -> str | None:
    """Return the cluster whose API server asks about a pod; None if a request is another."""
    found = re.fullmatch(rf"{WEBHOOK_PATH}([^/]+)", path.partition("?")[0])
    return found[1] if found else None


def _patch(spec: dict[str, Any]) -> list[dict[str, Any]]:
    source = {"serviceAccountToken": {"audience": AUDIENCE, "expirationSeconds": 86400, "path": _VOLUME}}
    variables = [
        {"name": "AWS_CONTAINER_CREDENTIALS_FULL_URI", "value": f"http://{AGENT}{CREDENTIALS_PATH}"},
        {"name": "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "value": f"{_MOUNT}/{_VOLUME}"},
    ]
    patch = [_added(spec, "/spec", "volumes", {"name": _VOLUME, "projected": {"sources": [source]}})]
    for kind in ("initContainers", "containers"):
        for number, container in enumerate(spec.get(kind, [])):
            where = f"/spec/{kind}/{number}"
            mount = {"name": _VOLUME, "mountPath": _MOUNT, "readOnly": True}
            patch.append(_added(container, where, "volumeMounts", mount))
            patch.append(_added(container, where, "env", *variables))
    return [one for several in patch for one in several]


def _added(owner: dict[str, Any], where: str, key: str, *values: dict[str, Any]) -> list[dict[str, Any]]:
    if owner.get(key):
        return [{"op": "add", "path": f"{where}/{key}/-", "value": value} for value in values]
    return [{"op": "add", "path": f"{where}/{key}", "value": list(values)}]
