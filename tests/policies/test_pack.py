"""The pack as Pulumi's policy SDK runs it, without an engine."""

import runpy
from typing import Any

import pytest
from pulumi_policy import EnforcementLevel, PolicyResourceOptions, ResourceValidationArgs, ResourceValidationPolicy
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from policies.pack import policies, seen
from policies.rules import RULES
from policies.seen import UNKNOWN
from tests.recording import ROOT


def arguments(token: str, props: dict[str, Any], *, protect: bool = False) -> ResourceValidationArgs:
    options = PolicyResourceOptions(protect, [], False, [], [], None, [])  # type: ignore[arg-type]
    return ResourceValidationArgs(token, unknown_checking_proxy(props), "urn", "name", options, None, None, None)


def test_every_rule_is_a_mandatory_policy() -> None:
    found = policies()
    assert [policy.name for policy in found] == [rule.name for rule in RULES]
    assert {policy.enforcement_level for policy in found} == {EnforcementLevel.MANDATORY}


def test_a_policy_reports_what_its_rule_complains_of() -> None:
    said: list[str] = []

    def report(message: str, urn: str | None = None) -> None:
        said.append(message)

    props = {"spec": {"type": "LoadBalancer", "clusterIP": UNKNOWN_STRING_VALUE}}
    for policy in policies():
        assert isinstance(policy, ResourceValidationPolicy)
        policy.validate(arguments("kubernetes:core/v1:Service", props), report)
    assert len(said) == 1
    assert said[0].startswith("A Service of type LoadBalancer ")


def test_what_is_not_known_yet_does_not_hide_what_is() -> None:
    props = {"name": UNKNOWN_STRING_VALUE, "list": [1.0, UNKNOWN_STRING_VALUE, {"a": "b"}], "tags": {"x": "y"}}
    found = seen(arguments("aws:sqs/queue:Queue", props, protect=True))
    assert found.props == {"name": UNKNOWN, "list": [1.0, UNKNOWN, {"a": "b"}], "tags": {"x": "y"}}
    assert type(found.props["list"]) is list
    assert found.protected


def test_the_directory_is_a_program_that_serves_the_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[tuple[str, list[Any]]] = []
    monkeypatch.setattr("pulumi_policy.PolicyPack", lambda name, found, **_: served.append((name, found)))
    runpy.run_path(str(ROOT / "policies"), run_name="__main__")
    assert [name for name, _ in served] == ["splitbed"]
    assert len(served[0][1]) == len(RULES)
