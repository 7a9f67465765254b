"""Clusters and what is in them."""

from typing import Any

from rehearsal.aws.kinds.kind import Changing, Kind, Made, Making, Resource, Values
from rehearsal.aws.services import Services


def _tag(services: Services, resource: Resource, tags: Values) -> None:
    made = resource.state["arn"]
    if lost := resource.lost(tags):
        services.ask("eks", "UntagResource", resourceArn=made, tagKeys=lost)
    services.ask("eks", "TagResource", resourceArn=made, tags=dict(tags))


def _cluster(new: Making) -> Made:
    found = new.services.ask("eks", "DescribeCluster", name=new.inputs["name"])["cluster"]
    return Made(new.inputs["name"], {"arn": found["arn"], **_connection(new.inputs, found)})


def _connection(inputs: Values, found: Values) -> dict[str, Any]:
    """Return what tells how the cluster is reached; its other outputs are its inputs."""
    vpc = found["resourcesVpcConfig"]
    more = {key: vpc[key] for key in ("clusterSecurityGroupId", "vpcId") if key in vpc}
    return {
        "endpoint": found["endpoint"],
        "certificateAuthority": {"data": found["certificateAuthority"]["data"]},
        "status": found["status"],
        "vpcConfig": {**inputs["vpcConfig"], **more},
    }


def _look_at_cluster(services: Services, resource: Resource) -> Values | None:
    found = services.find("eks", "DescribeCluster", name=resource.id)
    return None if found is None else _connection(resource.state, found["cluster"])


def _delete_cluster(services: Services, resource: Resource) -> None:
    services.ask("eks", "DeleteCluster", name=resource.id)


def _node_group(new: Making) -> Made:
    cluster, group = new.inputs["clusterName"], new.inputs["nodeGroupName"]
    found = new.services.ask("eks", "DescribeNodegroup", clusterName=cluster, nodegroupName=group)["nodegroup"]
    groups = [{"name": one["name"]} for one in found["resources"]["autoScalingGroups"]]
    made = {"arn": found["nodegroupArn"], "status": found["status"], "resources": [{"autoscalingGroups": groups}]}
    failed = ""
    if found["status"] == "CREATE_FAILED":
        issues = [
            f"{', '.join(one['resourceIds'])}: {one['code']}: {one['message']}" for one in found["health"]["issues"]
        ]
        failed = (
            f"waiting for EKS Node Group ({cluster}:{group}) create: unexpected state 'CREATE_FAILED', wanted target "
            f"'ACTIVE'. last error: {'; '.join(issues)}"
        )
    return Made(f"{cluster}:{group}", made, failed)


def _place(resource: Resource) -> dict[str, str]:
    cluster, _, group = resource.id.partition(":")
    return {"clusterName": cluster, "nodegroupName": group}


def _look_at_node_group(services: Services, resource: Resource) -> Values | None:
    found = services.find("eks", "DescribeNodegroup", **_place(resource))
    if found is None:
        return None
    group = found["nodegroup"]
    sizes = {**resource.state["scalingConfig"], **group["scalingConfig"]}
    return {"scalingConfig": sizes, "status": group["status"]}


def _change_node_group(change: Changing) -> None:
    if others := change.keys - {"scalingConfig"}:
        # They would replace node after node, which none of our changes may do.
        raise NotImplementedError(f"{change.resource.id}: the double replaces no nodes for {', '.join(sorted(others))}")
    change.services.ask(
        "eks", "UpdateNodegroupConfig", **_place(change.resource), scalingConfig=change.news["scalingConfig"]
    )


def _addon(new: Making) -> Made:
    found = new.answers[0]["addon"]
    return Made(
        f"{new.inputs['clusterName']}:{new.inputs['addonName']}",
        {"arn": found["addonArn"], "addonVersion": found["addonVersion"]},
    )


def _addon_place(resource: Resource) -> dict[str, str]:
    cluster, _, addon = resource.id.partition(":")
    return {"clusterName": cluster, "addonName": addon}


def _look_at_addon(services: Services, resource: Resource) -> Values | None:
    found = services.find("eks", "DescribeAddon", **_addon_place(resource))
    return None if found is None else {"addonVersion": found["addon"]["addonVersion"]}


