"""The way to the API server of a stack's cluster."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cloud.account import Account
from cloud.entrance import kubeconfig
from experiment import names
from experiment.cluster import KubeconfigCluster
from experiment.errors import SplitbedError
from scripts.stack import Stack
from stackfiles.stackfile import STACKS


@contextmanager
def opened(stack: Stack, profile: str | None) -> Iterator[tuple[Path, str | None]]:
    """Yield a kubeconfig and the context in it; that of a cluster of its own is gone afterwards.

    Raises:
        SplitbedError: there is no such kubeconfig or cluster, or no AWS CLI to sign in with.
    """
    cluster = stack.settings.cluster
    if isinstance(cluster, KubeconfigCluster):
        path = STACKS.parent / Path(cluster.kubeconfig).expanduser()
        if not path.is_file():
            raise SplitbedError(
                f"cluster.kubeconfig: found {cluster.kubeconfig!r}: there is no such file.",
                "Name the kubeconfig of the cluster on which the stack is up.",
            )
        yield path, cluster.context
        return
    if shutil.which("aws") is None:
        raise SplitbedError(
            "The AWS CLI is not on PATH, and its `aws eks get-token` is how one signs in at an EKS cluster.",
            "Install it; `splitbed preflight` looks for all that is needed.",
        )
    text = kubeconfig(Account(profile), cluster.region, names.object_name(stack.settings.name), profile)
    descriptor, written = tempfile.mkstemp(prefix="splitbed-kubeconfig-")
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        yield Path(written), None
    finally:
        Path(written).unlink()
