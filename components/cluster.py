"""The provider through which everything is made: it names one cluster, never the context of the day."""

from pathlib import Path

import pulumi_kubernetes as kubernetes

from experiment.cluster import Cluster


def provider(cluster: Cluster) -> kubernetes.Provider:
    """Return the provider of a given cluster; the state holds the path of its kubeconfig, not what is in it."""
    return kubernetes.Provider(
        "cluster", kubeconfig=str(Path(cluster.kubeconfig).expanduser().absolute()), context=cluster.context
    )
