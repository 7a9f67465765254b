"""Somebody else's LeaderWorkerSet controller on a cluster that was given.

ForeignControllerError
    one is there, and the stack would install another.

Pulumi's provider applies from the server's side, which makes an object or changes the one that is there: over a
controller that somebody else had installed it would go on without a word, and destroy it in the end. There is no option
of the provider's against it, so it is looked for before.
"""

import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

from components import labels
from components.lws import NAMESPACE
from components.ready import UnreadyError
from experiment.cluster import KubeconfigCluster
from experiment.lws import InstallLws
from experiment.settings import Settings

_DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/leaderworkersets.leaderworkerset.x-k8s.io"
_TIMEOUT_S = 10


class ForeignControllerError(UnreadyError):
    """Nothing is to be made on this cluster with lws.mode install."""


def check(settings: Settings) -> None:
    """Stop where a controller is there that this experiment did not bring.

    A cluster that does not answer, or refuses to, is not judged: the provider will say so itself.

    Raises:
        ForeignControllerError: with whose it is, and the way to use it.
    """
    cluster = settings.cluster
    if not isinstance(settings.lws, InstallLws) or not isinstance(cluster, KubeconfigCluster):
        return
    path = Path(cluster.kubeconfig).expanduser()
    answers = _ask(path, cluster.context, _DEFINITION, f"/api/v1/namespaces/{NAMESPACE}")
    if answers is None:
        return
    definition, namespace = answers
    owner = ((namespace or {}).get("metadata", {}).get("labels") or {}).get(labels.EXPERIMENT)
    if definition is not None and owner != settings.name:
        whose = f"of experiment {owner!r}" if owner else "of somebody else's"
        raise ForeignControllerError(
            f"lws.mode: found 'install': the cluster has a LeaderWorkerSet controller {whose} already, which would be "
            "changed, and removed with this experiment.",
            "Use it with lws: {mode: existing}; it is then neither changed nor removed.",
        )


def _ask(kubeconfig: Path, context: str | None, *paths: str) -> list[dict[str, Any] | None] | None:
    """Return what is at each path, None for nothing; None as a whole if the cluster does not tell."""
    # Imported here: a third of a second that EKS and the tests of every stack need not spend.
    import yaml
    from kubernetes import config
    from kubernetes.client.exceptions import ApiException
    from urllib3.exceptions import HTTPError

    found: list[dict[str, Any] | None] = []
    try:
        api = config.new_client_from_config(str(kubeconfig), context)
        api.configuration.retries = False
        for path in paths:
            request = api.param_serialize(
                "GET", path, header_params={"Accept": "application/json"}, auth_settings=["BearerToken"]
            )
            answer = api.call_api(*request, _request_timeout=_TIMEOUT_S)
            if answer.status not in (HTTPStatus.OK, HTTPStatus.NOT_FOUND):
                return None
            found.append(json.loads(answer.read()) if answer.status == HTTPStatus.OK else None)
    # The loader ends in whatever Python says of a file of another shape.
    except (
        *(config.ConfigException, ApiException, HTTPError, yaml.YAMLError),
        *(OSError, ValueError, TypeError, KeyError, AttributeError),
    ):
        return None
    return found
