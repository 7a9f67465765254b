"""What is said first of a change."""

from datetime import UTC, datetime
from typing import Any

import pytest

from experiment.settings import Settings, load
from review.headlines import (
    BUCKET,
    CLAIM,
    CLUSTER,
    ENGINES,
    JOB,
    LAUNCH_TEMPLATE,
    NAMESPACE,
    NODE_GROUP,
    ORDER,
    VPC,
    headlines,
)
from review.step import Step
from tests.recording import stack_settings
from tests.review.steps import step

NOW = datetime(2026, 12, 1, tzinfo=UTC)
ENGINE = {"nodeGroupName": "engine"}
ROLE = "aws:iam/role:Role"


def settings(**changes: Any) -> Settings:
    import json

    return load(json.dumps(stack_settings("gemma-1b-split") | changes), NOW)


def names(*steps: Step, **more: Any) -> list[str]:
    return [one.name for one in headlines(more.get("before"), more.get("after"), steps, more.get("unpinned", ()))]


@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ([], []),
        ([step("create", NODE_GROUP)], []),
        ([step("replace", NODE_GROUP, reasons=("instanceTypes",))], ["nodes-replaced"]),
        ([step("delete", NODE_GROUP)], ["nodes-gone"]),
        ([step("update", NODE_GROUP, changed=("tags",))], []),
        ([step("update", NODE_GROUP, changed=("launchTemplate",))], ["nodes-recycled"]),
        ([step("update", NODE_GROUP, changed=("releaseVersion", "tags"))], ["nodes-recycled"]),
        ([step("update", LAUNCH_TEMPLATE, changed=("tags", "tagsAll"))], []),
        ([step("update", LAUNCH_TEMPLATE, changed=("userData",))], ["launch-template"]),
        ([step("replace", LAUNCH_TEMPLATE, reasons=("name",))], ["launch-template"]),
        ([step("replace", CLUSTER, reasons=("vpcConfig",))], ["cluster-replaced"]),
        ([step("update", CLUSTER, changed=("version",))], []),
        ([step("replace", VPC, reasons=("cidrBlock",))], ["network-replaced"]),
        ([step("replace", NAMESPACE)], ["namespace-replaced"]),
        ([step("delete", BUCKET)], ["bucket-lost"]),
        ([step("replace", BUCKET, reasons=("bucketPrefix",))], ["bucket-lost"]),
        ([step("update", BUCKET, changed=("forceDestroy",), new={"forceDestroy": True})], ["records-not-kept"]),
        ([step("update", BUCKET, changed=("forceDestroy",), new={"forceDestroy": False})], []),
        ([step("delete", CLAIM, "testbed-results-claim")], ["claim-lost"]),
        ([step("delete", CLAIM, "testbed-log-shipper-kept-claim")], []),
        ([step("replace", ENGINES, reasons=("spec",))], ["engine-replaced"]),
        ([step("delete", ENGINES)], ["engine-gone"]),
        ([step("create", JOB, "new"), step("delete", JOB, "old")], ["benchmark-anew"]),
        ([step("replace", JOB)], ["benchmark-anew"]),
        ([step("delete", JOB)], ["benchmark-gone"]),
        ([step("create", JOB)], []),
        ([step("replace", ROLE)], ["also-replaced"]),
        ([step("replace", "aws:ec2/tag:Tag"), step("replace", "kubernetes:core/v1:ConfigMap")], []),
    ],
)
def test_each_change_has_its_headline_and_no_other(steps: list[Step], wanted: list[str]) -> None:
    assert names(*steps) == wanted


def test_a_bucket_that_stays_behind_is_not_said_to_be_deleted() -> None:
    lost, kept = (
        headlines(None, None, [step("delete", BUCKET, retained=retained)])[0].text for retained in (False, True)
    )
    assert "deleted, with every record in it" in lost
    assert "the records stay in it" in kept


def test_why_nodes_are_replaced_is_said_with_both_values() -> None:
    old, new = ENGINE | {"instanceTypes": ["m7g.2xlarge"]}, ENGINE | {"instanceTypes": ["m7g.4xlarge"]}
    (one,) = headlines(None, None, [step("replace", NODE_GROUP, reasons=("instanceTypes",), old=old, new=new)])
    assert one.text.startswith("The engine nodes are replaced (instanceTypes from m7g.2xlarge to m7g.4xlarge): all")


def test_a_group_that_grows_is_not_recycled() -> None:
    old, new = (ENGINE | {"scalingConfig": {"desiredSize": size}} for size in (1, 2))
    (one,) = headlines(None, None, [step("update", NODE_GROUP, changed=("scalingConfig",), old=old, new=new)])
    assert (one.name, one.text) == ("node-count", "The engine group goes from 1 to 2 nodes.")


def test_what_is_lost_for_good_comes_first() -> None:
    found = names(
        step("replace", ROLE), step("create", JOB), step("delete", JOB), step("replace", ENGINES),
        step("replace", NODE_GROUP), step("delete", BUCKET), unpinned=["digest of the image x"],
        before=settings(), after=settings(topology={"kind": "single"}, end_date="2199-01-01T00:00:00Z"),
    )  # fmt: skip
    assert found == sorted(found, key=ORDER.index)
    assert found[0] == "bucket-lost"
    assert set(found) == {
        "bucket-lost", "nodes-replaced", "engine-replaced", "benchmark-anew", "topology", "unpinned", "end-date",
        "also-replaced",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ((), "; no node is recycled for it."),
        ((step("replace", NODE_GROUP),), " UTC."),
        (None, " UTC."),
    ],
)
def test_an_end_date_that_moves_recycles_no_node_only_where_that_was_seen(
    steps: tuple[Step, ...] | None, said: str
) -> None:
    before, after = settings(), settings(end_date="2199-01-01T00:00:00Z")
    (text,) = [one.text for one in headlines(before, after, steps) if one.name == "end-date"]
    assert text.startswith("The end date moves from 2200-01-01 00:00 UTC to 2199-01-01 00:00 UTC")
    assert text.endswith(said)


def test_topologies_are_named() -> None:
    (one,) = headlines(settings(), settings(topology={"kind": "single"}), None)
    assert one.text == "The topology changes from split, pipeline 2 to single."
