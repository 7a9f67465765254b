"""A small cluster in the doubles' account, made resource by resource."""

from collections.abc import Sequence

from tests.rehearsal.aws.driver import TAGS, Driver, Values

TRUST = (
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, '
    '"Action": "sts:AssumeRole"}]}'
)


def network(aws: Driver) -> Values:
    vpc = aws.create("aws:ec2/vpc:Vpc", "vpc", cidrBlock="10.42.0.0/16", enableDnsSupport=True, tags=TAGS)
    return aws.create(
        "aws:ec2/subnet:Subnet",
        "subnet",
        vpcId=vpc["id"],
        availabilityZone="us-east-1a",
        cidrBlock="10.42.0.0/20",
        mapPublicIpOnLaunch=False,
        tags=TAGS,
    )


def template(aws: Driver, **more: object) -> Values:
    return aws.create(
        "aws:ec2/launchTemplate:LaunchTemplate",
        "template",
        blockDeviceMappings=[{"deviceName": "/dev/xvda", "ebs": {"volumeSize": 20, "volumeType": "gp3"}}],
        metadataOptions={"httpTokens": "required"},
        tagSpecifications=[{"resourceType": kind, "tags": TAGS} for kind in ("instance", "volume")],
        tags=TAGS,
        **more,
    )


def cluster(aws: Driver, **more: object) -> Values:
    subnet = network(aws)
    role = aws.create("aws:iam/role:Role", "role", assumeRolePolicy=TRUST, description="d", tags=TAGS)
    return aws.create(
        "aws:eks/cluster:Cluster",
        "cluster",
        **{
            "name": "exp-some",
            "roleArn": role["arn"],
            "version": "1.34",
            "enabledClusterLogTypes": ["api"],
            "vpcConfig": {"subnetIds": [subnet["id"]]},
            "accessConfig": {"authenticationMode": "API"},
            "tags": TAGS,
            **more,
        },
    )


def cni(aws: Driver) -> Values:
    return aws.create(
        "aws:eks/addon:Addon",
        "cni",
        clusterName="exp-some",
        addonName="vpc-cni",
        addonVersion="v1.20.4-eksbuild.1",
        configurationValues='{"env": {"ADDITIONAL_ENI_TAGS": "{\\"splitbed:experiment\\": \\"some\\"}"}}',
        preserve=True,
        resolveConflictsOnCreate="OVERWRITE",
        resolveConflictsOnUpdate="OVERWRITE",
        tags=TAGS,
    )


def node_group(aws: Driver, interfaces: Sequence[object] = (), **more: object) -> Values:
    made = template(aws, **({"networkInterfaces": interfaces} if interfaces else {}))
    return aws.create(
        "aws:eks/nodeGroup:NodeGroup",
        "nodes",
        **{
            "clusterName": "exp-some",
            "nodeGroupName": "engine",
            "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes",
            "subnetIds": [aws.ids["subnet"]],
            "scalingConfig": {"minSize": 0, "maxSize": 2, "desiredSize": 2},
            "instanceTypes": ["m7g.2xlarge"],
            "capacityType": "ON_DEMAND",
            "amiType": "AL2023_ARM_64_STANDARD",
            "launchTemplate": {"id": made["id"], "version": str(made["latestVersion"])},
            "labels": {"splitbed.dev/group": "engine"},
            "tags": TAGS,
            **more,
        },
    )
