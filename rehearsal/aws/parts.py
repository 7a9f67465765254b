"""Add-ons, access entries and pod identity associations of EKS clusters, which moto does not play."""

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import Any
from urllib.parse import unquote

from rehearsal.aws.services import arn

Body = dict[str, Any]
Answer = tuple[int, Body]


class NotFoundError(Exception):
    """There is no such thing."""


class InUseError(Exception):
    """There is one already."""


@dataclass
class Parts:
    """What is in the clusters of one region.

    Attributes:
        addons: by cluster and name.
        entries: by cluster and principal, each with its `policies` by ARN.
        associations: by cluster and id.
    """

    region: str
    clusters: Callable[[], set[str]]
    addons: dict[tuple[str, str], Body] = field(default_factory=dict)
    entries: dict[tuple[str, str], Body] = field(default_factory=dict)
    associations: dict[tuple[str, str], Body] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)

    def forget(self, cluster: str) -> None:
        """Let all parts of a cluster go with it."""
        with self._lock:
            for kept in (self.addons, self.entries, self.associations):
                for key in [key for key in kept if key[0] == cluster]:
                    del kept[key]

    def answer(self, method: str, path: str, body: Body) -> Answer | None:
        """Answer a request of EKS's API; None if it is about none of these parts.

        Args:
            method: of HTTP.
            path: raw, without the query.
            body: what came as JSON.
        """
        for pattern, one in _ROUTES:
            found = re.fullmatch(pattern, f"{method} {path}")
            if found:
                with self._lock:
                    try:
                        return one(self, {key: unquote(value) for key, value in found.groupdict().items()}, body)
                    except NotFoundError as error:
                        return 404, {"__type": "ResourceNotFoundException", "message": str(error)}
                    except InUseError as error:
                        return 409, {"__type": "ResourceInUseException", "message": str(error)}
        return None

    def _cluster(self, place: Mapping[str, str]) -> str:
        if place["cluster"] not in self.clusters():
            raise NotFoundError(f"No cluster found for name: {place['cluster']}.")
        return place["cluster"]

    def _create_addon(self, place: Mapping[str, str], body: Body) -> Answer:
        cluster, name = self._cluster(place), body["addonName"]
        if (cluster, name) in self.addons:
            raise InUseError(f"Addon already exists: {name}.")
        self.addons[cluster, name] = {
            "addonName": name,
            "clusterName": cluster,
            "status": "ACTIVE",
            "addonVersion": body.get("addonVersion", "v1.0.0-eksbuild.1"),
            "configurationValues": body.get("configurationValues", ""),
            "addonArn": arn("eks", self.region, f"addon/{cluster}/{name}/{uuid.uuid4()}"),
            "tags": body.get("tags", {}),
        }
        return 200, {"addon": self.addons[cluster, name]}

    def _addon(self, place: Mapping[str, str]) -> Body:
        return _found(self.addons, (self._cluster(place), place["name"]), "addon")

    def _update_addon(self, place: Mapping[str, str], body: Body) -> Answer:
        addon = self._addon(place)
        addon.update({key: body[key] for key in ("addonVersion", "configurationValues") if key in body})
        return 200, {"update": {"id": str(uuid.uuid4()), "status": "Successful", "type": "AddonUpdate"}}

    def _delete_addon(self, place: Mapping[str, str], _: Body) -> Answer:
        addon = self._addon(place)
        del self.addons[place["cluster"], place["name"]]
        return 200, {"addon": addon}

    def _create_entry(self, place: Mapping[str, str], body: Body) -> Answer:
        cluster, principal = self._cluster(place), body["principalArn"]
        if (cluster, principal) in self.entries:
            raise InUseError("The specified access entry resource is already in use on this cluster.")
        self.entries[cluster, principal] = {
            "clusterName": cluster,
            "principalArn": principal,
            "accessEntryArn": arn("eks", self.region, f"access-entry/{cluster}/{uuid.uuid4()}"),
            "tags": body.get("tags", {}),
            "type": body.get("type", "STANDARD"),
            "policies": {},
        }
        return 200, {"accessEntry": _shown(self.entries[cluster, principal])}

    def _entry(self, place: Mapping[str, str]) -> Body:
        return _found(self.entries, (self._cluster(place), place["principal"]), "access entry")

    def _delete_entry(self, place: Mapping[str, str], _: Body) -> Answer:
        self._entry(place)
        del self.entries[place["cluster"], place["principal"]]
        return 200, {}

    def _associate(self, place: Mapping[str, str], body: Body) -> Answer:
        self._entry(place)["policies"][body["policyArn"]] = body["accessScope"]
        policy = {"policyArn": body["policyArn"], "accessScope": body["accessScope"]}
        return 200, {
            "clusterName": place["cluster"],
            "principalArn": place["principal"],
            "associatedAccessPolicy": policy,
        }

    def _disassociate(self, place: Mapping[str, str], _: Body) -> Answer:
        self._entry(place)["policies"].pop(place["policy"], None)
        return 200, {}

    def _create_association(self, place: Mapping[str, str], body: Body) -> Answer:
        cluster = self._cluster(place)
        same = ("namespace", "serviceAccount")
        for (where, _), one in self.associations.items():
            if where == cluster and all(one[key] == body[key] for key in same):
                raise InUseError("Association already exists.")
        name = f"a-{uuid.uuid4().hex[:17]}"
        self.associations[cluster, name] = {
            **{key: body[key] for key in (*same, "roleArn")},
            "clusterName": cluster,
            "associationId": name,
            "associationArn": arn("eks", self.region, f"podidentityassociation/{cluster}/{name}"),
            "tags": body.get("tags", {}),
        }
        return 200, {"association": self.associations[cluster, name]}

    def _association(self, place: Mapping[str, str]) -> Body:
        return _found(self.associations, (self._cluster(place), place["name"]), "pod identity association")

    def _update_association(self, place: Mapping[str, str], body: Body) -> Answer:
        association = self._association(place)
        association["roleArn"] = body["roleArn"]
        return 200, {"association": association}

    def _delete_association(self, place: Mapping[str, str], _: Body) -> Answer:
        association = self._association(place)
        del self.associations[place["cluster"], place["name"]]
        return 200, {"association": association}

    def _listed(self, kept: Mapping[tuple[str, str], Body], place: Mapping[str, str]) -> Iterator[tuple[str, Body]]:
        cluster = self._cluster(place)
        return ((name, one) for (where, name), one in kept.items() if where == cluster)

    def _list_addons(self, place: Mapping[str, str], _: Body) -> Answer:
        return 200, {"addons": [name for name, _ in self._listed(self.addons, place)]}

    def _list_entries(self, place: Mapping[str, str], _: Body) -> Answer:
        return 200, {"accessEntries": [name for name, _ in self._listed(self.entries, place)]}

    def _list_associations(self, place: Mapping[str, str], _: Body) -> Answer:
        return 200, {"associations": [one for _, one in self._listed(self.associations, place)]}

    def tagged(self, resource: str) -> Body | None:
        """Return the tags of a part by its ARN, to read or to change; None if no part has it."""
        for kept, key in (
            (self.addons, "addonArn"),
            (self.entries, "accessEntryArn"),
            (self.associations, "associationArn"),
        ):
            for one in kept.values():
                if one[key] == resource:
                    tags: Body = one["tags"]
                    return tags
        return None


