"""The rules as Pulumi's policy SDK wants them."""

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from policies.rule import Rule
from policies.rules import RULES
from policies.seen import UNKNOWN, Seen

NAME = "splitbed"


def policies() -> list[Policy]:
    """Return all rules, each mandatory: what breaks one is not made, and a preview of it fails."""
    return [_policy(rule) for rule in RULES]


def _policy(rule: Rule) -> ResourceValidationPolicy:
    def validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        for complaint in rule.complaints(seen(args)):
            report_violation(complaint, None)

    return ResourceValidationPolicy(
        name=rule.name,
        description=rule.description,
        validate=validate,
        enforcement_level=EnforcementLevel.MANDATORY,
    )


def seen(args: ResourceValidationArgs) -> Seen:
    """Return a resource as rules see it: plain data, of which a preview may not know all.

    The SDK's own inputs raise at each value that is not known yet, and a rule that touches one would say nothing at
    all about the others.
    """
    props = {key: _plain(args.props, key) for key in args.props}
    return Seen(type=args.resource_type, props=props, protected=bool(args.opts.protect))


def _plain(holder: Any, key: Any) -> Any:
    try:
        value = holder[key]
    except UnknownValueError:
        return UNKNOWN
    if isinstance(value, Mapping):
        return {inner: _plain(value, inner) for inner in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(value, index) for index in range(len(value))]
    return value
