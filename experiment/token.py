"""Where the hub's token is kept; never the token itself, which no stack file holds."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Discriminator, Field, StringConstraints, Tag

from experiment.strict import Strict

VARIABLE = "HF_TOKEN"
"""The variable by which Hugging Face's own tools are given it, too."""
KEY = "token"
"""The key of a Kubernetes Secret that holds it."""

SecretName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", max_length=253)]
SecretArn = Annotated[
    str,
    StringConstraints(
        pattern=r"^arn:aws(-cn|-us-gov)?:secretsmanager:[a-z]{2}(-[a-z]+)+-[0-9]:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+$",
        max_length=2048,
    ),
]


class ConfiguredToken(Strict):
    """A key of the stack's own configuration, set by `pulumi config set --secret`."""

    config: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=63)] = Field(
        description="key of this stack's configuration, as in `pulumi config set --secret splitbed:KEY`"
    )


_NAME, _ARN, _CONFIGURED = "the name of a Secret", "the ARN of a secret", "a key of the configuration"


def _which(value: Any) -> str:
    if isinstance(value, Mapping | ConfiguredToken):
        return _CONFIGURED
    return _ARN if isinstance(value, str) and value.startswith("arn:") else _NAME


TokenSecret = Annotated[
    Annotated[SecretName, Tag(_NAME)] | Annotated[SecretArn, Tag(_ARN)] | Annotated[ConfiguredToken, Tag(_CONFIGURED)],
    Discriminator(_which),
]
"""A Kubernetes Secret in the experiment's namespace, a secret of AWS Secrets Manager, or a key of the configuration."""


def is_arn(secret: str | ConfiguredToken | None) -> bool:
    """Return whether a token is in AWS Secrets Manager."""
    return isinstance(secret, str) and secret.startswith("arn:")


def said(secret: str | ConfiguredToken) -> str:
    """Return what a person calls the place of a token."""
    if isinstance(secret, ConfiguredToken):
        return f"the stack's configuration ({secret.config})"
    return f"the secret {secret}" if is_arn(secret) else f"the Secret {secret}"
