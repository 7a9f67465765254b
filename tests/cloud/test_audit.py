"""Things without tags or past their date are found; tags of what lives are put right."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from moto.backends import get_backend

from cloud import livetags
from cloud.account import Account
from cloud.audit import audit
from cloud.survey import Owned, owned, survey
from cloud.thing import Thing
from experiment import ownership
from tests.cloud.conftest import REGION, SESSION
from tests.cloud.planted import END, listed, plant, tags_of
from tests.cloud.unplayed import Unplayed

pytestmark = pytest.mark.thorough

NOW = datetime(2026, 12, 1, tzinfo=UTC)
LATER = "2027-01-15T18:00:00+01:00"
RIGHT = tags_of("e")


def found(kind: str = "instance", tags: Mapping[str, str] = RIGHT, **more: Any) -> list[Owned]:
    return [Owned(Thing(kind, "x", REGION, tags, **more), "e")]


def without(key: str) -> dict[str, str]:
    return {name: value for name, value in RIGHT.items() if name != key}


def test_what_has_its_tags_is_right() -> None:
    assert audit(found(), NOW) == []
    assert audit(found(), NOW, RIGHT) == []


@pytest.mark.parametrize(
    ("tags", "what"),
    [
        ({}, "untagged"),
        (without(ownership.END_DATE), "no end date"),
        ({**RIGHT, ownership.END_DATE: "2026-12-31"}, "no end date"),
        ({**RIGHT, ownership.END_DATE: "2026-11-30T18:00:00+01:00"}, "past its end date"),
        (without(ownership.OWNER), "other tags"),
    ],
)
def test_what_is_wrong_by_itself(tags: dict[str, str], what: str) -> None:
    assert [finding.what for finding in audit(found(tags=tags), NOW)] == [what]


def test_what_the_stack_file_says_otherwise() -> None:
    moved = {**RIGHT, ownership.END_DATE: LATER}
    charged = {**RIGHT, "CostCenter": "1234"}

    assert [one.what for one in audit(found(), NOW, moved)] == ["another end date"]
    assert [(one.what, one.missing) for one in audit(found(), NOW, charged)] == [("other tags", {"CostCenter": "1234"})]


def test_the_remedy_is_what_really_puts_it_right() -> None:
    old = {**RIGHT, ownership.END_DATE: "2026-11-30T18:00:00+01:00"}
    moved = {**RIGHT, ownership.END_DATE: LATER}

    assert "audit" in audit(found("volume", {}), NOW)[0].remedy
    assert "up" in audit(found("subnet", {}), NOW)[0].remedy
    assert "destroy" in audit(found(tags=old), NOW)[0].remedy, "it has ended"
    assert "audit" in audit(found(tags=old), NOW, moved)[0].remedy, "its stack has been extended"


def test_what_is_kept_may_be_past_its_date() -> None:
    tags = {**RIGHT, ownership.END_DATE: "2026-11-30T18:00:00+01:00", ownership.KEPT: "results"}

    assert audit(found("bucket", tags), NOW) == []


def test_a_schedule_must_end_the_nodes_when_its_tag_says() -> None:
    right = found("schedule", handle="end-engine", ends="at(2026-12-31T17:00:00)")
    a_day_before = found("schedule", handle="warning", ends="at(2026-12-30T17:00:00)")
    late = found("schedule", handle="end-engine", ends="at(2027-12-31T17:00:00)")

    assert audit(right, NOW) == audit(a_day_before, NOW) == []
    assert [one.what for one in audit(late, NOW)] == ["ends at another time"]


@pytest.mark.parametrize(
    ("ails", "said"),
    [
        ("AsgInstanceLaunchFailures: VcpuLimitExceeded - more than your vCPU limit", "so many vCPUs at once"),
        ("ClusterUnreachable: no way.", "ClusterUnreachable: no way"),
    ],
)
def test_a_group_that_does_not_get_its_nodes_is_told_with_the_cause(ails: str, said: str) -> None:
    findings = audit(found("node group", ails=ails), NOW)
    assert [(one.what, one.missing) for one in findings] == [("lacks nodes", {})]
    assert said in findings[0].said
    past = {**RIGHT, ownership.END_DATE: "2026-11-30T18:00:00+01:00"}
    assert [one.what for one in audit(found("node group", past, ails=ails), NOW)] == ["past its end date"]


def test_a_groups_health_is_read_where_eks_has_it(unplayed: Unplayed, account: Account) -> None:
    plant(unplayed, "e", REGION)
    backend: Any = get_backend("eks")["123456789012"][REGION]
    (group,) = backend.clusters["exp-e"].nodegroups.values()
    group.health = {"issues": [{"code": "Unknown", "message": "odd", "resourceIds": ["asg"]}]}

    (finding,) = [one for one in audit(owned(survey(account, [REGION])), NOW) if one.what == "lacks nodes"]

    assert (finding.owned.thing.id, finding.said) == ("exp-e/system", "Unknown: odd")


def test_things_in_aws_that_lost_their_tags_are_found_by_what_they_are_part_of(
    unplayed: Unplayed, account: Account
) -> None:
    plant(unplayed, "e", REGION)
    plant(unplayed, "other", REGION)

    findings = audit(owned(survey(account, [REGION])), NOW)

    assert sorted((one.owned.thing.kind, one.owned.experiment, one.what) for one in findings) == [
        ("log group", "e", "untagged"),
        ("log group", "other", "untagged"),
        ("network interface", "e", "untagged"),
        ("network interface", "other", "untagged"),
    ]


def test_regions_are_looked_at_one_by_one(unplayed: Unplayed, account: Account) -> None:
    ec2: Any = SESSION.client("ec2", region_name="eu-west-1")
    ec2.create_volume(
        AvailabilityZone="eu-west-1a",
        Size=1,
        TagSpecifications=[
            {"ResourceType": "volume", "Tags": listed(without(ownership.END_DATE) | {ownership.EXPERIMENT: "e"})}
        ],
    )

    there = owned(survey(account, [REGION, "eu-west-1"]), "e")

    assert [(one.thing.kind, one.thing.region) for one in there] == [("volume", "eu-west-1")]
    assert {"eu-west-1", REGION} <= set(account.regions(REGION))


def test_live_tags_are_put_right_where_pulumi_may_not(unplayed: Unplayed, account: Account) -> None:
    plant(unplayed, "e", REGION)
    plant(unplayed, "other", REGION)
    before = {one.thing.id: one.thing for one in owned(survey(account, [REGION]))}
    moved = {**RIGHT, ownership.END_DATE: LATER, "CostCenter": "1234"}

    changed = livetags.put_right(account, owned(survey(account, [REGION]), "e"), moved)

    after = {one.thing.id: one.thing for one in owned(survey(account, [REGION]))}
    assert {thing.kind for thing in changed} == {"instance", "volume", "network interface", "auto scaling group"}
    assert all(moved.items() <= after[thing.id].tags.items() for thing in changed)
    untouched = [thing for name, thing in before.items() if name not in {thing.id for thing in changed}]
    assert all(after[thing.id] == replace(thing) for thing in untouched), "all others are as they were"
    assert END in {thing.tags.get(ownership.END_DATE) for thing in untouched}
    assert livetags.put_right(account, owned(survey(account, [REGION]), "e"), moved) == []


def test_instances_that_the_group_starts_later_have_the_new_date(unplayed: Unplayed, account: Account) -> None:
    plant(unplayed, "e", REGION)
    moved = {**RIGHT, ownership.END_DATE: LATER}

    livetags.put_right(account, owned(survey(account, [REGION]), "e"), moved)

    scaling: Any = SESSION.client("autoscaling", region_name=REGION)
    tags = scaling.describe_auto_scaling_groups()["AutoScalingGroups"][0]["Tags"]
    assert {tag["Key"]: (tag["Value"], tag["PropagateAtLaunch"]) for tag in tags} == {
        key: (value, True) for key, value in moved.items()
    }
