"""Networks, and how instances are started."""

from collections.abc import Callable
from typing import Any

from moto.backends import get_backend

from rehearsal.aws.kinds.kind import Changing, Kind, Made, Making, Resource, Values, put, unchangeable
from rehearsal.aws.requests import ACCOUNT, listed, requests
from rehearsal.aws.services import Services, arn

_NEVER = frozenset[str]()


def _tag(services: Services, resource: Resource, tags: Values) -> None:
    if lost := resource.lost(tags):
        services.ask("ec2", "DeleteTags", Resources=[resource.id], Tags=[{"Key": key} for key in lost])
    if tags:
        services.ask("ec2", "CreateTags", Resources=[resource.id], Tags=listed(tags))


def _delete(operation: str, argument: str, *, several: bool = False) -> Callable[[Services, Resource], object]:
    def delete(services: Services, resource: Resource) -> object:
        return services.ask("ec2", operation, **{argument: [resource.id] if several else resource.id})

    return delete


def _look(operation: str, argument: str, key: str, dead: tuple[str, ...] = ("deleted", "deleting")) -> Any:
    def look(services: Services, resource: Resource) -> Values | None:
        answer = services.find("ec2", operation, **{argument: [resource.id]})
        found = answer[key] if answer else []
        return {} if found and found[0].get("State") not in dead else None

    return look


def _made(what: str, kind: str, id_key: str, **outputs: str) -> Any:
    """Read a new thing's id, and further outputs by their keys, from below `what` of the first answer."""

    def make(new: Making) -> Made:
        answer = new.answers[0][what] if what else new.answers[0]
        more = {output: answer[key] for output, key in outputs.items()}
        return Made(answer[id_key], {"arn": arn("ec2", new.services.region, f"{kind}/{answer[id_key]}"), **more})

    return make


def _simple(
    type_: str,
    what: str,
    tag: str,
    id_key: str,
    plural: str,
    required: set[str],
    fixed: set[str],
    *,
    delete: Callable[[Services, Resource], object] | None = None,
    computed: tuple[str, ...] = (),
    **outputs: str,
) -> Kind:
    """Return a kind whose operations are named alike: CreateX, DescribeXs, DeleteX."""
    return Kind(
        type_,
        required=frozenset(required),
        fixed=frozenset(fixed),
        itself=lambda answer: str(answer[what][id_key]),
        make=_made(what, tag, id_key, **outputs),
        delete=delete or _delete(f"Delete{what}", id_key),
        look=_look(f"Describe{plural}", f"{id_key}s", plural),
        tag=_tag,
        computed=("arn", *computed, *outputs),
    )


def _detach_and_delete(services: Services, resource: Resource) -> None:
    services.ask("ec2", "DetachInternetGateway", InternetGatewayId=resource.id, VpcId=resource.state["vpcId"])
    services.ask("ec2", "DeleteInternetGateway", InternetGatewayId=resource.id)


def _route(new: Making) -> Made:
    return Made(f"r-{new.inputs['routeTableId']}{new.inputs['destinationCidrBlock']}", {"state": "active"})


def _association(new: Making) -> Made:
    return Made(new.answers[0]["AssociationId"], {})


def _address(new: Making) -> Made:
    allocation = new.answers[0]["AllocationId"]
    made = arn("ec2", new.services.region, f"elastic-ip/{allocation}")
    return Made(allocation, {"arn": made, "allocationId": allocation, "publicIp": new.answers[0]["PublicIp"]})


def _rule(new: Making) -> Made:
    rule = new.answers[0]["SecurityGroupRules"][0]["SecurityGroupRuleId"]
    made = arn("ec2", new.services.region, f"security-group-rule/{rule}")
    return Made(rule, {"arn": made, "securityGroupRuleId": rule})


def _revoke(operation: str) -> Callable[[Services, Resource], object]:
    def revoke(services: Services, resource: Resource) -> object:
        return services.ask(
            "ec2", operation, GroupId=resource.state["securityGroupId"], SecurityGroupRuleIds=[resource.id]
        )

    return revoke


def _change_template(change: Changing) -> None:
    """Add a version to the template, as every change but that of its own tags does."""
    started = {key: value for key, value in change.news.items() if key != LAUNCH_TEMPLATE.named}
    (made,) = requests(LAUNCH_TEMPLATE.type, started)
    change.services.ask(
        "ec2",
        "CreateLaunchTemplateVersion",
        LaunchTemplateId=change.resource.id,
        LaunchTemplateData=made.params["LaunchTemplateData"],
    )


def _tag_template(services: Services, resource: Resource, tags: Values) -> None:
    """Tag it, and have moto show that: it shows the tags with which the template was made."""
    _tag(services, resource, tags)
    template: Any = get_backend("ec2")[ACCOUNT][services.region].get_launch_template(resource.id)
    template.tags = template.get_tags()


def _look_at_template(services: Services, resource: Resource) -> Values | None:
    answer = services.find("ec2", "DescribeLaunchTemplates", LaunchTemplateIds=[resource.id])
    found = answer["LaunchTemplates"] if answer else []
    return {"latestVersion": found[0]["LatestVersionNumber"]} if found else None


def _placement_group(new: Making) -> Made:
    made = arn("ec2", new.services.region, f"placement-group/{new.name}")
    return Made(new.name, {"arn": made, "placementGroupId": new.answers[0]["PlacementGroup"]["GroupId"]})


