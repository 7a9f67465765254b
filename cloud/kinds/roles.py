"""Roles of IAM."""

from collections.abc import Iterator, Sequence

from cloud.account import Account
from cloud.kinds.kind import Kind
from cloud.thing import GLOBAL, Thing, tag_map

_AWS_OWN = "/aws-service-role/"


def _roles(account: Account, region: str, _: Sequence[Thing]) -> Iterator[Thing]:
    for one in account.pages("iam", region, "list_roles", "Roles"):
        if one["Path"].startswith(_AWS_OWN):
            continue
        # At most fifty, on one page.
        tags = account.seen("iam", region, "list_role_tags", RoleName=one["RoleName"])
        if tags is not None:
            yield Thing("role", one["RoleName"], GLOBAL, tag_map(tags["Tags"]), handle=region)


def _delete_role(account: Account, thing: Thing) -> None:
    iam = account.client("iam", thing.handle)
    role = {"RoleName": thing.id}
    for one in iam.list_instance_profiles_for_role(**role)["InstanceProfiles"]:
        iam.remove_role_from_instance_profile(InstanceProfileName=one["InstanceProfileName"], **role)
    for one in iam.list_attached_role_policies(**role)["AttachedPolicies"]:
        iam.detach_role_policy(PolicyArn=one["PolicyArn"], **role)
    for name in iam.list_role_policies(**role)["PolicyNames"]:
        iam.delete_role_policy(PolicyName=name, **role)
    iam.delete_role(**role)


ROLE = Kind("role", _roles, _delete_role, everywhere=True)
