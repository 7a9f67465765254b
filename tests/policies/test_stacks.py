"""The rules of the pack over every stack: none is broken, and each has something to look at."""

import copy
from collections.abc import Callable
from typing import Any, cast

import pytest

from policies.inside import containers
from policies.rules import RULES
from policies.rules.tags import UNTAGGABLE
from policies.seen import Seen
from tests.policies.seeing import complaints, resources
from tests.recording import STACKS, recorded

LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


@pytest.mark.parametrize("stack", STACKS)
def test_no_stack_breaks_a_rule(stack: str) -> None:
    found = resources(recorded(stack))
    assert len(found) > 10
    assert {label: said for label, seen in found.items() if (said := complaints(seen))} == {}


def spoilt(token: str, spoil: Callable[[dict[str, Any]], None]) -> list[Seen]:
    """What a stack of the posts has of a type, changed by `spoil`."""
    found = []
    for seen in resources(recorded("gemma-1b-split")).values():
        if seen.type == token:
            props = copy.deepcopy(dict(seen.props))
            spoil(props)
            found.append(Seen(type=token, props=props))
    return found


def test_every_type_in_aws_that_can_be_tagged_is_missed_without() -> None:
    tagged = [
        seen
        for seen in resources(recorded("gemma-1b-split")).values()
        if seen.type.startswith(("aws:", "eks:")) and seen.type not in UNTAGGABLE
    ]
    assert len({seen.type for seen in tagged}) > 10
    for seen in tagged:
        bare = Seen(type=seen.type, props={key: value for key, value in seen.props.items() if key != "tags"})
        (said,) = complaints(bare)["tagged-with-an-end"]
        assert said.startswith("It has no tag splitbed:experiment, splitbed:owner, splitbed:purpose, splitbed:end-date")


def test_a_launch_template_must_tag_instances_and_volumes() -> None:
    def forget(props: dict[str, Any]) -> None:
        props["tagSpecifications"] = [each for each in props["tagSpecifications"] if each["resourceType"] != "volume"]

    for seen in spoilt(TEMPLATE, forget):
        (said,) = complaints(seen)["tagged-with-an-end"]
        assert said.startswith("Each volume that it starts has no tag ")


@pytest.mark.parametrize("part", ["requests", "limits"])
def test_every_container_of_an_engines_pod_is_looked_at(part: str) -> None:
    def more(props: dict[str, Any]) -> None:
        for template in ("leaderTemplate", "workerTemplate"):
            pod = props["spec"]["leaderWorkerTemplate"][template]["spec"]
            for container in containers(pod):
                changed = cast("dict[str, Any]", container)
                changed["resources"] = copy.deepcopy(changed["resources"])
                changed["resources"][part]["cpu"] = "1m"

    (seen,) = spoilt(LWS, more)
    all_of_them = list(containers(seen.props))
    assert len(all_of_them) >= 3
    assert len(complaints(seen)["engines-get-what-they-ask-for"]) == len(all_of_them)


def test_every_container_with_an_image_is_looked_at() -> None:
    """In sets, jobs and daemon sets alike, however deep the pod lies."""
    looked_at = set()
    for stack in STACKS:
        for label, seen in resources(recorded(stack)).items():
            props = _with_moving_images(seen.props)
            if props != seen.props:
                said = complaints(Seen(type=seen.type, props=props))["pinned"]
                assert said, label
                assert all("this name tomorrow" in sentence for sentence in said)
                looked_at.add(seen.type)
    assert {LWS, "kubernetes:batch/v1:Job", "kubernetes:apps/v1:DaemonSet"} <= looked_at


def _with_moving_images(value: Any) -> Any:
    if isinstance(value, dict):
        moving = {"image": "registry.example/thing:latest"} if isinstance(value.get("image"), str) else {}
        return {key: _with_moving_images(inner) for key, inner in value.items()} | moving
    return [_with_moving_images(inner) for inner in value] if isinstance(value, list) else value


def test_rules_have_names_and_say_what_they_ask_for() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.description.endswith(".") for rule in RULES)
