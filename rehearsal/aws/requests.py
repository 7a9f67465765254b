"""What AWS's provider sends for a resource: the requests of its creation, by service and operation.

The provider speaks of resources as Terraform does, the services as botocore's models do. Each function here is one
resource's way from the former to the latter, for the inputs that we set; an input that it does not know is an error.
"""

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rehearsal.aws import component

Inputs = Mapping[str, Any]
Params = dict[str, Any]

ACCOUNT = "123456789012"
_ROLE = f"arn:aws:iam::{ACCOUNT}:role/some"


ITSELF = "itself"
"""In requests after the first, the id that the first one's answer gives the resource."""


@dataclass(frozen=True)
class Request:
    """One call of an API, at the resource's creation or at another moment of its life."""

    service: str
    operation: str
    params: Params
    when: Literal["create", "update", "delete", "end"] = "create"


class UnreadError(Exception):
    """A resource has an input of which nobody has written down what it does."""


class Reader:
    """Inputs of one resource, each of which must be read, and the name that it gets where none is set."""

    def __init__(self, inputs: Inputs, name: str) -> None:
        self._inputs = dict(inputs)
        self.name = name

    def take(self, name: str) -> Any:
        """Return an input, None if it is not set, and take it as read."""
        return whole(self._inputs.pop(name, None))

    def has(self, name: str) -> bool:
        """Tell whether an input is set."""
        return name in self._inputs

    def rest(self) -> Params:
        """Return all that has not been read, as read."""
        return {name: self.take(name) for name in tuple(self._inputs)}

    def done(self) -> None:
        """Raise `UnreadError` if an input has not been read."""
        if self._inputs:
            raise UnreadError(f"inputs that no request has: {sorted(self._inputs)}")


