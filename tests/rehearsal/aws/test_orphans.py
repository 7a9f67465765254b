"""`sweep` in the doubles' account: of planted orphans it finds exactly those, and takes them away."""

import boto3
import pytest

from cloud import sweep
from cloud.account import Account
from rehearsal.aws.world import World
from tests.cloud.conftest import VirtualClock
from tests.rehearsal.aws.played import orphans

pytestmark = pytest.mark.thorough

REGION = "us-east-1"


@pytest.fixture
def account_seen(account: World, monkeypatch: pytest.MonkeyPatch) -> Account:
    for name, value in account.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    return Account(session=boto3.Session(region_name=REGION))


def test_exactly_the_orphans_are_found_and_swept(account: World, account_seen: Account) -> None:
    orphans(account.services, "other")
    others = {(thing.kind, thing.id) for thing in sweep.look(account_seen, "other", [REGION]).leftovers}
    planted = orphans(account.services, "ours")
    found = {(thing.kind, thing.id) for thing in sweep.look(account_seen, "ours", [REGION]).leftovers}
    extra = found - planted
    assert planted <= found
    # What AWS itself makes with a cluster and a node group.
    assert sorted(kind for kind, _ in extra) == ["auto scaling group", "security group"]
    swept = sweep.delete(account_seen, "ours", [REGION], VirtualClock())
    assert swept.remaining == ()
    assert sweep.look(account_seen, "ours", [REGION]).leftovers == ()
    assert {(thing.kind, thing.id) for thing in sweep.look(account_seen, "other", [REGION]).leftovers} == others
