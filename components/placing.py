"""On which nodes pods may be."""

from collections.abc import Mapping, Sequence

from pulumi_kubernetes.core.v1 import TolerationArgs

from experiment.nodes import Toleration


def tolerations(declared: Sequence[Toleration]) -> list[TolerationArgs] | None:
    """Return the tolerations of a node group; none at all rather than an empty list, which reads as a difference."""
    return [
        TolerationArgs(key=one["key"], operator=one["operator"], value=one.get("value"), effect=one["effect"])
        for one in spelt_tolerations(declared)
    ] or None


def spelt_tolerations(declared: Sequence[Toleration]) -> list[Mapping[str, str]]:
    """Return the tolerations of a node group as a chart's values want them."""
    return [
        {"key": toleration.key, "effect": toleration.effect}
        | ({"operator": "Exists"} if toleration.value is None else {"operator": "Equal", "value": toleration.value})
        for toleration in declared
    ]
