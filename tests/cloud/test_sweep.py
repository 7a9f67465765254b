"""What is left of an experiment is found, all of it and nothing else, and goes in an order in which it can."""

from datetime import timedelta
from typing import Any

import pytest

from cloud import sweep
from cloud.account import Account
from cloud.kinds.all import DELETION
from cloud.refusal import AWSRefusedError
from cloud.thing import Thing
from experiment import ownership
from tests.cloud.conftest import REGION, SESSION, VirtualClock
from tests.cloud.planted import listed, plant, tags_of
from tests.cloud.unplayed import Unplayed

pytestmark = pytest.mark.thorough

MINE, TWIN = "gemma-1b-split", "gemma-1b-split-pinned"


def ids(things: Any) -> set[tuple[str, str]]:
    return {(thing.kind, thing.id) for thing in things}


def test_one_orphan_of_each_kind_is_found_and_the_twin_of_none(unplayed: Unplayed, account: Account) -> None:
    mine, twins = plant(unplayed, MINE, REGION), plant(unplayed, TWIN, REGION)

    found = sweep.look(account, MINE, [REGION])

    assert {kind for kind, _ in mine} == {kind.name for kind in DELETION}, "one of every kind was planted"
    assert ids(found.leftovers) == mine
    assert ids(sweep.look(account, TWIN, [REGION]).leftovers) == twins


def test_looking_changes_nothing(unplayed: Unplayed, account: Account) -> None:
    plant(unplayed, MINE, REGION)
    unplayed.calls.clear()

    sweep.look(account, MINE, [REGION])

    assert {operation.removeprefix("Batch")[:4] for operation, _ in unplayed.calls} <= {"Desc", "List", "GetB", "GetS"}


def test_all_of_it_goes_and_the_twins_stay(unplayed: Unplayed, account: Account, clock: VirtualClock) -> None:
    mine, twins = plant(unplayed, MINE, REGION), plant(unplayed, TWIN, REGION)

    swept = sweep.delete(account, MINE, [REGION], clock)

    assert swept.remaining == ()
    gone = ids(swept.deleted)
    assert {one for one in mine if one not in gone} <= {
        one for one in mine if one[0] in ("volume", "network interface", "schedule")
    }, "what was not asked to go went with what it was part of"
    assert sweep.look(account, MINE, [REGION]).leftovers == ()
    assert ids(sweep.look(account, TWIN, [REGION]).leftovers) == twins


def test_it_goes_in_the_order_of_a12(unplayed: Unplayed, account: Account, clock: VirtualClock) -> None:
    plant(unplayed, MINE, REGION)
    unplayed.calls.clear()

    sweep.delete(account, MINE, [REGION], clock)

    order = list(dict.fromkeys(operation for operation, _ in unplayed.calls))
    wanted = [
        "DeleteNodegroup",
        "DeleteAddon",
        "DeleteCluster",
        "DeleteNetworkInterface",
        "DeleteSecurityGroup",
        "DeleteVpc",
        "DeleteLogGroup",
        "DeleteLaunchTemplate",
        "DeleteSchedule",
        "DeleteScheduleGroup",
        "DeleteRole",
    ]
    assert [operation for operation in order if operation in wanted] == wanted


def test_a_log_group_that_comes_back_goes_two_minutes_later(
    unplayed: Unplayed, account: Account, clock: VirtualClock
) -> None:
    logs: Any = SESSION.client("logs", region_name=REGION)
    name = f"/aws/eks/exp-{MINE}/cluster"
    logs.create_log_group(logGroupName=name)
    clock.due.append((clock.now() + timedelta(seconds=90), lambda: logs.create_log_group(logGroupName=name)))
    said: list[str] = []

    swept = sweep.delete(account, MINE, [REGION], clock, said.append)

    assert sum(clock.slept) >= sweep.LOOK_AGAIN_S
    assert said[-1].endswith("there again")
    assert swept.remaining == ()
    assert logs.describe_log_groups()["logGroups"] == []


def test_what_takes_time_is_waited_for(unplayed: Unplayed, account: Account, clock: VirtualClock) -> None:
    plant(unplayed, MINE, REGION)
    until = clock.now() + timedelta(minutes=9)
    unplayed.refuse("DeleteCluster", "ResourceInUseException", "has nodegroups", lambda _: clock.now() < until)

    swept = sweep.delete(account, MINE, [REGION], clock)

    assert swept.remaining == ()
    assert clock.now() >= until


def test_what_is_not_allowed_is_said_and_not_waited_for(
    unplayed: Unplayed, account: Account, clock: VirtualClock
) -> None:
    plant(unplayed, MINE, REGION)
    unplayed.refuse(
        "DeleteLogGroup", "AccessDeniedException", "User x is not authorized to perform: logs:DeleteLogGroup"
    )

    swept = sweep.delete(account, MINE, [REGION], clock)

    assert {thing.kind for thing, _ in swept.remaining} == {"log group"}
    assert all("logs:DeleteLogGroup is not allowed" in why for _, why in swept.remaining)
    assert sum(clock.slept) < 600


def test_what_is_meant_to_stay_stays(unplayed: Unplayed, account: Account, clock: VirtualClock) -> None:
    s3: Any = SESSION.client("s3", region_name=REGION)
    s3.create_bucket(Bucket="exp-results")
    kept = {**tags_of(MINE), ownership.KEPT: "results"}
    s3.put_bucket_tagging(Bucket="exp-results", Tagging={"TagSet": listed(kept)})

    assert [thing.id for thing in sweep.look(account, MINE, [REGION]).kept] == ["exp-results"]
    assert sweep.delete(account, MINE, [REGION], clock).deleted == ()
    assert [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]] == ["exp-results"]


def test_an_interface_that_the_cni_leaked_is_known_by_its_cluster(unplayed: Unplayed, account: Account) -> None:
    ec2: Any = SESSION.client("ec2", region_name=REGION)
    subnet = ec2.describe_subnets()["Subnets"][0]["SubnetId"]
    made = {
        cluster: ec2.create_network_interface(
            SubnetId=subnet,
            TagSpecifications=[
                {
                    "ResourceType": "network-interface",
                    "Tags": [{"Key": "cluster.k8s.amazonaws.com/name", "Value": cluster}],
                }
            ],
        )["NetworkInterface"]["NetworkInterfaceId"]
        for cluster in (f"exp-{MINE}", f"exp-{TWIN}", MINE)
    }

    assert ids(sweep.look(account, MINE, [REGION]).leftovers) == {("network interface", made[f"exp-{MINE}"])}


def test_a_thing_that_another_experiment_has_tagged_is_that_ones(unplayed: Unplayed, account: Account) -> None:
    logs: Any = SESSION.client("logs", region_name=REGION)
    logs.create_log_group(logGroupName=f"/splitbed/exp-{MINE}", tags=tags_of(TWIN))

    assert sweep.look(account, MINE, [REGION]).leftovers == ()


def test_a_service_that_does_not_answer_is_no_proof_that_nothing_is_there(unplayed: Unplayed, account: Account) -> None:
    unplayed.refuse("ListRoles", "AccessDenied", "User x is not authorized to perform: iam:ListRoles on resource y")

    with pytest.raises(AWSRefusedError, match="iam:ListRoles is not allowed to you"):
        sweep.look(account, MINE, [REGION])


def test_counts_are_told_by_kind() -> None:
    things = [Thing("volume", "a", REGION), Thing("volume", "b", REGION), Thing("cluster", "c", REGION)]

    assert sweep.counted(things) == "2 volumes, 1 cluster"