def whole(value: Any) -> Any:
    """Numbers reach the monitor as floats."""
    if isinstance(value, Mapping):
        return {key: whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def given(**params: Any) -> Params:
    """Return the parameters that are set."""
    return {name: value for name, value in params.items() if value is not None}


def capital(value: Any) -> Any:
    """Return nested data with every key's first letter a capital."""
    if isinstance(value, Mapping):
        return {key[0].upper() + key[1:]: capital(inner) for key, inner in value.items()}
    return [capital(inner) for inner in value] if isinstance(value, list) else value


def listed(tags: Mapping[str, str]) -> list[dict[str, str]]:
    """Return tags as most services list them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def specified(kind: str, tags: Mapping[str, str] | None) -> list[Params] | None:
    """Return the tags with which something of EC2 is born."""
    return None if tags is None else [{"ResourceType": kind, "Tags": listed(tags)}]


def _vpc(read: Reader) -> list[Request]:
    params = given(CidrBlock=read.take("cidrBlock"), TagSpecifications=specified("vpc", read.take("tags")))
    attributes = [
        Request("ec2", "ModifyVpcAttribute", {"VpcId": ITSELF, name: {"Value": read.take(key)}})
        for key, name in (("enableDnsSupport", "EnableDnsSupport"), ("enableDnsHostnames", "EnableDnsHostnames"))
        if read.has(key)
    ]
    return [Request("ec2", "CreateVpc", params), *attributes]


def _subnet(read: Reader) -> list[Request]:
    params = given(
        VpcId=read.take("vpcId"),
        AvailabilityZone=read.take("availabilityZone"),
        CidrBlock=read.take("cidrBlock"),
        TagSpecifications=specified("subnet", read.take("tags")),
    )
    public = {"SubnetId": ITSELF, "MapPublicIpOnLaunch": {"Value": read.take("mapPublicIpOnLaunch")}}
    return [Request("ec2", "CreateSubnet", params), Request("ec2", "ModifySubnetAttribute", public)]


def _internet_gateway(read: Reader) -> list[Request]:
    return [
        Request(
            "ec2",
            "CreateInternetGateway",
            given(TagSpecifications=specified("internet-gateway", read.take("tags"))),
        ),
        Request("ec2", "AttachInternetGateway", {"InternetGatewayId": ITSELF, "VpcId": read.take("vpcId")}),
    ]


def _route_table(read: Reader) -> list[Request]:
    params = given(VpcId=read.take("vpcId"), TagSpecifications=specified("route-table", read.take("tags")))
    return [Request("ec2", "CreateRouteTable", params)]


def _route(read: Reader) -> list[Request]:
    params = given(
        RouteTableId=read.take("routeTableId"),
        DestinationCidrBlock=read.take("destinationCidrBlock"),
        GatewayId=read.take("gatewayId"),
        NatGatewayId=read.take("natGatewayId"),
    )
    return [Request("ec2", "CreateRoute", params)]


def _route_table_association(read: Reader) -> list[Request]:
    params = given(SubnetId=read.take("subnetId"), RouteTableId=read.take("routeTableId"))
    return [Request("ec2", "AssociateRouteTable", params)]


def _address(read: Reader) -> list[Request]:
    params = given(Domain=read.take("domain"), TagSpecifications=specified("elastic-ip", read.take("tags")))
    return [Request("ec2", "AllocateAddress", params)]


def _nat_gateway(read: Reader) -> list[Request]:
    params = given(
        SubnetId=read.take("subnetId"),
        AllocationId=read.take("allocationId"),
        ConnectivityType=read.take("connectivityType"),
        TagSpecifications=specified("natgateway", read.take("tags")),
    )
    return [Request("ec2", "CreateNatGateway", params)]


def _vpc_endpoint(read: Reader) -> list[Request]:
    params = given(
        VpcId=read.take("vpcId"),
        ServiceName=read.take("serviceName"),
        VpcEndpointType=read.take("vpcEndpointType"),
        RouteTableIds=read.take("routeTableIds"),
        SubnetIds=read.take("subnetIds"),
        SecurityGroupIds=read.take("securityGroupIds"),
        PrivateDnsEnabled=read.take("privateDnsEnabled"),
        TagSpecifications=specified("vpc-endpoint", read.take("tags")),
    )
    return [Request("ec2", "CreateVpcEndpoint", params)]


def _security_group(read: Reader) -> list[Request]:
    params = given(
        GroupName=read.name,
        Description=read.take("description"),
        VpcId=read.take("vpcId"),
        TagSpecifications=specified("security-group", read.take("tags")),
    )
    return [Request("ec2", "CreateSecurityGroup", params)]


def _security_group_rule(operation: str) -> Callable[[Reader], list[Request]]:
    def rule(read: Reader) -> list[Request]:
        description, cidr = read.take("description"), read.take("cidrIpv4")
        group = read.take("referencedSecurityGroupId")
        permission = given(
            IpProtocol=read.take("ipProtocol"),
            FromPort=read.take("fromPort"),
            ToPort=read.take("toPort"),
            IpRanges=[{"CidrIp": cidr, "Description": description}] if cidr else None,
            UserIdGroupPairs=[{"GroupId": group, "Description": description}] if group else None,
        )
        params = given(
            GroupId=read.take("securityGroupId"),
            IpPermissions=[permission],
            TagSpecifications=specified("security-group-rule", read.take("tags")),
        )
        return [Request("ec2", operation, params)]

    return rule


def _placement_group(read: Reader) -> list[Request]:
    params = given(
        GroupName=read.name,
        Strategy=read.take("strategy"),
        TagSpecifications=specified("placement-group", read.take("tags")),
    )
    return [Request("ec2", "CreatePlacementGroup", params)]


def _launch_template(read: Reader) -> list[Request]:
    devices = [
        {
            "DeviceName": device["deviceName"],
            "Ebs": capital(
                {key: {"true": True, "false": False}.get(value, value) for key, value in device["ebs"].items()}
            ),
        }
        for device in read.take("blockDeviceMappings")
    ]
    interfaces = [
        {
            **capital(
                {key: value for key, value in interface.items() if key not in ("securityGroups", "deleteOnTermination")}
            ),
            "Groups": interface["securityGroups"],
            "DeleteOnTermination": interface["deleteOnTermination"] == "true",
        }
        for interface in read.take("networkInterfaces") or []
    ]
    data = given(
        BlockDeviceMappings=devices,
        MetadataOptions=capital(read.take("metadataOptions")),
        CapacityReservationSpecification=capital(read.take("capacityReservationSpecification")),
        Placement=capital(read.take("placement")),
        NetworkInterfaces=interfaces or None,
        UserData=read.take("userData"),
        TagSpecifications=[
            {"ResourceType": each["resourceType"], "Tags": listed(each["tags"])}
            for each in read.take("tagSpecifications")
        ],
    )
    params = given(
        LaunchTemplateName=read.name,
        LaunchTemplateData=data,
        TagSpecifications=specified("launch-template", read.take("tags")),
    )
    return [Request("ec2", "CreateLaunchTemplate", params)]


def _role(read: Reader) -> list[Request]:
    params = given(
        RoleName=read.name,
        Description=read.take("description"),
        AssumeRolePolicyDocument=read.take("assumeRolePolicy"),
        Tags=listed(read.take("tags")),
    )
    return [Request("iam", "CreateRole", params)]


def _role_policy(read: Reader) -> list[Request]:
    params = given(RoleName=read.take("role"), PolicyName=read.name, PolicyDocument=read.take("policy"))
    return [Request("iam", "PutRolePolicy", params)]


def _role_policy_attachment(read: Reader) -> list[Request]:
    return [Request("iam", "AttachRolePolicy", given(RoleName=read.take("role"), PolicyArn=read.take("policyArn")))]


def _log_group(read: Reader) -> list[Request]:
    name = read.take("name")
    return [
        Request("logs", "CreateLogGroup", given(logGroupName=name, tags=read.take("tags"))),
        Request("logs", "PutRetentionPolicy", given(logGroupName=name, retentionInDays=read.take("retentionInDays"))),
    ]


def _log_stream(read: Reader) -> list[Request]:
    params = given(logGroupName=read.take("logGroupName"), logStreamName=read.take("name"))
    return [Request("logs", "CreateLogStream", params)]


def _queue(read: Reader) -> list[Request]:
    attributes = {
        "MessageRetentionPeriod": str(read.take("messageRetentionSeconds")),
        "SqsManagedSseEnabled": str(read.take("sqsManagedSseEnabled")).lower(),
    }
    return [Request("sqs", "CreateQueue", given(QueueName=read.name, Attributes=attributes, tags=read.take("tags")))]


def _schedule_group(read: Reader) -> list[Request]:
    return [Request("scheduler", "CreateScheduleGroup", given(Name=read.take("name"), Tags=listed(read.take("tags"))))]


def _schedule(read: Reader) -> list[Request]:
    params = capital(
        given(
            name=read.take("name"),
            groupName=read.take("groupName"),
            scheduleExpression=read.take("scheduleExpression"),
            scheduleExpressionTimezone=read.take("scheduleExpressionTimezone"),
            flexibleTimeWindow=read.take("flexibleTimeWindow"),
            actionAfterCompletion=read.take("actionAfterCompletion"),
            target=read.take("target"),
        )
    )
    return [Request("scheduler", "CreateSchedule", params), *_scheduled(params["Target"])]


def _scheduled(target: Params) -> list[Request]:
    """What a universal target calls: its input has the members of the request, each with a capital."""
    if "aws-sdk:" not in target["Arn"]:
        return []
    service, operation = target["Arn"].split(":")[-2:]
    return [Request(service, operation[0].upper() + operation[1:], small(json.loads(target["Input"])), "end")]


def small(value: Any) -> Any:
    """Return nested data with every key's first letter a small one, as EKS's own members have it."""
    if isinstance(value, Mapping):
        return {key[0].lower() + key[1:]: small(inner) for key, inner in value.items()}
    return value


def _control_plane(read: Reader) -> list[Request]:
    params = given(
        name=read.take("name"),
        version=read.take("version"),
        roleArn=read.take("roleArn"),
        resourcesVpcConfig=read.take("vpcConfig"),
        logging={"clusterLogging": [{"types": read.take("enabledClusterLogTypes"), "enabled": True}]},
        accessConfig=read.take("accessConfig"),
        bootstrapSelfManagedAddons=read.take("bootstrapSelfManagedAddons"),
        upgradePolicy=read.take("upgradePolicy"),
        tags=read.take("tags"),
    )
    return [Request("eks", "CreateCluster", params)]


def _access_entry(read: Reader) -> list[Request]:
    names = ("clusterName", "principalArn", "tags")
    return [Request("eks", "CreateAccessEntry", given(**{name: read.take(name) for name in names}))]


def _access_policy(read: Reader) -> list[Request]:
    names = ("clusterName", "principalArn", "policyArn", "accessScope")
    return [Request("eks", "AssociateAccessPolicy", given(**{name: read.take(name) for name in names}))]


def _cluster(read: Reader) -> list[Request]:
    """pulumi-eks's component, which makes the cluster, its role and its access entries."""
    inputs = read.rest()
    component.check(inputs)
    found = requests("aws:eks/cluster:Cluster", component.control_plane("some", inputs, _ROLE))
    for entry in component.entries(inputs, inputs["name"]):
        found += requests("aws:eks/accessEntry:AccessEntry", entry.inputs)
        for policy in entry.policies.values():
            found += requests("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", policy)
    return found


def _addon(read: Reader) -> list[Request]:
    params = given(
        clusterName=read.take("clusterName"),
        addonName=read.take("addonName"),
        addonVersion=read.take("addonVersion"),
        configurationValues=read.take("configurationValues"),
        resolveConflicts=read.take("resolveConflictsOnCreate"),
        tags=read.take("tags"),
    )
    update = given(
        clusterName=params["clusterName"],
        addonName=params["addonName"],
        resolveConflicts=read.take("resolveConflictsOnUpdate"),
    )
    delete = given(clusterName=params["clusterName"], addonName=params["addonName"], preserve=read.take("preserve"))
    return [
        Request("eks", "CreateAddon", params),
        Request("eks", "UpdateAddon", update, "update"),
        Request("eks", "DeleteAddon", delete, "delete"),
    ]


def _node_group(read: Reader) -> list[Request]:
    params = given(
        clusterName=read.take("clusterName"),
        nodegroupName=read.take("nodeGroupName"),
        nodeRole=read.take("nodeRoleArn"),
        subnets=read.take("subnetIds"),
        scalingConfig=read.take("scalingConfig"),
        instanceTypes=read.take("instanceTypes"),
        capacityType=read.take("capacityType"),
        amiType=read.take("amiType"),
        version=read.take("version"),
        releaseVersion=read.take("releaseVersion"),
        launchTemplate=read.take("launchTemplate"),
        labels=read.take("labels"),
        taints=read.take("taints"),
        updateConfig=read.take("updateConfig"),
        tags=read.take("tags"),
    )
    update = given(
        clusterName=params["clusterName"],
        nodegroupName=params["nodegroupName"],
        force=read.take("forceUpdateVersion"),
    )
    return [Request("eks", "CreateNodegroup", params), Request("eks", "UpdateNodegroupVersion", update, "update")]


def _pod_identity_association(read: Reader) -> list[Request]:
    names = ("clusterName", "namespace", "serviceAccount", "roleArn", "tags")
    return [Request("eks", "CreatePodIdentityAssociation", given(**{name: read.take(name) for name in names}))]


def _group_tag(read: Reader) -> list[Request]:
    tag = capital(read.take("tag"))
    group = read.take("autoscalingGroupName")
    tags = [{**tag, "ResourceId": group, "ResourceType": "auto-scaling-group"}]
    return [Request("autoscaling", "CreateOrUpdateTags", {"Tags": tags})]


def _tag(read: Reader) -> list[Request]:
    tags = [{"Key": read.take("key"), "Value": read.take("value")}]
    return [Request("ec2", "CreateTags", {"Resources": [read.take("resourceId")], "Tags": tags})]


def _bucket(read: Reader) -> list[Request]:
    prefix, tags = read.take("bucketPrefix"), read.take("tags")
    read.take("forceDestroy")
    # As Terraform makes it unique: by a moment and a counter.
    name = f"{prefix}{20260101000000000000000000 + zlib.crc32(read.name.encode()):026d}"
    return [
        Request("s3", "CreateBucket", {"Bucket": name}),
        Request("s3", "PutBucketTagging", {"Bucket": name, "Tagging": {"TagSet": listed(tags)}}),
    ]


def _public_access_block(read: Reader) -> list[Request]:
    names = ("blockPublicAcls", "ignorePublicAcls", "blockPublicPolicy", "restrictPublicBuckets")
    bucket = read.take("bucket")
    configuration = capital({name: read.take(name) for name in names})
    params = {"Bucket": bucket, "PublicAccessBlockConfiguration": configuration}
    return [Request("s3", "PutPublicAccessBlock", params)]


def _encryption(read: Reader) -> list[Request]:
    rules = [
        {
            "ApplyServerSideEncryptionByDefault": {
                "SSEAlgorithm": rule["applyServerSideEncryptionByDefault"]["sseAlgorithm"]
            }
        }
        for rule in read.take("rules")
    ]
    params = {"Bucket": read.take("bucket"), "ServerSideEncryptionConfiguration": {"Rules": rules}}
    return [Request("s3", "PutBucketEncryption", params)]


def _bucket_policy(read: Reader) -> list[Request]:
    return [Request("s3", "PutBucketPolicy", given(Bucket=read.take("bucket"), Policy=read.take("policy")))]


_BY_TYPE: dict[str, Callable[[Reader], list[Request]]] = {
    "aws:autoscaling/tag:Tag": _group_tag,
    "aws:cloudwatch/logGroup:LogGroup": _log_group,
    "aws:cloudwatch/logStream:LogStream": _log_stream,
    "aws:ec2/eip:Eip": _address,
    "aws:ec2/internetGateway:InternetGateway": _internet_gateway,
    "aws:ec2/launchTemplate:LaunchTemplate": _launch_template,
    "aws:ec2/natGateway:NatGateway": _nat_gateway,
    "aws:ec2/placementGroup:PlacementGroup": _placement_group,
    "aws:ec2/route:Route": _route,
    "aws:ec2/routeTable:RouteTable": _route_table,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": _route_table_association,
    "aws:ec2/securityGroup:SecurityGroup": _security_group,
    "aws:ec2/subnet:Subnet": _subnet,
    "aws:ec2/tag:Tag": _tag,
    "aws:ec2/vpc:Vpc": _vpc,
    "aws:ec2/vpcEndpoint:VpcEndpoint": _vpc_endpoint,
    "aws:eks/accessEntry:AccessEntry": _access_entry,
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation": _access_policy,
    "aws:eks/addon:Addon": _addon,
    "aws:eks/cluster:Cluster": _control_plane,
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _pod_identity_association,
    "aws:iam/role:Role": _role,
    "aws:iam/rolePolicy:RolePolicy": _role_policy,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": _role_policy_attachment,
    "aws:s3/bucket:Bucket": _bucket,
    "aws:s3/bucketPolicy:BucketPolicy": _bucket_policy,
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock": _public_access_block,
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration": _encryption,
    "aws:scheduler/schedule:Schedule": _schedule,
    "aws:scheduler/scheduleGroup:ScheduleGroup": _schedule_group,
    "aws:sqs/queue:Queue": _queue,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _security_group_rule("AuthorizeSecurityGroupEgress"),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _security_group_rule("AuthorizeSecurityGroupIngress"),
    "eks:index:Cluster": _cluster,
}


def requests(type_: str, inputs: Inputs, name: str = "some") -> list[Request]:
    """Return the requests by which a resource of this type comes to be.

    Args:
        type_: its type.
        inputs: as the program sets them.
        name: what it is called where the program leaves that open.

    Raises:
        KeyError: nobody has written down what the type's requests are.
        UnreadError: it has an input that none of them carries.
    """
    read = Reader(inputs, name)
    found = _BY_TYPE[type_](read)
    read.done()
    return found
