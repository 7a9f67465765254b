"""`sweep` in the doubles' account: of planted orphans it finds exactly those, and takes them away."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest

from cloud import sweep
from cloud.account import Account
from rehearsal.aws.services import Services
from rehearsal.aws.world import World
from tests.cloud.conftest import VirtualClock
from tests.cloud.planted import plant

pytestmark = pytest.mark.thorough

REGION = "us-east-1"


class Kept(dict[Any, dict[str, str]]):
    """What a test of `cloud/` writes down for moto, made in the doubles' account instead."""

    def __init__(self, make: Callable[[tuple[str, ...], dict[str, str]], object]) -> None:
        super().__init__()
        self._make = make

    def __setitem__(self, key: Any, tags: dict[str, str]) -> None:
        self._make(key, tags)


class Played:
    """The parts that the doubles play and moto does not."""

    def __init__(self, services: Services) -> None:
        self.ids: dict[str, str] = {}
        self.services = services
        self.addons = Kept(
            lambda key, tags: services.ask("eks", "CreateAddon", clusterName=key[1], addonName=key[2], tags=tags)
        )
        self.associations = Kept(self._associate)
        self.placement_groups = Kept(
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


@pytest.fixture
def account_seen(account: World, monkeypatch: pytest.MonkeyPatch) -> Account:
    for name, value in account.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    return Account(session=boto3.Session(region_name=REGION))


def test_exactly_the_orphans_are_found_and_swept(account: World, account_seen: Account) -> None:
    other = Played(account.services)
    plant(other, "other", REGION)  # type: ignore[arg-type]
    others = {(thing.kind, thing.id) for thing in sweep.look(account_seen, "other", [REGION]).leftovers}
    played = Played(account.services)
    planted = plant(played, "ours", REGION)  # type: ignore[arg-type]
    planted = {(kind, played.ids.get(name, name)) for kind, name in planted}
    found = {(thing.kind, thing.id) for thing in sweep.look(account_seen, "ours", [REGION]).leftovers}
    extra = found - planted
    assert planted <= found
    # What AWS itself makes with a cluster and a node group.
    assert sorted(kind for kind, _ in extra) == ["auto scaling group", "security group"]
    swept = sweep.delete(account_seen, "ours", [REGION], VirtualClock())
    assert swept.remaining == ()
    assert sweep.look(account_seen, "ours", [REGION]).leftovers == ()
    assert {(thing.kind, thing.id) for thing in sweep.look(account_seen, "other", [REGION]).leftovers} == others
