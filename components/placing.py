"""On which nodes pods may be."""

from collections.abc import Sequence

from pulumi_kubernetes.core.v1 import TolerationArgs

from experiment.nodes import Toleration


def tolerations(declared: Sequence[Toleration]) -> list[TolerationArgs] | None:
    """Return the tolerations of a node group; none at all rather than an empty list, which reads as a difference."""
    return [
        TolerationArgs(
            key=toleration.key,
            operator="Exists" if toleration.value is None else "Equal",
            value=toleration.value,
            effect=toleration.effect,
        )
        for toleration in declared
    ] or None
