"""What our containers may not do."""

from typing import Literal

from pulumi_kubernetes.core.v1 import (
    CapabilitiesArgs,
    EmptyDirVolumeSourceArgs,
    PodSecurityContextArgs,
    SeccompProfileArgs,
    SecurityContextArgs,
    VolumeArgs,
    VolumeMountArgs,
)

from experiment import machines

USER = machines.OWNER
"""User and group of every process of ours."""


def admitted(level: Literal["restricted", "baseline"]) -> dict[str, str]:
    """Return the labels by which a namespace admits pods of this level alone, and says which are below the strictest.

    https://kubernetes.io/docs/concepts/security/pod-security-standards/
    """
    kind = "pod-security.kubernetes.io"
    return {f"{kind}/enforce": level, f"{kind}/audit": "restricted"}


def container() -> SecurityContextArgs:
    """Return the rights of one container: its image is read-only, and it gains nothing."""
    return SecurityContextArgs(
        allow_privilege_escalation=False,
        capabilities=CapabilitiesArgs(drop=["ALL"]),
        read_only_root_filesystem=True,
    )


def pod(*, seccomp: bool, owns_volumes: bool = False) -> PodSecurityContextArgs:
    """Return the rights of a pod: not root.

    Args:
        seccomp: whether the runtime's default filter is asked for. Engines on CPUs are left without: it forbids the
            calls by which they bind memory to NUMA nodes.
        owns_volumes: whether volumes that the cluster provides are made writable by the pod's group.
    """
    return PodSecurityContextArgs(
        run_as_non_root=True,
        run_as_user=USER,
        run_as_group=USER,
        fs_group=USER if owns_volumes else None,
        fs_group_change_policy="OnRootMismatch" if owns_volumes else None,
        seccomp_profile=SeccompProfileArgs(type="RuntimeDefault") if seccomp else None,
    )


def scratch() -> tuple[VolumeArgs, VolumeMountArgs]:
    """Return the one writable place of a container, /tmp, on the node's disk."""
    return (
        VolumeArgs(name="tmp", empty_dir=EmptyDirVolumeSourceArgs()),
        VolumeMountArgs(name="tmp", mount_path="/tmp"),  # noqa: S108  the pod's own
    )
