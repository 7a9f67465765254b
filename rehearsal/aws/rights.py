"""What a role may do, by the statements of its own policies: as much of IAM as the doubles' users need."""

import fnmatch
from collections.abc import Mapping
from typing import Any

from rehearsal.aws.services import Services


def may(services: Services, role: str, action: str, resource: str, context: Mapping[str, str] | None = None) -> bool:
    """Tell whether some statement of a role's policies allows an action; the only condition known is `StringLike`.

    Args:
        services: of the account.
        role: name of the role.
        action: such as `s3:GetObject`.
        resource: its ARN.
        context: values of condition keys in this request.
    """
    for policy in services.ask("iam", "ListRolePolicies", RoleName=role)["PolicyNames"]:
        document = services.ask("iam", "GetRolePolicy", RoleName=role, PolicyName=policy)["PolicyDocument"]
        for statement in document["Statement"]:
            if (
                statement["Effect"] == "Allow"
                and _any(action, _listed(statement["Action"]))
                and _any(resource, _listed(statement["Resource"]))
                and _holds(statement.get("Condition", {}), context or {})
            ):
                return True
    return False


def _holds(conditions: Mapping[str, Any], context: Mapping[str, str]) -> bool:
    """Tell whether all conditions hold; one that is not known does not."""
    return all(
        operator == "StringLike" and _any(context.get(key, ""), _listed(patterns))
        for operator, keys in conditions.items()
        for key, patterns in keys.items()
    )


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _any(value: str, patterns: list[str]) -> bool:
    return any(fnmatch.fnmatchcase(value, pattern) for pattern in patterns)
