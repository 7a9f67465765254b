"""The provider through which everything is made: it names one cluster, never the context of the day.

MissingKubeconfigError
    the stack names a file that is not there.
"""

from pathlib import Path

import pulumi_kubernetes as kubernetes

from experiment.cluster import KubeconfigCluster
from experiment.errors import SplitbedError


class MissingKubeconfigError(SplitbedError):
    """Said before the provider is made: it would take the path for a kubeconfig's contents."""


def provider(cluster: KubeconfigCluster) -> kubernetes.Provider:
    """Return the provider of a given cluster; the state holds the path of its kubeconfig, not what is in it.

    Raises:
        MissingKubeconfigError: there is no such file.
    """
    path = Path(cluster.kubeconfig).expanduser().absolute()
    if not path.is_file():
        raise MissingKubeconfigError(
            f"cluster.kubeconfig: found {cluster.kubeconfig!r}: there is no such file.",
            "Name a kubeconfig, or run `splitbed rehearse`, which fills in that of its own cluster.",
        )
    return kubernetes.Provider("cluster", kubeconfig=str(path), context=cluster.context)