def _look_at_tag(services: Services, resource: Resource) -> Values | None:
    about, _, key = resource.id.partition(",")
    filters = [{"Name": "resource-id", "Values": [about]}, {"Name": "key", "Values": [key]}]
    found = services.ask("ec2", "DescribeTags", Filters=filters)["Tags"]
    return {"value": found[0]["Value"]} if found else None


def _delete_tag(services: Services, resource: Resource) -> None:
    about, _, key = resource.id.partition(",")
    services.ask("ec2", "DeleteTags", Resources=[about], Tags=[{"Key": key}])


_TAG = "aws:ec2/tag:Tag"

LAUNCH_TEMPLATE = Kind(
    "aws:ec2/launchTemplate:LaunchTemplate",
    required=_NEVER,
    fixed=frozenset({"name"}),
    named="name",
    make=_made("LaunchTemplate", "launch-template", "LaunchTemplateId", latestVersion="LatestVersionNumber"),
    itself=lambda answer: str(answer["LaunchTemplate"]["LaunchTemplateId"]),
    delete=_delete("DeleteLaunchTemplate", "LaunchTemplateId"),
    look=_look_at_template,
    change=_change_template,
    tag=_tag_template,
    computed=("arn", "latestVersion"),
)

KINDS = (
    _simple("aws:ec2/vpc:Vpc", "Vpc", "vpc", "VpcId", "Vpcs", set(), {"cidrBlock"}),
    _simple(
        "aws:ec2/subnet:Subnet",
        "Subnet",
        "subnet",
        "SubnetId",
        "Subnets",
        {"vpcId"},
        {"vpcId", "cidrBlock", "availabilityZone"},
    ),
    _simple(
        "aws:ec2/internetGateway:InternetGateway",
        "InternetGateway",
        "internet-gateway",
        "InternetGatewayId",
        "InternetGateways",
        set(),
        set(),
        delete=_detach_and_delete,
    ),
    _simple(
        "aws:ec2/routeTable:RouteTable",
        "RouteTable",
        "route-table",
        "RouteTableId",
        "RouteTables",
        {"vpcId"},
        {"vpcId"},
    ),
    Kind(
        "aws:ec2/route:Route",
        required=frozenset({"routeTableId"}),
        fixed=frozenset({"routeTableId", "destinationCidrBlock"}),
        make=_route,
        delete=lambda services, resource: services.ask(
            "ec2",
            "DeleteRoute",
            RouteTableId=resource.state["routeTableId"],
            DestinationCidrBlock=resource.state["destinationCidrBlock"],
        ),
        computed=("state",),
    ),
    Kind(
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        required=frozenset({"routeTableId"}),
        fixed=frozenset({"subnetId", "gatewayId"}),
        make=_association,
        delete=_delete("DisassociateRouteTable", "AssociationId"),
        computed=(),
    ),
    Kind(
        "aws:ec2/eip:Eip",
        required=_NEVER,
        fixed=frozenset({"domain"}),
        make=_address,
        delete=_delete("ReleaseAddress", "AllocationId"),
        look=_look("DescribeAddresses", "AllocationIds", "Addresses"),
        tag=_tag,
        computed=("arn", "allocationId", "publicIp"),
    ),
    _simple(
        "aws:ec2/natGateway:NatGateway",
        "NatGateway",
        "natgateway",
        "NatGatewayId",
        "NatGateways",
        {"subnetId"},
        {"subnetId", "allocationId", "connectivityType"},
    ),
    _simple(
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        "VpcEndpoint",
        "vpc-endpoint",
        "VpcEndpointId",
        "VpcEndpoints",
        {"vpcId"},
        {"vpcId", "serviceName", "vpcEndpointType"},
        delete=_delete("DeleteVpcEndpoints", "VpcEndpointIds", several=True),
    ),
    Kind(
        "aws:ec2/securityGroup:SecurityGroup",
        required=_NEVER,
        fixed=frozenset({"name", "description", "vpcId"}),
        named="name",
        itself=lambda answer: str(answer["GroupId"]),
        make=_made("", "security-group", "GroupId"),
        delete=_delete("DeleteSecurityGroup", "GroupId"),
        look=_look("DescribeSecurityGroups", "GroupIds", "SecurityGroups"),
        tag=_tag,
    ),
    *(
        Kind(
            f"aws:vpc/securityGroup{way}Rule:SecurityGroup{way}Rule",
            required=frozenset({"securityGroupId", "ipProtocol"}),
            fixed=frozenset({"securityGroupId"}),
            make=_rule,
            delete=_revoke(f"RevokeSecurityGroup{way}"),
            tag=_tag,
            computed=("arn", "securityGroupRuleId"),
        )
        for way in ("Ingress", "Egress")
    ),
    Kind(
        "aws:ec2/placementGroup:PlacementGroup",
        required=frozenset({"strategy"}),
        fixed=frozenset({"name", "strategy"}),
        named="name",
        make=_placement_group,
        delete=_delete("DeletePlacementGroup", "GroupName"),
        change=unchangeable,
        tag=lambda services, resource, tags: _tag(
            services, Resource(resource.state["placementGroupId"], resource.state), tags
        ),
        computed=("arn", "placementGroupId"),
    ),
    Kind(
        _TAG,
        required=frozenset({"resourceId", "key", "value"}),
        fixed=frozenset({"resourceId", "key"}),
        make=lambda new: Made(f"{new.inputs['resourceId']},{new.inputs['key']}", {}),
        delete=_delete_tag,
        look=_look_at_tag,
        change=put(_TAG),
        computed=(),
    ),
    LAUNCH_TEMPLATE,
)