def _found(kept: Mapping[tuple[str, str], Body], key: tuple[str, str], what: str) -> Body:
    if key not in kept:
        raise NotFoundError(f"No {what} found for {key[1]} in {key[0]}.")
    return kept[key]


def _shown(entry: Body) -> Body:
    return {key: value for key, value in entry.items() if key != "policies"}


_IN = r"/clusters/(?P<cluster>[^/]+)"
_ADDON = rf"{_IN}/addons/(?P<name>[^/]+)"
_ENTRY = rf"{_IN}/access-entries/(?P<principal>[^/]+)"
_ASSOCIATION = rf"{_IN}/pod-identity-associations/(?P<name>[^/]+)"
_Route = Callable[[Parts, Mapping[str, str], Body], Answer]
_ROUTES: tuple[tuple[str, _Route], ...] = (
    (rf"POST {_IN}/addons", Parts._create_addon),
    (rf"GET {_IN}/addons", Parts._list_addons),
    (rf"GET {_ADDON}", lambda parts, place, _: (200, {"addon": parts._addon(place)})),
    (rf"POST {_ADDON}/update", Parts._update_addon),
    (rf"DELETE {_ADDON}", Parts._delete_addon),
    (rf"POST {_IN}/access-entries", Parts._create_entry),
    (rf"GET {_IN}/access-entries", Parts._list_entries),
    (rf"GET {_ENTRY}", lambda parts, place, _: (200, {"accessEntry": _shown(parts._entry(place))})),
    (rf"DELETE {_ENTRY}", Parts._delete_entry),
    (rf"POST {_ENTRY}/access-policies", Parts._associate),
    (rf"DELETE {_ENTRY}/access-policies/(?P<policy>[^/]+)", Parts._disassociate),
    (rf"POST {_IN}/pod-identity-associations", Parts._create_association),
    (rf"GET {_IN}/pod-identity-associations", Parts._list_associations),
    (rf"GET {_ASSOCIATION}", lambda parts, place, _: (200, {"association": parts._association(place)})),
    (rf"POST {_ASSOCIATION}", Parts._update_association),
    (rf"DELETE {_ASSOCIATION}", Parts._delete_association),
)


def encoded(body: Body) -> bytes:
    """Return a body as JSON."""
    return json.dumps(body, default=str).encode()
