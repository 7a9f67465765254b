"""One thing of each kind in moto, as an experiment leaves it."""

from contextlib import suppress
from typing import Any

from experiment import names, ownership
from tests.cloud.conftest import SESSION
from tests.cloud.unplayed import Unplayed

END = "2026-12-31T18:00:00+01:00"
TRUST = (
    '{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, '
    '"Action": "sts:AssumeRole"}}'
)
POLICY = '{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}}'


def tags_of(experiment: str, end: str = END) -> dict[str, str]:
    return {
        ownership.EXPERIMENT: experiment,
        ownership.OWNER: "Ada",
        ownership.PURPOSE: "to see",
        ownership.END_DATE: end,
    }


def listed(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def plant(unplayed: Unplayed, experiment: str, region: str, end: str = END) -> set[tuple[str, str]]:
    """Make one thing of each kind, and return kind and id of each."""
    return _Planter(unplayed, experiment, region, end).all()


class _Planter:
    def __init__(self, unplayed: Unplayed, experiment: str, region: str, end: str) -> None:
        self.unplayed, self.region, self.experiment, self.end = unplayed, region, experiment, end
        self.tags = tags_of(experiment, end)
        self.cluster = names.object_name(experiment)
        self.made: set[tuple[str, str]] = set()
        self.ec2: Any = self.client("ec2")

    def client(self, service: str) -> Any:
        return SESSION.client(service, region_name=self.region)  # type: ignore[call-overload]

    def spec(self, kind: str) -> Any:
        return [{"ResourceType": kind, "Tags": listed(self.tags)}]

    def all(self) -> set[tuple[str, str]]:
        self.network()
        self.compute()
        self.kubernetes()
        self.rest()
        return self.made

    def add(self, kind: str, name: str) -> str:
        self.made.add((kind, name))
        return name

    def network(self) -> None:
        ec2 = self.ec2
        self.vpc = self.add(
            "VPC", ec2.create_vpc(CidrBlock="10.0.0.0/16", TagSpecifications=self.spec("vpc"))["Vpc"]["VpcId"]
        )
        subnet = ec2.create_subnet(
            VpcId=self.vpc,
            CidrBlock="10.0.0.0/24",
            AvailabilityZone=f"{self.region}a",
            TagSpecifications=self.spec("subnet"),
        )
        self.subnet = self.add("subnet", subnet["Subnet"]["SubnetId"])
        groups = [
            ec2.create_security_group(
                GroupName=name, Description="d", VpcId=self.vpc, TagSpecifications=self.spec("security-group")
            )["GroupId"]
            for name in ("one", "other")
        ]
        for one, other in (groups, groups[::-1]):
            self.add("security group", one)
            ec2.authorize_security_group_ingress(
                GroupId=one, IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": other}]}]
            )
        gateway = ec2.create_internet_gateway(TagSpecifications=self.spec("internet-gateway"))["InternetGateway"]
        ec2.attach_internet_gateway(
            InternetGatewayId=self.add("internet gateway", gateway["InternetGatewayId"]), VpcId=self.vpc
        )
        routes = ec2.create_route_table(VpcId=self.vpc, TagSpecifications=self.spec("route-table"))["RouteTable"]
        ec2.associate_route_table(RouteTableId=self.add("route table", routes["RouteTableId"]), SubnetId=self.subnet)
        address = ec2.allocate_address(Domain="vpc", TagSpecifications=self.spec("elastic-ip"))["AllocationId"]
        nat = ec2.create_nat_gateway(
            SubnetId=self.subnet,
            AllocationId=self.add("public address", address),
            TagSpecifications=self.spec("natgateway"),
        )
        self.add("NAT gateway", nat["NatGateway"]["NatGatewayId"])
        endpoint = ec2.create_vpc_endpoint(
            VpcId=self.vpc,
            VpcEndpointType="Gateway",
            ServiceName=f"com.amazonaws.{self.region}.s3",
            TagSpecifications=self.spec("vpc-endpoint"),
        )
        self.add("endpoint", endpoint["VpcEndpoint"]["VpcEndpointId"])
        interface = ec2.create_network_interface(SubnetId=self.subnet, TagSpecifications=self.spec("network-interface"))
        self.add("network interface", interface["NetworkInterface"]["NetworkInterfaceId"])
        balancer = self.client("elbv2").create_load_balancer(
            Name=self.experiment[:20], Subnets=[self.subnet, self._second_subnet()], Tags=listed(self.tags)
        )
        self.add("load balancer", balancer["LoadBalancers"][0]["LoadBalancerArn"])
        self.client("elb").create_load_balancer(
            LoadBalancerName=self.add("classic load balancer", f"c-{self.experiment}"[:30]),
            Listeners=[{"Protocol": "tcp", "LoadBalancerPort": 80, "InstancePort": 80}],
            Subnets=[self.subnet],
            Tags=listed(self.tags),
        )

    def _second_subnet(self) -> str:
        made = self.ec2.create_subnet(
            VpcId=self.vpc,
            CidrBlock="10.0.1.0/24",
            AvailabilityZone=f"{self.region}b",
            TagSpecifications=self.spec("subnet"),
        )
        return self.add("subnet", made["Subnet"]["SubnetId"])

    def compute(self) -> None:
        ec2 = self.ec2
        image = ec2.register_image(Name=f"image-{self.experiment}", RootDeviceName="/dev/xvda")["ImageId"]
        started = ec2.run_instances(
            ImageId=image,
            MinCount=1,
            MaxCount=1,
            SubnetId=self.subnet,
            TagSpecifications=[*self.spec("instance"), *self.spec("volume")],
        )["Instances"][0]
        self.instance = self.add("instance", started["InstanceId"])
        for one in ec2.describe_volumes(Filters=[{"Name": "attachment.instance-id", "Values": [self.instance]}])[
            "Volumes"
        ]:
            self.add("volume", one["VolumeId"])
        for one in ec2.describe_network_interfaces()["NetworkInterfaces"]:
            if one.get("Attachment", {}).get("InstanceId") == self.instance:
                self.add("network interface", one["NetworkInterfaceId"])  # untagged, as EC2 makes it
        loose = ec2.create_volume(AvailabilityZone=f"{self.region}a", Size=1, TagSpecifications=self.spec("volume"))
        self.add("volume", loose["VolumeId"])
        template = ec2.create_launch_template(
            LaunchTemplateName=f"lt-{self.experiment}",
            LaunchTemplateData={"ImageId": image, "InstanceType": "m7g.large"},
            TagSpecifications=self.spec("launch-template"),
        )["LaunchTemplate"]["LaunchTemplateId"]
        self.add("launch template", template)
        scaling = self.add("auto scaling group", f"eks-engine-{self.experiment}")
        self.client("autoscaling").create_auto_scaling_group(
            AutoScalingGroupName=scaling,
            LaunchTemplate={"LaunchTemplateId": template},
            MinSize=0,
            MaxSize=1,
            DesiredCapacity=0,
            VPCZoneIdentifier=self.subnet,
            Tags=[
                {**tag, "ResourceId": scaling, "ResourceType": "auto-scaling-group", "PropagateAtLaunch": True}
                for tag in listed(self.tags)
            ],
        )
        self.unplayed.placement_groups[self.region, self.add("placement group", f"pg-{self.experiment}")] = self.tags

    def kubernetes(self) -> None:
        iam, eks = self.client("iam"), self.client("eks")
        role = iam.create_role(
            RoleName=self.add("role", f"role-{self.experiment}"), AssumeRolePolicyDocument=TRUST, Tags=listed(self.tags)
        )["Role"]["Arn"]
        iam.put_role_policy(RoleName=f"role-{self.experiment}", PolicyName="own", PolicyDocument=POLICY)
        eks.create_cluster(
            name=self.add("cluster", self.cluster),
            version="1.34",
            roleArn=role,
            resourcesVpcConfig={"subnetIds": [self.subnet]},
            tags=self.tags,
        )
        eks.create_nodegroup(
            clusterName=self.cluster,
            nodegroupName="system",
            subnets=[self.subnet],
            nodeRole=role,
            scalingConfig={"minSize": 0, "maxSize": 1, "desiredSize": 0},
            tags=self.tags,
        )
        self.add("node group", f"{self.cluster}/system")
        self.unplayed.addons[self.region, self.cluster, "coredns"] = self.tags
        self.add("add-on", f"{self.cluster}/coredns")
        self.unplayed.associations[self.region, self.cluster, "a-1"] = self.tags
        self.add("pod identity", f"{self.cluster}/a-1")

    def rest(self) -> None:
        logs, scheduler = self.client("logs"), self.client("scheduler")
        logs.create_log_group(logGroupName=self.add("log group", f"/splitbed/{self.cluster}"), tags=self.tags)
        # As EKS makes it anew: with nobody's tags.
        with suppress(logs.exceptions.ResourceAlreadyExistsException):  # where EKS is played, it has made it
            logs.create_log_group(logGroupName=self.add("log group", f"/aws/eks/{self.cluster}/cluster"))
        group = scheduler.create_schedule_group(Name=self.add("schedule group", self.cluster))["ScheduleGroupArn"]
        scheduler.tag_resource(ResourceArn=group, Tags=listed(self.tags))  # moto forgets those given at creation
        scheduler.create_schedule(
            Name="end-engine",
            GroupName=self.cluster,
            ScheduleExpression="at(2026-12-31T17:00:00)",
            ScheduleExpressionTimezone="UTC",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={
                "Arn": "arn:aws:scheduler:::aws-sdk:eks:updateNodegroupConfig",
                "RoleArn": "arn:aws:iam::123456789012:role/r",
            },
        )
        self.add("schedule", f"{self.cluster}/end-engine")
        queue = self.client("sqs").create_queue(QueueName=f"q-{self.experiment}", tags=self.tags)["QueueUrl"]
        self.add("queue", queue)
        s3 = self.client("s3")
        bucket = self.add("bucket", f"{self.cluster}-{self.region}-results")
        where = {} if self.region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": self.region}}
        s3.create_bucket(Bucket=bucket, **where)
        s3.put_bucket_tagging(Bucket=bucket, Tagging={"TagSet": listed(self.tags)})
        s3.put_object(Bucket=bucket, Key="run/1/record.json", Body=b"{}")
