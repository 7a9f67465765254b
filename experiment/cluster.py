"""Where the experiment runs."""

from typing import Literal

from pydantic import Field

from experiment.strict import Strict


class KubeconfigCluster(Strict):
    """A Kubernetes cluster that is there already, named by a kubeconfig file."""

    kind: Literal["kubeconfig"] = Field(description='how the cluster is given: "kubeconfig"')
    kubeconfig: str = Field(
        min_length=1, description="path of a kubeconfig file; never its contents, which would enter the state"
    )
    context: str | None = Field(None, min_length=1, description="context in that file; its current one if not given")


Cluster = KubeconfigCluster
"""Grows into a union told apart by `kind`."""