def _change_addon(change: Changing) -> None:
    more = {
        name: change.news[key]
        for key, name in (("addonVersion", "addonVersion"), ("configurationValues", "configurationValues"))
        if key in change.keys and change.news.get(key) is not None
    }
    change.services.ask("eks", "UpdateAddon", **_addon_place(change.resource), **more)


def _delete_addon(services: Services, resource: Resource) -> None:
    preserve = {"preserve": True} if resource.state.get("preserve") else {}
    services.ask("eks", "DeleteAddon", **_addon_place(resource), **preserve)


def _association(new: Making) -> Made:
    found = new.answers[0]["association"]
    return Made(found["associationId"], {"arn": found["associationArn"], "associationId": found["associationId"]})


def _change_association(change: Changing) -> None:
    change.services.ask(
        "eks",
        "UpdatePodIdentityAssociation",
        clusterName=change.news["clusterName"],
        associationId=change.resource.id,
        roleArn=change.news["roleArn"],
    )


def _entry(new: Making) -> Made:
    made = new.answers[0]["accessEntry"]["accessEntryArn"]
    return Made(f"{new.inputs['clusterName']}:{new.inputs['principalArn']}", {"arn": made, "accessEntryArn": made})


def _delete_entry(services: Services, resource: Resource) -> None:
    state = resource.state
    services.ask("eks", "DeleteAccessEntry", clusterName=state["clusterName"], principalArn=state["principalArn"])


def _policy(new: Making) -> Made:
    return Made(f"{new.inputs['clusterName']}#{new.inputs['principalArn']}#{new.inputs['policyArn']}", {})


def _disassociate(services: Services, resource: Resource) -> None:
    named = {key: resource.state[key] for key in ("clusterName", "principalArn", "policyArn")}
    services.ask("eks", "DisassociateAccessPolicy", **named)


KINDS = (
    Kind(
        "aws:eks/cluster:Cluster",
        required=frozenset({"roleArn", "vpcConfig"}),
        fixed=frozenset({"name", "roleArn", "vpcConfig.subnetIds", "bootstrapSelfManagedAddons"}),
        named="name",
        unique=True,
        make=_cluster,
        delete=_delete_cluster,
        look=_look_at_cluster,
        tag=_tag,
        computed=("arn", "endpoint", "certificateAuthority", "status"),
    ),
    Kind(
        "aws:eks/nodeGroup:NodeGroup",
        required=frozenset({"clusterName", "nodeRoleArn", "subnetIds", "scalingConfig"}),
        fixed=frozenset(
            {
                "clusterName",
                "nodeGroupName",
                "nodeRoleArn",
                "subnetIds",
                "instanceTypes",
                "capacityType",
                "amiType",
                "diskSize",
                "launchTemplate.id",
            }
        ),
        named="nodeGroupName",
        unique=True,
        make=_node_group,
        delete=lambda services, resource: services.ask("eks", "DeleteNodegroup", **_place(resource)),
        look=_look_at_node_group,
        change=_change_node_group,
        tag=_tag,
        computed=("arn", "status", "resources"),
    ),
    Kind(
        "aws:eks/addon:Addon",
        required=frozenset({"clusterName", "addonName"}),
        fixed=frozenset({"clusterName", "addonName"}),
        unique=True,
        make=_addon,
        delete=_delete_addon,
        look=_look_at_addon,
        change=_change_addon,
        tag=_tag,
    ),
    Kind(
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        required=frozenset({"clusterName", "namespace", "serviceAccount", "roleArn"}),
        fixed=frozenset({"clusterName", "namespace", "serviceAccount"}),
        make=_association,
        delete=lambda services, resource: services.ask(
            "eks",
            "DeletePodIdentityAssociation",
            clusterName=resource.state["clusterName"],
            associationId=resource.id,
        ),
        change=_change_association,
        tag=_tag,
        computed=("arn", "associationId"),
    ),
    Kind(
        "aws:eks/accessEntry:AccessEntry",
        required=frozenset({"clusterName", "principalArn"}),
        fixed=frozenset({"clusterName", "principalArn", "type"}),
        make=_entry,
        delete=_delete_entry,
        tag=_tag,
        computed=("arn", "accessEntryArn"),
    ),
    Kind(
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        required=frozenset({"clusterName", "principalArn", "policyArn", "accessScope"}),
        fixed=frozenset({"clusterName", "principalArn", "policyArn", "accessScope"}),
        make=_policy,
        delete=_disassociate,
        computed=(),
    ),
)
