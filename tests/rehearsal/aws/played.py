"""What a test of `cloud/` plants in moto, planted in the doubles' account instead."""

from collections.abc import Callable
from typing import Any

from rehearsal.aws.services import Services
from tests.cloud.planted import plant


def orphans(services: Services, experiment: str) -> set[tuple[str, str]]:
    """Make one thing of each kind, and return kind and id of each; what AWS adds by itself is not among them."""
    played = _Played(services)
    planted = plant(played, experiment, services.region)  # type: ignore[arg-type]
    return {(kind, played.ids.get(name, name)) for kind, name in planted}


class _Kept(dict[Any, dict[str, str]]):
    """What a test of `cloud/` writes down for moto, made in the doubles' account instead."""

    def __init__(self, make: Callable[[tuple[str, ...], dict[str, str]], object]) -> None:
        super().__init__()
        self._make = make

    def __setitem__(self, key: Any, tags: dict[str, str]) -> None:
        self._make(key, tags)


class _Played:
    """The parts that the doubles play and moto does not."""

    def __init__(self, services: Services) -> None:
        self.ids: dict[str, str] = {}
        self.services = services
        self.addons = _Kept(
            lambda key, tags: services.ask("eks", "CreateAddon", clusterName=key[1], addonName=key[2], tags=tags)
        )
        self.associations = _Kept(self._associate)
        self.placement_groups = _Kept(
            lambda key, tags: services.ask(
                "ec2",
                "CreatePlacementGroup",
                GroupName=key[1],
                Strategy="cluster",
                TagSpecifications=[
                    {
                        "ResourceType": "placement-group",
                        "Tags": [{"Key": name, "Value": value} for name, value in tags.items()],
                    }
                ],
            )
        )

    def _associate(self, key: tuple[str, ...], tags: dict[str, str]) -> None:
        made = self.services.ask(
            "eks",
            "CreatePodIdentityAssociation",
            clusterName=key[1],
            namespace="n",
            serviceAccount="s",
            roleArn="arn:aws:iam::123456789012:role/r",
            tags=tags,
        )
        self.ids[f"{key[1]}/{key[2]}"] = f"{key[1]}/{made['association']['associationId']}"
