"""The operations of AWS that moto does not play, answered by what a test has put there."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError


class Unplayed:
    """State of add-ons, associations and placement groups, and what a test wants any operation to answer."""

    def __init__(self) -> None:
        self.addons: dict[tuple[str, str, str], dict[str, str]] = {}
        self.associations: dict[tuple[str, str, str], dict[str, str]] = {}
        self.placement_groups: dict[tuple[str, str], dict[str, str]] = {}
        self.answers: dict[str, Callable[[dict[str, Any]], Any]] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        original = BaseClient._make_api_call  # type: ignore[attr-defined]

        def call(client: Any, operation: str, arguments: dict[str, Any]) -> Any:
            self.calls.append((operation, arguments))
            if operation in self.answers:
                said = self.answers[operation](arguments)
                if said is not None:
                    return said
            played = getattr(self, f"_{operation}", None)
            if played is not None:
                return played(client.meta.region_name, arguments)
            return original(client, operation, arguments)

        monkeypatch.setattr(BaseClient, "_make_api_call", call)

    def refuse(self, operation: str, code: str, message: str = "", only: Callable[..., bool] = lambda _: True) -> None:
        def answer(arguments: dict[str, Any]) -> Any:
            if only(arguments):
                raise ClientError({"Error": {"Code": code, "Message": message}}, operation)

        self.answers[operation] = answer

    def _ListAddons(self, region: str, asked: dict[str, Any]) -> Any:  # noqa: N802
        return {"addons": [name for where, cluster, name in self.addons if (where, cluster) == _place(region, asked)]}

    def _DescribeAddon(self, region: str, asked: dict[str, Any]) -> Any:  # noqa: N802
        name = asked["addonName"]
        return {"addon": {"addonName": name, "tags": self.addons[(*_place(region, asked), name)]}}

    def _DeleteAddon(self, region: str, asked: dict[str, Any]) -> Any:  # noqa: N802
        del self.addons[(*_place(region, asked), asked["addonName"])]
        return {}

    def _ListPodIdentityAssociations(self, region: str, asked: dict[str, Any]) -> Any:  # noqa: N802
        here = [name for where, cluster, name in self.associations if (where, cluster) == _place(region, asked)]
        return {"associations": [{"associationId": name} for name in here]}

    def _DescribePodIdentityAssociation(self, region: str, asked: dict[str, Any]) -> Any:  # noqa: N802
        name = asked["associationId"]
        return {"association": {"associationId": name, "tags": self.associations[(*_place(region, asked), name)]}}

    def _DeletePodIdentityAssociation(self, region: str, asked: dict[str, Any]) -> Any:  # noqa: N802
        del self.associations[(*_place(region, asked), asked["associationId"])]
        return {}

    def _DescribePlacementGroups(self, region: str, asked: dict[str, Any]) -> Any:  # noqa: N802
        return {
            "PlacementGroups": [
                {"GroupName": name, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
                for (where, name), tags in self.placement_groups.items()
                if where == region
            ]
        }

    def _DeletePlacementGroup(self, region: str, asked: dict[str, Any]) -> Any:  # noqa: N802
        del self.placement_groups[region, asked["GroupName"]]
        return {}


def _place(region: str, asked: dict[str, Any]) -> tuple[str, str]:
    return region, asked["clusterName"]
