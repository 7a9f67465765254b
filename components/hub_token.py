"""The hub's token as a Kubernetes Secret: one that is there, or one made of the stack's encrypted configuration."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.core.v1 import Secret
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import labels
from experiment import token
from experiment.engine import Model
from experiment.token import ConfiguredToken

SECRET_NAME = "hub-token"  # noqa: S105  a name
"""Of the Secret that is made here."""

_PROJECT = "splitbed"


@dataclass(frozen=True, kw_only=True)
class KeptToken:
    """By which name pods find it, and what must be there first."""

    secret_name: str
    after: Sequence[pulumi.Resource]


def kept(
    name: str,
    experiment: str,
    namespace: pulumi.Input[str],
    secret: str | ConfiguredToken,
    parent: pulumi.Resource,
) -> KeptToken:
    """Return where the token is; what comes from the configuration is encrypted in the state, too."""
    if not isinstance(secret, ConfiguredToken):
        return KeptToken(secret_name=secret, after=[])
    value = pulumi.Config(_PROJECT).get_secret(secret.config) or pulumi.Output.secret("")
    made = Secret(
        f"{name}-token",
        metadata=ObjectMetaArgs(name=SECRET_NAME, namespace=namespace, labels=labels.of(experiment, "weights")),
        string_data={token.KEY: value},
        opts=pulumi.ResourceOptions(parent=parent, additional_secret_outputs=["data", "string_data"]),
    )
    return KeptToken(secret_name=SECRET_NAME, after=[made])


def lacking(model: Model) -> str | None:
    """Return what is wrong with a token in the configuration; None if nothing is. The token is not shown."""
    secret = model.token_secret
    if not isinstance(secret, ConfiguredToken):
        return None
    key = f"{_PROJECT}:{secret.config}"
    command = f"`pulumi config set --secret {key}`"
    if not pulumi.Config(_PROJECT).get(secret.config):
        return f"model.token_secret.config: the configuration has no {key}. Set it by {command}, which asks for it."
    if not pulumi.runtime.is_config_secret(key):
        return (
            f"model.token_secret.config: {key} is in the stack file in the clear. Set it again by {command}, and take "
            "the token back at the hub: whoever has read the file knows it."
        )
    return None
