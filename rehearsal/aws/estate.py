"""What AWS does by itself around clusters and node groups: instances, their interfaces, groups that start them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from moto.backends import get_backend

from rehearsal.aws.kinds.logs import group_of
from rehearsal.aws.kubernetes import Kubernetes, Node
from rehearsal.aws.parts import Parts
from rehearsal.aws.requests import ACCOUNT, listed
from rehearsal.aws.services import Services

_ALIVE = {"Name": "instance-state-name", "Values": ["pending", "running"]}
_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
NO_CAPACITY = (
    "Could not launch On-Demand Instances. InsufficientInstanceCapacity - We currently do not have sufficient capacity "
    "in the Availability Zone you requested. Launching EC2 instance failed."
)
_CLUSTER_TAG, _GROUP_TAG = "eks:cluster-name", "eks:nodegroup-name"


@dataclass
class Estate:
    """Follows what is asked of EKS in one region, as `front.Front` tells it."""

    services: Services
    parts: Parts
    kubernetes: Kubernetes
    _lock: RLock = field(default_factory=RLock)
    _capacity: dict[str, tuple[int, str]] = field(default_factory=dict)

    def limit(self, instance_type: str, most: int | None, why: str = NO_CAPACITY) -> None:
        """Let no more than so many new instances of a type be had, or again as many as anybody wants.

        Args:
            instance_type: such as `m7g.2xlarge`.
            most: None for no limit.
            why: what Auto Scaling says when the next one is asked for.
        """
        if most is None:
            self._capacity.pop(instance_type, None)
        else:
            self._capacity[instance_type] = most, why

    def done(self, method: str, path: str) -> None:
        """Act on what EKS has been asked for."""
        with self._lock:
            found = re.fullmatch(r"/clusters(?:/(?P<cluster>[^/]+)(?:/node-groups(?:/(?P<group>[^/]+).*)?)?)?", path)
            if found is None:
                return
            cluster, group = found["cluster"], found["group"]
            if path == "/clusters":
                for name in set(self._moto().clusters) - self._known():
                    self._cluster_made(name)
            elif method == "DELETE" and group is None:
                self._cluster_gone(cluster)
            elif path.endswith("/node-groups"):
                for name, one in list(self._moto().clusters[cluster].nodegroups.items()):
                    self._start_group(cluster, name, one)
                    self.settle(cluster, name)
            elif group is not None and method == "DELETE":
                self._group_gone(cluster, group)
            elif group is not None:
                self.settle(cluster, group)

    def _moto(self) -> Any:
        return get_backend("eks")[ACCOUNT][self.services.region]

    def _known(self) -> set[str]:
        return {name for name, one in list(self._moto().clusters.items()) if hasattr(one, "rehearsed")}

    def _cluster_made(self, name: str) -> None:
        cluster = self._moto().clusters[name]
        cluster.rehearsed = True
        cluster.endpoint, data = self.kubernetes.up(name)
        cluster.certificate_authority = {"data": data}
        config = cluster.resources_vpc_config
        subnet = self.services.ask("ec2", "DescribeSubnets", SubnetIds=config["subnetIds"][:1])["Subnets"][0]
        config["vpcId"] = subnet["VpcId"]
        tags = {"aws:eks:cluster-name": name, "Name": f"eks-cluster-sg-{name}"}
        made = self.services.ask(
            "ec2",
            "CreateSecurityGroup",
            GroupName=f"eks-cluster-sg-{name}-1",
            Description="EKS created security group applied to ENI that is attached to EKS Control Plane master nodes",
            VpcId=subnet["VpcId"],
        )
        # AWS's own keys are for AWS alone: they are put where moto would refuse them.
        group: Any = get_backend("ec2")[ACCOUNT][self.services.region].get_security_group_from_id(made["GroupId"])
        group.add_tags(tags)
        config["clusterSecurityGroupId"] = made["GroupId"]
        groups = self.services.ask("logs", "DescribeLogGroups", logGroupNamePrefix=group_of(name))["logGroups"]
        if not groups:
            self.services.ask("logs", "CreateLogGroup", logGroupName=group_of(name))

    def _cluster_gone(self, name: str) -> None:
        self.parts.forget(name)
        self.kubernetes.down(name)
        for one in self.services.ask("ec2", "DescribeSecurityGroups")["SecurityGroups"]:
            if {"Key": "aws:eks:cluster-name", "Value": name} in one.get("Tags", []):
                self.services.ask("ec2", "DeleteSecurityGroup", GroupId=one["GroupId"])

    def _start_group(self, cluster: str, name: str, group: Any) -> None:
        if hasattr(group, "rehearsed"):
            return
        group.rehearsed = True
        scaling = group.resources["autoScalingGroups"][0]["name"]
        tags = [
            {**tag, "ResourceId": scaling, "ResourceType": "auto-scaling-group", "PropagateAtLaunch": True}
            for tag in listed({_CLUSTER_TAG: cluster, _GROUP_TAG: name, f"kubernetes.io/cluster/{cluster}": "owned"})
        ]
        image = self.services.ask("ec2", "RegisterImage", Name=scaling, RootDeviceName="/dev/xvda")["ImageId"]
        template = self.services.ask(
            "autoscaling",
            "CreateLaunchConfiguration",
            LaunchConfigurationName=scaling,
            ImageId=image,
            InstanceType=group.instance_types[0],
        )
        assert template is not None  # noqa: S101
        self.services.ask(
            "autoscaling",
            "CreateAutoScalingGroup",
            AutoScalingGroupName=scaling,
            LaunchConfigurationName=scaling,
            MinSize=0,
            MaxSize=group.scaling_config["maxSize"],
            DesiredCapacity=0,
            VPCZoneIdentifier=",".join(group.subnets),
            Tags=tags,
        )

    def settle(self, cluster: str, name: str) -> None:
        """Give a group as many nodes as it is to have."""
        group = self._moto().clusters[cluster].nodegroups[name]
        wanted = int(group.scaling_config["desiredSize"])
        alive = self.instances(cluster, name)
        for one in alive[wanted:]:
            self._end_instance(cluster, one)
        for number in range(len(alive), wanted):
            if why := self._refusal(group.instance_types[0]):
                scaling = group.resources["autoScalingGroups"][0]["name"]
                issue = {"code": "AsgInstanceLaunchFailures", "message": why, "resourceIds": [scaling]}
                group.status = "DEGRADED" if hasattr(group, "settled") else "CREATE_FAILED"
                group.health = {"issues": [issue]}
                return
            self._start_instance(cluster, name, group, number)
        if group.status != "CREATE_FAILED":  # which it stays until it is deleted
            group.settled = True
            group.status, group.health = "ACTIVE", {"issues": []}

    def replace(self, cluster: str, instance: str) -> None:
        """End an instance as if it had failed; its group starts another in its place."""
        with self._lock:
            (found,) = [one for one in self.instances(cluster) if one["InstanceId"] == instance]
            self._end_instance(cluster, found)
            self.settle(cluster, _tags(found)[_GROUP_TAG])

    def instances(self, cluster: str, group: str | None = None) -> list[dict[str, Any]]:
        """Return the instances of a cluster, or of one of its groups, that live."""
        filters = [_ALIVE, {"Name": f"tag:{_CLUSTER_TAG}", "Values": [cluster]}]
        if group is not None:
            filters.append({"Name": f"tag:{_GROUP_TAG}", "Values": [group]})
        found = self.services.ask("ec2", "DescribeInstances", Filters=filters)["Reservations"]
        return [one for reservation in found for one in reservation["Instances"]]

    def _refusal(self, kind: str) -> str | None:
        """Return why no further instance of this type is to be had; None if one is, which then is taken."""
        if kind not in self._capacity:
            return None
        most, why = self._capacity[kind]
        if not most:
            return why
        self._capacity[kind] = most - 1, why
        return None

    def _start_instance(self, cluster: str, name: str, group: Any, number: int) -> None:
        kind = group.instance_types[0]
        scaling = group.resources["autoScalingGroups"][0]["name"]
        template = self._template(group)
        born = self._born_with(template, scaling)
        image = self.services.ask("ec2", "DescribeImages", Filters=[{"Name": "name", "Values": [scaling]}])["Images"]
        started = self.services.ask(
            "ec2",
            "RunInstances",
            ImageId=image[0]["ImageId"],
            InstanceType=kind,
            MinCount=1,
            MaxCount=1,
            SubnetId=group.subnets[number % len(group.subnets)],
            TagSpecifications=[{"ResourceType": what, "Tags": listed(tags)} for what, tags in born.items() if tags],
        )["Instances"][0]
        self._interfaces(cluster, started)
        self.kubernetes.node_up(
            cluster,
            Node(
                name=started["PrivateDnsName"],
                instance=started["InstanceId"],
                instance_type=kind,
                zone=started["Placement"]["AvailabilityZone"],
                labels={
                    "eks.amazonaws.com/nodegroup": name,
                    "eks.amazonaws.com/capacityType": group.capacity_type,
                    **group.labels,
                },
                taints=[(one["key"], one.get("value", ""), _EFFECTS[one["effect"]]) for one in group.taints or ()],
                efa=sum(one.get("InterfaceType") == "efa" for one in template.get("NetworkInterfaces", [])),
            ),
        )

    def _template(self, group: Any) -> Mapping[str, Any]:
        """Return what the group's launch template says of an instance; nothing if the group has none."""
        if not group.launch_template:
            return {}
        version = self.services.ask(
            "ec2",
            "DescribeLaunchTemplateVersions",
            LaunchTemplateId=group.launch_template["id"],
            Versions=[str(group.launch_template["version"])],
        )["LaunchTemplateVersions"][0]
        data: Mapping[str, Any] = version["LaunchTemplateData"]
        return data

    def _born_with(self, template: Mapping[str, Any], scaling: str) -> dict[str, dict[str, str]]:
        """Return the tags of a new instance and its volume: the template's, and over them the group's on the first."""
        born: dict[str, dict[str, str]] = {"instance": {}, "volume": {}}
        for one in template.get("TagSpecifications", []):
            born[one["ResourceType"]] = _listed(one["Tags"])
        found = self.services.ask("autoscaling", "DescribeAutoScalingGroups", AutoScalingGroupNames=[scaling])
        born["instance"] |= _listed(found["AutoScalingGroups"][0]["Tags"])
        return born

    def _interfaces(self, cluster: str, instance: Mapping[str, Any]) -> None:
        """Do as the CNI add-on does: tag the first interface, and add a second one for pods' addresses."""
        addon = self.parts.addons.get((cluster, "vpc-cni"))
        if addon is None:
            return
        settings = json.loads(addon["configurationValues"] or "{}").get("env", {})
        tags = json.loads(settings.get("ADDITIONAL_ENI_TAGS", "{}")) | {
            "cluster.k8s.amazonaws.com/name": cluster,
            "node.k8s.amazonaws.com/instance_id": instance["InstanceId"],
        }
        first = instance["NetworkInterfaces"][0]["NetworkInterfaceId"]
        self.services.ask("ec2", "CreateTags", Resources=[first], Tags=listed(tags))
        second = self.services.ask(
            "ec2",
            "CreateNetworkInterface",
            SubnetId=instance["SubnetId"],
            TagSpecifications=[{"ResourceType": "network-interface", "Tags": listed(tags)}],
        )["NetworkInterface"]["NetworkInterfaceId"]
        self.services.ask(
            "ec2", "AttachNetworkInterface", NetworkInterfaceId=second, InstanceId=instance["InstanceId"], DeviceIndex=1
        )

    def _end_instance(self, cluster: str, instance: Mapping[str, Any]) -> None:
        """End an instance. Its second interface goes too, while the CNI add-on is there to see to that."""
        name = instance["InstanceId"]
        self.kubernetes.node_down(cluster, instance["PrivateDnsName"])
        filters = [{"Name": "attachment.instance-id", "Values": [name]}]
        interfaces = self.services.ask("ec2", "DescribeNetworkInterfaces", Filters=filters)["NetworkInterfaces"]
        self.services.ask("ec2", "TerminateInstances", InstanceIds=[name])
        for one in interfaces:
            attachment = one["Attachment"]
            if attachment["DeviceIndex"] == 0:  # it goes with its instance, which moto forgets
                get_backend("ec2")[ACCOUNT][self.services.region].enis.pop(one["NetworkInterfaceId"], None)
                continue
            self.services.ask("ec2", "DetachNetworkInterface", AttachmentId=attachment["AttachmentId"], Force=True)
            if (cluster, "vpc-cni") in self.parts.addons:
                self.services.ask("ec2", "DeleteNetworkInterface", NetworkInterfaceId=one["NetworkInterfaceId"])

    def _group_gone(self, cluster: str, name: str) -> None:
        for one in self.instances(cluster, name):
            self._end_instance(cluster, one)
        for one in self.services.ask("autoscaling", "DescribeAutoScalingGroups")["AutoScalingGroups"]:
            tags = _listed(one["Tags"])
            if (tags.get(_CLUSTER_TAG), tags.get(_GROUP_TAG)) == (cluster, name):
                scaling = one["AutoScalingGroupName"]
                self.services.ask(
                    "autoscaling", "DeleteAutoScalingGroup", AutoScalingGroupName=scaling, ForceDelete=True
                )
                self.services.ask("autoscaling", "DeleteLaunchConfiguration", LaunchConfigurationName=scaling)
                self._forget_image(scaling)

    def _forget_image(self, name: str) -> None:
        for image in self.services.ask("ec2", "DescribeImages", Filters=[{"Name": "name", "Values": [name]}])["Images"]:
            self.services.ask("ec2", "DeregisterImage", ImageId=image["ImageId"])


def _listed(tags: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {one["Key"]: one["Value"] for one in tags}


def _tags(instance: Mapping[str, Any]) -> dict[str, str]:
    return _listed(instance.get("Tags", []))
