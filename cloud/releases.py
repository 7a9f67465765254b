"""What EKS has at this moment: versions of its add-ons, and releases of its node images."""

import re

from cloud.account import Account
from experiment.errors import SplitbedError

_FAMILY = re.compile(r"AL2023_(?P<architecture>ARM_64|x86_64)_(?P<variant>STANDARD|NVIDIA)")
_ARCHITECTURE = {"ARM_64": "arm64", "x86_64": "x86_64"}


class ReleaseError(SplitbedError):
    """EKS has no such thing."""


def addon_version(account: Account, region: str, kubernetes: str, addon: str) -> str:
    """Return the version of an add-on that EKS takes by default with a version of Kubernetes.

    Raises:
        ReleaseError: there is none.
        AWSRefusedError: EKS was not to be asked.
    """
    listed = account.pages(
        "eks", region, "describe_addon_versions", "addons", addonName=addon, kubernetesVersion=kubernetes
    )
    for version in (version for one in listed for version in one["addonVersions"]):
        for fits in version["compatibilities"]:
            if fits["clusterVersion"] == kubernetes and fits["defaultVersion"]:
                found: str = version["addonVersion"]
                return found
    raise ReleaseError(
        f"EKS in {region} has no add-on {addon} for Kubernetes {kubernetes}.", "Check cluster.version and the region."
    )


def image_release(account: Account, region: str, kubernetes: str, ami_type: str) -> str:
    """Return the release of a node image that EKS recommends.

    It is a public parameter of Systems Manager (EKS User Guide, "Retrieve recommended Amazon Linux AMI IDs"; beside
    `image_id` stands `release_version`).

    Args:
        account: by which AWS is asked.
        region: where.
        kubernetes: version of Kubernetes.
        ami_type: as `machines.ami_type` names it.

    Raises:
        ReleaseError: there is none.
        AWSRefusedError: Systems Manager was not to be asked.
    """
    family = _FAMILY.fullmatch(ami_type)
    if family is None:
        raise ValueError(f"{ami_type} is no family of Amazon Linux 2023")
    where = f"{_ARCHITECTURE[family['architecture']]}/{family['variant'].lower()}"
    name = f"/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023/{where}/recommended/release_version"
    said = account.ask("ssm", region, "get_parameters", Names=[name])
    if not said["Parameters"]:
        raise ReleaseError(
            f"EKS in {region} has no node image {ami_type} for Kubernetes {kubernetes}.",
            "Check cluster.version and the region.",
        )
    value: str = said["Parameters"][0]["Value"]
    return value
