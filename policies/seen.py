"""What a rule gets to see of a resource."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

UNKNOWN: Final = object()
"""In place of a value that a preview does not know yet; `up` shows it to the same rules."""

CLUSTER_COMPONENT = "eks:index:Cluster"
"""Registers itself without inputs, and then nothing is told of it: the control plane in it is judged in its place."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One resource as it is about to be made.

    Attributes:
        type: its Pulumi type, such as `aws:ec2/vpc:Vpc`.
        props: its inputs under Pulumi's names: mappings, lists, text, numbers, and UNKNOWN.
        protected: whether Pulumi is told never to delete it.
    """

    type: str
    props: Mapping[str, Any]
    protected: bool = False
