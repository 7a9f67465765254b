"""The state of a live stack, as far as a reviewer may see it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

SEALED = "[sealed]"
"""In place of every secret, in the state and in the configuration: what is equal then shows no change."""

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105  a mark, not a secret


def blanked(exported: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `pulumi stack export` printed, with every secret replaced, for a backend with a key of its own.

    So nobody who reviews needs the key of the first.

    Args:
        exported: the live stack's state.
        own: that of the empty stack which is to take it. Without its key an import of secrets ends in a panic
            (Pulumi 3.274.1).
    """
    deployment = {key: value for key, value in exported["deployment"].items() if key != "secrets_providers"}
    providers = (own.get("deployment") or {}).get("secrets_providers")
    return {
        **exported,
        "deployment": {**_blanked(deployment), "secrets_providers": providers, "pending_operations": []},
    }


def resources(exported: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the resources of an exported state but for the stack itself; nothing of one that is not up."""
    found = (exported.get("deployment") or {}).get("resources") or []
    return [one for one in found if one["type"] != "pulumi:pulumi:Stack"]


def api_servers(exported: Mapping[str, Any]) -> Iterator[str]:
    """Return the addresses at which the stack's Kubernetes providers ask, as far as the state says them."""
    for one in resources(exported):
        if one["type"] == "pulumi:providers:kubernetes":
            try:
                config = json.loads(one.get("inputs", {}).get("kubeconfig", ""))
                yield from (str(cluster["cluster"]["server"]) for cluster in config["clusters"])
            except (ValueError, KeyError, TypeError):  # a path, or sealed
                continue


def _blanked(value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.get(_SIGNATURE) == _SECRET:
            return {_SIGNATURE: _SECRET, "plaintext": json.dumps(SEALED)}
        return {key: _blanked(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_blanked(inner) for inner in value]
    return value
