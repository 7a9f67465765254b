"""Roles and what they may do."""

from rehearsal.aws.kinds.kind import Changing, Kind, Made, Making, Resource, Values
from rehearsal.aws.requests import listed
from rehearsal.aws.services import RefusedError, Services

_TRIES = 10


def _role(new: Making) -> Made:
    # As the real provider does: a role is made when it can be looked at.
    seen = (new.services.find("iam", "GetRole", RoleName=new.name) for _ in range(_TRIES))
    if not any(found is not None for found in seen):
        raise RefusedError("iam.GetRole", "NoSuchEntity", f"The role with name {new.name} cannot be found.")
    return Made(
        new.name, {"arn": new.answers[0]["Role"]["Arn"], "uniqueId": new.answers[0]["Role"]["RoleId"], "name": new.name}
    )


def _look(services: Services, resource: Resource) -> Values | None:
    return None if services.find("iam", "GetRole", RoleName=resource.id) is None else {}


def _change(change: Changing) -> None:
    if "assumeRolePolicy" in change.keys:
        change.services.ask(
            "iam", "UpdateAssumeRolePolicy", RoleName=change.resource.id, PolicyDocument=change.news["assumeRolePolicy"]
        )
    if "description" in change.keys:
        change.services.ask(
            "iam", "UpdateRole", RoleName=change.resource.id, Description=change.news.get("description", "")
        )


def _tag(services: Services, resource: Resource, tags: Values) -> None:
    if lost := resource.lost(tags):
        services.ask("iam", "UntagRole", RoleName=resource.id, TagKeys=lost)
    services.ask("iam", "TagRole", RoleName=resource.id, Tags=listed(tags))


def _policy(new: Making) -> Made:
    return Made(f"{new.inputs['role']}:{new.name}", {"name": new.name})


def _change_policy(change: Changing) -> None:
    role, _, name = change.resource.id.partition(":")
    change.services.ask("iam", "PutRolePolicy", RoleName=role, PolicyName=name, PolicyDocument=change.news["policy"])


def _delete_policy(services: Services, resource: Resource) -> None:
    role, _, name = resource.id.partition(":")
    services.ask("iam", "DeleteRolePolicy", RoleName=role, PolicyName=name)


def _attachment(new: Making) -> Made:
    return Made(f"{new.inputs['role']}/{new.inputs['policyArn']}", {})


KINDS = (
    Kind(
        "aws:iam/role:Role",
        required=frozenset({"assumeRolePolicy"}),
        fixed=frozenset({"name", "path"}),
        named="name",
        make=_role,
        delete=lambda services, resource: services.ask("iam", "DeleteRole", RoleName=resource.id),
        look=_look,
        change=_change,
        tag=_tag,
        computed=("arn", "uniqueId"),
    ),
    Kind(
        "aws:iam/rolePolicy:RolePolicy",
        required=frozenset({"role", "policy"}),
        fixed=frozenset({"role", "name"}),
        named="name",
        make=_policy,
        delete=_delete_policy,
        change=_change_policy,
        computed=(),
    ),
    Kind(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        required=frozenset({"role", "policyArn"}),
        fixed=frozenset({"role", "policyArn"}),
        make=_attachment,
        delete=lambda services, resource: services.ask(
            "iam", "DetachRolePolicy", RoleName=resource.state["role"], PolicyArn=resource.state["policyArn"]
        ),
        computed=(),
    ),
)
