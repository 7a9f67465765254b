"""The provider through which everything is made: it names one cluster or one region, never those of the day.

MissingKubeconfigError
    the stack names a file that is not there.
"""

from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

from components.aws import provider as aws
from experiment import ownership
from experiment.cluster import EksCluster, KubeconfigCluster
from experiment.errors import SplitbedError
from experiment.settings import Settings


class MissingKubeconfigError(SplitbedError):
    """Said before the provider is made: it would take the path for a kubeconfig's contents."""


def provider(settings: Settings) -> pulumi.ProviderResource:
    """Return the provider of a given cluster, or of the region in which there will be one.

    Raises:
        MissingKubeconfigError: there is no such file.
    """
    if isinstance(settings.cluster, EksCluster):
        return aws.provider(settings.cluster, ownership.tags(settings))
    return _given(settings.cluster)


def _given(cluster: KubeconfigCluster) -> kubernetes.Provider:
    """Return the provider of a given cluster; the state holds the path of its kubeconfig, not what is in it."""
    path = Path(cluster.kubeconfig).expanduser().absolute()
    if not path.is_file():
        raise MissingKubeconfigError(
            f"cluster.kubeconfig: found {cluster.kubeconfig!r}: there is no such file.",
            "Name a kubeconfig, or run `splitbed rehearse`, which fills in that of its own cluster.",
        )
    return kubernetes.Provider("cluster", kubeconfig=str(path), context=cluster.context)
