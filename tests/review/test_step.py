"""The engine's events, read."""

from review.step import steps, violations
from tests.review.steps import event

BUCKET = "aws:s3/bucket:Bucket"
NODES = "aws:eks/nodeGroup:NodeGroup"


def test_a_replacement_is_one_step_with_its_reasons() -> None:
    old, new = {"inputs": {"instanceTypes": ["a"], "tags": {}}}, {"inputs": {"instanceTypes": ["b"], "tags": {}}}
    events = [
        event(op, NODES, "nodes", old=old, new=new, keys=["instanceTypes"], diffs=["instanceTypes[0]"])
        for op in ("create-replacement", "replace", "delete-replaced")
    ]
    (found,) = steps(events)
    assert (found.operation, found.kind, found.name) == ("replace", "NodeGroup", "nodes")
    assert (found.changed, found.reasons) == (("instanceTypes",), ("instanceTypes",))
    assert (found.old, found.new) == (old["inputs"], new["inputs"])


def test_what_stays_what_is_read_and_providers_are_no_steps() -> None:
    events = [
        event("same", BUCKET, "b"),
        event("read", BUCKET, "b"),
        event("update", "pulumi:providers:aws", "aws"),
        event("update", "pulumi:pulumi:Stack", "s"),
        {"diagnosticEvent": {}},
        {"summaryEvent": {}},
    ]
    assert steps(events) == ()


def test_a_step_without_a_diff_is_compared_by_its_inputs() -> None:
    (found,) = steps([event("update", BUCKET, "b", old={"inputs": {"a": 1, "b": 2}}, new={"inputs": {"a": 1, "b": 3}})])
    assert found.changed == ("b",)


def test_tags_alone_are_told_apart() -> None:
    tags, more = (
        steps([event("update", BUCKET, "b", diffs=diffs)])[0] for diffs in (["tags", "tagsAll"], ["tags", "acl"])
    )
    assert tags.only_tags
    assert not more.only_tags


def test_what_is_retained_is_known() -> None:
    kept, lost = (
        steps([event("delete", BUCKET, "b", old={"inputs": {}, "retainOnDelete": kept})])[0] for kept in (True, False)
    )
    assert (kept.retained, lost.retained) == (True, False)


def test_only_mandatory_policies_are_violations() -> None:
    def policy(level: str) -> dict[str, object]:
        urn = "urn:pulumi:s::splitbed::a:b:C::name"
        return {
            "policyEvent": {
                "policyName": "pinned",
                "resourceUrn": urn,
                "message": "It\nmoves.\n",
                "enforcementLevel": level,
            }
        }

    assert violations([policy("mandatory"), policy("advisory"), {"summaryEvent": {}}]) == ("pinned: name: It moves.",)
    assert violations([policy("mandatory")] * 30) == ("pinned: name and 29 more: It moves.",)
