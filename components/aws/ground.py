"""Everything below Kubernetes, for an experiment with a cluster of its own."""

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from components import security
from components.aws.addons import Addons, AddonsArgs
from components.aws.cluster import Cluster, ClusterArgs
from components.aws.end_date import EndDate, EndDateArgs
from components.aws.network import Network, NetworkArgs
from components.aws.node_group import NodeGroup, NodeGroupArgs
from components.aws.node_role import NodeRole, NodeRoleArgs
from components.aws.pod_log import PodLog, PodLogArgs
from experiment import machines, names, ownership
from experiment.catalogue.instances import instance_type
from experiment.cluster import EksCluster
from experiment.nodes import GroupName, InstanceGroup
from experiment.pins import ADDONS_AFTER_NODES, ADDONS_BEFORE_NODES, Pins
from experiment.settings import Settings


class Ground(pulumi.ComponentResource):
    """Network, cluster, add-ons, nodes and what ends them, in this order where there must be one.

    Attributes:
        cluster_name: the cluster's name, known beforehand.
        kubernetes: the provider of what is in the cluster.
        control_plane: what everything in the cluster goes with.
        system: what must be there before a pod of the system group.
        engine: what must be there before a pod of the engine group.
        names: what must be there before a pod that looks others up by name.
        pod_log: where the logs of the experiment's pods go; none if CloudWatch is not to have them.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        cluster: EksCluster,
        pins: Pins,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("splitbed:index:Ground", name, None, opts)
        self._name, self._settings, self._cluster, self._pins = name, settings, cluster, pins
        self._child = pulumi.ResourceOptions(parent=self)
        self._called = self.cluster_name = names.object_name(settings.name)
        self._tags = ownership.tags(settings)
        self._network = Network(
            f"{name}-network",
            NetworkArgs(
                called=self._called,
                region=cluster.region,
                zones=cluster.zones,
                network=cluster.network,
                tags=self._tags,
            ),
            self._child,
        )
        made = self._make_cluster()
        self.kubernetes, self.control_plane = made.kubernetes, made.control_plane
        before = self._addons("addons-before-nodes", ADDONS_BEFORE_NODES, [self.control_plane])
        role = NodeRole(
            f"{name}-node-role",
            NodeRoleArgs(cluster_name=self._called, region=cluster.region, tags=self._tags),
            self._child,
        )
        ready = [*self._network.ways_out, self.control_plane, before, role, *self._end_date()]
        system = self._nodes("system", role, ready)
        engine = self._nodes("engine", role, ready)
        after = self._addons("addons-after-nodes", ADDONS_AFTER_NODES, [self.control_plane, system.node_group])
        self.system: Sequence[pulumi.Resource] = [system.node_group]
        self.engine: Sequence[pulumi.Resource] = [engine.node_group]
        self.names: Sequence[pulumi.Resource] = [after.by_name["coredns"]]
        self.pod_log = self._pod_log()
        self.register_outputs({})

    def _make_cluster(self) -> Cluster:
        cluster = self._cluster
        return Cluster(
            f"{self._name}-cluster",
            ClusterArgs(
                cluster_name=self._called,
                region=cluster.region,
                version=cluster.version,
                vpc_id=self._network.vpc_id,
                subnet_ids=self._network.subnet_ids,
                endpoint=cluster.endpoint,
                admins=cluster.admins,
                log_retention_days=cluster.log_retention_days,
                tags=self._tags,
            ),
            self._child,
        )

    def _addons(self, what: str, addons: Sequence[str], after: Sequence[pulumi.Resource]) -> Addons:
        return Addons(
            f"{self._name}-{what}",
            AddonsArgs(
                cluster_name=self._called,
                versions={addon: self._pins.addon(self._cluster.version, addon) for addon in addons},
                after=after,
                tags=self._tags,
            ),
            self._child,
        )

    def _end_date(self) -> Sequence[pulumi.Resource]:
        settings = self._settings
        if settings.end_date is None:  # seen by previews alone: nothing is made without an end
            return []
        return EndDate(
            f"{self._name}-end-date",
            EndDateArgs(
                experiment=settings.name,
                region=self._cluster.region,
                cluster_name=self._called,
                end=settings.end_date,
                groups={name: self._group(name).count for name in _GROUPS},
                topic_arn=self._cluster.warn_topic,
                tags=self._tags,
            ),
            self._child,
        ).schedules

    def _nodes(self, which: GroupName, role: NodeRole, after: Sequence[pulumi.Resource]) -> NodeGroup:
        group = self._group(which)
        instance = instance_type(group.instance)
        subnets = self._network.subnet_ids
        return NodeGroup(
            f"{self._name}-{which}",
            NodeGroupArgs(
                group_name=which,
                group=group,
                architecture=instance.architecture,
                gpus=instance.gpus,
                cluster_name=self._called,
                version=self._cluster.version,
                release=self._pins.release(
                    self._cluster.version, machines.ami_type(instance.architecture, instance.gpus)
                ),
                role_arn=role.arn,
                subnet_ids=subnets if group.spread else subnets[:1],
                user_data=self._user_data() if which == "engine" else "",
                efa_security_group=self._efa() if group.efa else None,
                after=after,
                tags=self._tags,
            ),
            self._child,
        )

    def _pod_log(self) -> PodLog | None:
        logs = self._settings.logs
        if logs.kind != "cloudwatch":
            return None
        return PodLog(
            f"{self._name}-pod-log",
            PodLogArgs(
                experiment=self._settings.name,
                cluster_name=self._called,
                retention_days=logs.retention_days,
                after=[self.control_plane],
                tags=self._tags,
            ),
            self._child,
        )

    def _group(self, which: GroupName) -> InstanceGroup:
        group = self._settings.nodes.system if which == "system" else self._settings.nodes.engine
        if not isinstance(group, InstanceGroup):
            raise ValueError(f"nodes.{which} names no instance type; `load` has refused such settings")
        return group

    def _user_data(self) -> str:
        settings = self._settings
        return machines.user_data(
            directories=[machines.WEIGHTS] if settings.model.weights.cache == "node" else [],
            owner=security.USER,
            kubelet=machines.STATIC_CPU_MANAGER if settings.engine.threads == "whole-cores" else {},
        )

    def _efa(self) -> pulumi.Output[str]:
        """Return the cluster's security group, once it also lets nodes send to each other by its own name.

        Its rule to everywhere is not enough for EFA, whose packets have no IP addresses.
        """
        group: pulumi.Output[str] = self.control_plane.cluster_security_group_id
        aws.vpc.SecurityGroupEgressRule(
            f"{self._name}-efa",
            security_group_id=group,
            referenced_security_group_id=group,
            ip_protocol="-1",
            description="EFA between the nodes",
            tags=self._tags,
            opts=self._child,
        )
        return group


_GROUPS: tuple[GroupName, ...] = ("system", "engine")
