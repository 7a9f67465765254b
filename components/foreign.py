"""The LeaderWorkerSet controller of a cluster that was given: whose it is, and what it knows.

ForeignControllerError
    the controller that is there, or that there is none, does not go with what the stack says.

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
from experiment.lws import ExistingLws, InstallLws
from experiment.settings import Settings

_DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/leaderworkersets.leaderworkerset.x-k8s.io"
_TIMEOUT_S = 10
_Object = dict[str, Any]


class ForeignControllerError(UnreadyError):
    """Nothing is to be made on this cluster with the stack's `lws`."""


def check(settings: Settings) -> None:
    """Stop where the cluster's controller is not what the stack takes it for.

    A cluster that does not answer, or refuses to, is not judged: the provider will say so itself.

    Raises:
        ForeignControllerError: with whose it is, and the way to use it.
    """
    cluster = settings.cluster
    if not isinstance(cluster, KubeconfigCluster):
        return
    path = Path(cluster.kubeconfig).expanduser()
    answers = _ask(path, cluster.context, _DEFINITION, f"/api/v1/namespaces/{NAMESPACE}")
    if answers is None:
        return
    definition, namespace = answers
    owner = ((namespace or {}).get("metadata", {}).get("labels") or {}).get(labels.EXPERIMENT)
    if isinstance(settings.lws, InstallLws):
        _is_ours_or_none(settings.name, definition, owner)
    else:
        _is_as_said(settings.lws, definition, owner)


def _is_ours_or_none(experiment: str, definition: _Object | None, owner: str | None) -> None:
    if definition is not None and owner != experiment:
        whose = f"of experiment {owner!r}" if owner else "of somebody else's"
        raise ForeignControllerError(
            f"lws.mode: found 'install': the cluster has a LeaderWorkerSet controller {whose} already, which would be "
            "changed, and removed with this experiment.",
            f"Use it with {_existing(owner)}; it is then neither changed nor removed.",
        )


def _is_as_said(lws: ExistingLws, definition: _Object | None, owner: str | None) -> None:
    if definition is None:
        raise ForeignControllerError(
            "lws.mode: found 'existing': the cluster has no LeaderWorkerSet controller.",
            "Let this experiment bring it: lws: {mode: install}.",
        )
    if owner != lws.of:
        found = f"found {lws.of!r}" if lws.of else "not set"
        whose = f"experiment {owner!r} installed" if owner else "no experiment of ours installed"
        raise ForeignControllerError(
            f"lws.of: {found}: {whose} the cluster's LeaderWorkerSet controller.",
            f"Say {_existing(owner)}"
            + (", so that its destroy waits for this stack's." if owner else ", which neither changes nor removes it."),
        )
    known = _policies(definition)
    if known and lws.restart_policy not in known:
        raise ForeignControllerError(
            f"lws.restart_policy: found {lws.restart_policy!r}: the controller that is there does not know it.",
            f"Take one that it knows: {', '.join(known)}.",
        )


def _existing(owner: str | None) -> str:
    return f"lws: {{mode: existing, of: {owner}}}" if owner else "lws: {mode: existing}"


def _policies(definition: _Object) -> list[str]:
    """Return the restart policies of a CRD, in its order; none where it does not list them."""
    for version in definition.get("spec", {}).get("versions", []):
        place: Any = version.get("schema", {}).get("openAPIV3Schema", {})
        for key in ("spec", "leaderWorkerTemplate", "restartPolicy"):
            place = place.get("properties", {}).get(key, {})
        if place.get("enum"):
            return list(place["enum"])
    return []


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
