"""Every stack on EKS, and variants of one, under the recording monitor: what is made in AWS, in which order."""

import base64
import json
from collections.abc import Iterable
from functools import cache
from typing import Any

import pulumi
import pytest

from experiment.catalogue.addons import addons
from experiment.pins import ADDONS_AFTER_NODES, ADDONS_BEFORE_NODES
from experiment.plan.money import ENDPOINTS
from experiment.plan.pods import deployed_addons
from policies.rules.tags import UNTAGGABLE
from tests.components.aws.stack import settings
from tests.experiment.stacks import settings_of, text_of
from tests.recording import PINS, STACKS, Recording, Registered, recorded, run, stack_settings

OWN = tuple(stack for stack in STACKS if stack_settings(stack)["cluster"]["kind"] == "eks")
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ADDON = "aws:eks/addon:Addon"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
SCHEDULE = "aws:scheduler/schedule:Schedule"
LOG_GROUP = "aws:cloudwatch/logGroup:LogGroup"
CONTROL_PLANE = "eks:index:Cluster"


@cache
def usual() -> Recording:
    return run(settings())


def varied(**changes: Any) -> Recording:
    return run(settings(**changes))


def other(stack: str, **changes: Any) -> Recording:
    """Run a tracked stack with values changed."""
    return run(json.loads(text_of(stack, **changes)))


@pytest.fixture(params=OWN)
def recording(request: pytest.FixtureRequest) -> Recording:
    return recorded(request.param)


def by_group(recording: Recording, token: str) -> dict[str, Registered]:
    """Resources of a type by the node group whose they are."""
    return {
        group: resource
        for group in ("system", "engine")
        for resource in recording.of_type(token)
        if f"-{group}-" in resource.name
    }


def before(recording: Recording, resource: Registered) -> set[str]:
    """Names of all that is there before a resource, whatever the way; a child comes after its parent's dependencies."""
    by_urn = {each.urn: each for each in recording.resources}
    reached: set[str] = set()
    todo = [resource.urn]
    while todo:
        here = by_urn[todo.pop()]
        for urn in [*here.dependencies, here.parent]:
            if urn in by_urn and urn not in reached:
                reached.add(urn)
                todo.append(urn)
    return {by_urn[urn].name for urn in reached}


def names(resources: Iterable[Registered]) -> set[str]:
    return {resource.name for resource in resources}


def test_there_are_stacks_on_eks() -> None:
    assert {"gemma-1b-split", "gemma-12b-split", "llama-70b-tp2x2"} <= set(OWN)


def test_everything_that_can_be_tagged_is(recording: Recording) -> None:
    for resource in recording.resources:
        if resource.type.startswith(("aws:", CONTROL_PLANE)) and resource.type not in UNTAGGABLE:
            tags = resource.inputs["tags"]
            assert {"splitbed:experiment", "splitbed:owner", "splitbed:purpose", "splitbed:end-date"} <= set(tags), (
                resource.label
            )
            assert tags["splitbed:end-date"] == stack_settings("gemma-1b-split")["end_date"].replace("Z", "+00:00")


def test_the_organisations_own_tags_are_everywhere_with_their_values_filled_in() -> None:
    for resource in usual().resources:
        if resource.type.startswith("aws:") and resource.type not in UNTAGGABLE:
            assert resource.inputs["tags"]["CostCenter"] == "1234", resource.label
            assert resource.inputs["tags"]["auto-delete"] == "2100-12-31T18:00:00+01:00", resource.label


def test_instances_and_volumes_are_born_with_tags_that_stay_as_they_were(recording: Recording) -> None:
    templates = recording.of_type(TEMPLATE)
    assert len(templates) == 2
    for template in templates:
        kinds = {each["resourceType"]: each["tags"] for each in template.inputs["tagSpecifications"]}
        assert kinds == {"instance": template.inputs["tags"], "volume": template.inputs["tags"]}
        assert template.ignore_changes == ("tagSpecifications",)


def test_a_moved_end_date_recycles_no_node() -> None:
    later = varied(end_date="2101-01-31T18:00:00+01:00")
    old = {resource.urn: resource for resource in usual().resources}
    for resource in later.of_type(TEMPLATE):
        seen = {key: value for key, value in resource.inputs.items() if key not in resource.ignore_changes}
        assert {key: value for key, value in old[resource.urn].inputs.items() if key in seen} | {
            "tags": resource.inputs["tags"]
        } == seen
    for resource in later.of_type(NODE_GROUP):
        changed = {key for key, value in resource.inputs.items() if old[resource.urn].inputs[key] != value}
        assert changed == {"tags"}
    assert {resource.inputs["scheduleExpression"] for resource in later.of_type(SCHEDULE)} == {
        "at(2101-01-31T17:00:00)"
    }
    assert {resource.urn for resource in later.resources} == set(old), "another end date is no other resource"


def test_network_interfaces_of_pods_are_tagged(recording: Recording) -> None:
    (cni,) = [addon for addon in recording.of_type(ADDON) if addon.inputs["addonName"] == "vpc-cni"]
    configuration = json.loads(cni.inputs["configurationValues"])
    assert json.loads(configuration["env"]["ADDITIONAL_ENI_TAGS"]) == cni.inputs["tags"]


def test_the_groups_own_tags_reach_later_instances(recording: Recording) -> None:
    for group, nodes in by_group(recording, NODE_GROUP).items():
        tags = [
            each.inputs["tag"]
            for each in recording.of_type("aws:autoscaling/tag:Tag")
            if each.inputs["autoscalingGroupName"] == f"eks-{group}-0"
        ]
        assert {tag["key"]: tag["value"] for tag in tags} == nodes.inputs["tags"]
        assert all(tag["propagateAtLaunch"] for tag in tags)


def test_tags_of_what_eks_makes_go_with_it(recording: Recording) -> None:
    """Of a group or a cluster that somebody has deleted there is nothing left to untag, which AWS calls an error."""
    groups = {nodes.urn for nodes in by_group(recording, NODE_GROUP).values()}
    assert {each.deleted_with for each in recording.of_type("aws:autoscaling/tag:Tag")} == groups
    (plane,) = {each.deleted_with for each in recording.of_type("aws:ec2/tag:Tag")}
    assert plane == recording.one(CONTROL_PLANE).urn


def test_launch_templates_leave_to_eks_what_is_its_own(recording: Recording) -> None:
    for template in recording.of_type(TEMPLATE):
        assert not {
            "imageId", "instanceType", "vpcSecurityGroupIds", "securityGroupNames", "iamInstanceProfile",
            "instanceMarketOptions",
        } & set(template.inputs)  # fmt: skip
        (device,) = template.inputs["blockDeviceMappings"]
        assert device["ebs"]["encrypted"] == "true"
        assert device["ebs"]["volumeType"] == "gp3"
        assert device["ebs"]["deleteOnTermination"] == "true"
        options = template.inputs["metadataOptions"]
        assert options["httpTokens"] == "required"
        assert options["httpPutResponseHopLimit"] == 1, "pods do not get the node's rights"


def test_node_groups_use_their_templates_in_a_stated_version(recording: Recording) -> None:
    for group, nodes in by_group(recording, NODE_GROUP).items():
        template = by_group(recording, TEMPLATE)[group]
        assert nodes.inputs["launchTemplate"] == {"id": f"{template.name}-id", "version": "1"}
        assert "diskSize" not in nodes.inputs
        assert nodes.inputs["scalingConfig"]["minSize"] == 0
        assert nodes.inputs["updateConfig"] == {"maxUnavailablePercentage": 100}
        assert nodes.delete_before_replace, "the name is fixed"


def test_everything_that_has_a_version_has_it_pinned(recording: Recording) -> None:
    pins = json.loads(PINS.read_text())
    addons = {addon.inputs["addonName"]: addon.inputs["addonVersion"] for addon in recording.of_type(ADDON)}
    assert addons == pins["addons"]["1.34"]
    assert set(addons) == {*ADDONS_BEFORE_NODES, *ADDONS_AFTER_NODES}
    for nodes in recording.of_type(NODE_GROUP):
        assert nodes.inputs["releaseVersion"] == pins["releases"]["1.34"][nodes.inputs["amiType"]]
        assert nodes.inputs["version"] == "1.34"
    assert recording.one(CONTROL_PLANE).inputs["version"] == "1.34"


def test_what_ends_the_nodes_is_there_before_them(recording: Recording) -> None:
    ends = recording.of_type(SCHEDULE)
    assert {end.inputs["name"] for end in ends} == {"end-system", "end-engine"}
    for nodes in recording.of_type(NODE_GROUP):
        assert names(ends) <= before(recording, nodes)


def test_a_topic_is_told_a_day_before() -> None:
    topic = "arn:aws:sns:us-east-1:123456789012:deadlines"
    recording = varied(cluster__warn_topic=topic)
    (warning,) = [each for each in recording.of_type(SCHEDULE) if each.inputs["name"] == "warning"]
    assert warning.inputs["scheduleExpression"] == "at(2100-12-30T17:00:00)"
    assert warning.inputs["target"]["arn"] == topic
    assert "some-split in us-east-1 ends at 2100-12-31 17:00 UTC" in warning.inputs["target"]["input"]
    assert warning.before_create == ("warning",), "what AWS would refuse is said before anything is made"
    (policy,) = [each for each in recording.of_type("aws:iam/rolePolicy:RolePolicy") if "-end-date-" in each.name]
    assert {"Effect": "Allow", "Action": ["sns:Publish"], "Resource": [topic]} in json.loads(policy.inputs["policy"])[
        "Statement"
    ]


def test_a_bucket_is_kept_only_if_the_stack_says_so() -> None:
    kept = varied(benchmark__results={"kind": "s3", "keep": True})
    for recording, keep in ((kept, True), (usual(), False)):
        parts = [each for each in recording.resources if each.type.startswith("aws:s3/")]
        assert len(parts) == 4
        assert {part.retained for part in parts} == {keep}
        (bucket,) = recording.of_type("aws:s3/bucket:Bucket")
        assert bucket.inputs["forceDestroy"] is not keep
        assert ("splitbed:kept" in bucket.inputs["tags"]) is keep


def test_the_network_outlives_the_nodes(recording: Recording) -> None:
    cni = [addon for addon in recording.of_type(ADDON) if addon.inputs["addonName"] in ADDONS_BEFORE_NODES]
    for nodes in recording.of_type(NODE_GROUP):
        assert {addon.urn for addon in cni} <= set(nodes.dependencies), "destroy goes by the state's own dependencies"
    assert all(addon.inputs["preserve"] for addon in recording.of_type(ADDON))


def test_the_control_plane_comes_after_its_log_and_before_all_in_it(recording: Recording) -> None:
    plane = recording.one(CONTROL_PLANE)
    (log,) = [
        log for log in recording.of_type(LOG_GROUP) if log.inputs["name"] == f"/aws/eks/{plane.inputs['name']}/cluster"
    ]
    assert log.inputs["retentionInDays"] == 30
    assert log.urn in plane.dependencies
    for resource in [*recording.of_type(ADDON), *recording.of_type(NODE_GROUP)]:
        assert plane.urn in resource.dependencies, resource.label


def test_the_pods_log_has_its_own_group_with_an_end() -> None:
    recording = varied(logs={"kind": "cloudwatch", "retention_days": 7})
    (stream,) = recording.of_type("aws:cloudwatch/logStream:LogStream")
    assert stream.inputs == {"name": "pods", "logGroupName": "/splitbed/exp-some-split"}
    kept = {log.inputs["name"]: log.inputs["retentionInDays"] for log in recording.of_type(LOG_GROUP)}
    assert kept == {"/splitbed/exp-some-split": 7, "/aws/eks/exp-some-split/cluster": 14}


def test_add_ons_that_need_a_node_come_after_one(recording: Recording) -> None:
    system = by_group(recording, NODE_GROUP)["system"]
    for addon in recording.of_type(ADDON):
        assert (system.urn in addon.dependencies) == (addon.inputs["addonName"] in ADDONS_AFTER_NODES)


def test_serving_waits_for_its_nodes_and_for_names(recording: Recording) -> None:
    (leader_worker_set,) = recording.of_type("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet")
    earlier = before(recording, leader_worker_set)
    assert by_group(recording, NODE_GROUP)["engine"].name in earlier
    assert any(name.endswith("-coredns") for name in earlier)
    assert not any(name.endswith("-metrics-server") for name in earlier), "nothing is waited for that is not needed"


def test_namespaces_do_not_wait_for_nodes(recording: Recording) -> None:
    for namespace in recording.of_type("kubernetes:core/v1:Namespace"):
        assert not names(recording.of_type(NODE_GROUP)) & before(recording, namespace)


def test_what_is_in_the_cluster_goes_with_it(recording: Recording) -> None:
    plane = recording.one(CONTROL_PLANE)
    by_urn = {resource.urn: resource for resource in recording.resources}
    for resource in recording.resources:
        if resource.type.startswith("kubernetes:"):
            above: Registered | None = resource
            while above is not None and not above.deleted_with:  # the engine hands it down
                above = by_urn.get(above.parent)
            assert above is not None, resource.label
            assert above.deleted_with == plane.urn


def test_nothing_makes_what_outlives_the_cluster(recording: Recording) -> None:
    for resource in recording.of_type("kubernetes:core/v1:Service"):
        assert resource.inputs["spec"]["type"] == "ClusterIP"
    volumes = {one.inputs["metadata"]["name"] for one in recording.of_type("kubernetes:core/v1:PersistentVolume")}
    for claim in recording.of_type("kubernetes:core/v1:PersistentVolumeClaim"):
        assert claim.inputs["spec"]["storageClassName"] == "", "of no class that makes a volume"
        assert claim.inputs["spec"]["volumeName"] in volumes
    for volume in recording.of_type("kubernetes:core/v1:PersistentVolume"):
        assert "hostPath" in volume.inputs["spec"], volume.label


def test_the_control_plane_is_closed_and_plain(recording: Recording) -> None:
    inputs = recording.one(CONTROL_PLANE).inputs
    assert inputs["authenticationMode"] == "API"
    assert inputs["endpointPrivateAccess"] is True
    assert inputs["endpointPublicAccess"] is False
    assert "publicAccessCidrs" not in inputs
    assert inputs["providerCredentialOpts"] == {}, "nobody's profile, and not the one at hand"
    assert inputs["skipDefaultNodeGroup"] is True
    assert inputs["skipDefaultSecurityGroups"] is True
    assert inputs["createOidcProvider"] is False
    assert inputs["bootstrapSelfManagedAddons"] is False


def test_the_security_group_that_eks_makes_gets_all_tags(recording: Recording) -> None:
    found = {one.inputs["key"]: one.inputs["value"] for one in recording.of_type("aws:ec2/tag:Tag")}
    assert found == recording.one(CONTROL_PLANE).inputs["tags"]
    assert {one.inputs["resourceId"] for one in recording.of_type("aws:ec2/tag:Tag")} == {"sg-0123456789abcdef0"}


def test_a_public_endpoint_is_for_the_named_ranges_and_admins_have_entries() -> None:
    inputs = usual().one(CONTROL_PLANE).inputs
    assert inputs["endpointPublicAccess"] is True
    assert inputs["publicAccessCidrs"] == ["203.0.113.0/24"]
    (entry,) = inputs["accessEntries"].values()
    assert entry["principalArn"] == "arn:aws:iam::123456789012:role/ops/Admin"
    assert entry["accessPolicies"]["admin"]["policyArn"].endswith(":cluster-access-policy/AmazonEKSClusterAdminPolicy")


def test_the_provider_acts_in_one_region_and_account_and_holds_no_credentials() -> None:
    inputs = usual().one("pulumi:providers:aws").inputs
    assert inputs["region"] == "us-east-1"
    assert json.loads(inputs["allowedAccountIds"]) == ["123456789012"]
    assert not {"profile", "accessKey", "secretKey", "token"} & set(inputs)


def test_nodes_are_in_one_zone_unless_their_group_is_spread() -> None:
    subnets = [f"testbed-ground-network-private-us-east-1{zone}-id" for zone in "ab"]
    assert {
        group: nodes.inputs["subnetIds"]
        for group, nodes in by_group(
            varied(nodes__engine__spread=True, topology={"kind": "replicas", "count": 2}), NODE_GROUP
        ).items()
    } == {"system": subnets[:1], "engine": subnets}


def test_nodes_wait_for_their_way_out() -> None:
    for nodes in usual().of_type(NODE_GROUP):
        assert {"testbed-ground-network-nat-private-route", "testbed-ground-network-endpoints-s3"} <= before(
            usual(), nodes
        )


def test_endpoints_instead_of_a_gateway() -> None:
    ecr = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
    recording = varied(
        cluster__network={"kind": "new", "egress": "endpoints"},
        engine__image=f"{ecr}/engine@sha256:{'0' * 64}",
        lws={"mode": "install", "image": f"{ecr}/lws@sha256:{'0' * 64}"},
        model__weights={"source": "s3", "uri": "s3://some-weights/gemma"},
    )
    assert recording.of_type("aws:ec2/natGateway:NatGateway") == []
    assert recording.of_type("aws:ec2/internetGateway:InternetGateway") == []
    services = {endpoint.inputs["serviceName"] for endpoint in recording.of_type("aws:ec2/vpcEndpoint:VpcEndpoint")}
    assert {f"com.amazonaws.us-east-1.{name}" for name in ("s3", "ecr.api", "ecr.dkr", "ec2", "sts", "eks-auth")} <= (
        services
    )
    # Those that are priced are those that are made.
    assert services == {f"com.amazonaws.us-east-1.{name}" for name in ("s3", *ENDPOINTS)}
    (rule,) = recording.of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    assert rule.inputs["cidrIpv4"] == "10.42.0.0/16"


def test_nothing_is_made_in_a_network_that_is_there() -> None:
    subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
    recording = varied(cluster__network={"kind": "existing", "vpc": "vpc-0123456789abcdef0", "subnets": subnets})
    made = {resource.type for resource in recording.resources if resource.type.startswith("aws:ec2/")}
    assert made == {TEMPLATE, "aws:ec2/tag:Tag"}
    assert recording.one(CONTROL_PLANE).inputs["privateSubnetIds"] == subnets
    assert {tuple(nodes.inputs["subnetIds"]) for nodes in recording.of_type(NODE_GROUP)} == {(subnets[0],)}


def user_data(recording: Recording, group: str) -> str:
    encoded = by_group(recording, TEMPLATE)[group].inputs.get("userData", "")
    return base64.b64decode(encoded).decode()


def test_whole_cores_come_by_the_kubelets_static_cpu_manager() -> None:
    pinned = recorded("gemma-1b-split-pinned")
    assert '"cpuManagerPolicy": "static"' in user_data(pinned, "engine")
    assert user_data(pinned, "system") == ""
    assert "cpuManagerPolicy" not in user_data(recorded("gemma-1b-split"), "engine")


def test_the_weights_directory_is_made_at_node_start() -> None:
    assert "chown 65532:65532 /var/lib/splitbed/weights" in user_data(recorded("gemma-1b-split"), "engine")
    assert user_data(usual(), "engine") == ""


def test_nodes_with_gpus_have_their_image_a_taint_and_the_plugin() -> None:
    recording = recorded("llama-70b-tp2x2")
    groups = by_group(recording, NODE_GROUP)
    assert groups["engine"].inputs["amiType"] == "AL2023_x86_64_NVIDIA"
    assert groups["engine"].inputs["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert groups["system"].inputs["amiType"] == "AL2023_x86_64_STANDARD"
    assert "taints" not in groups["system"].inputs
    (plugin,) = plugins(recording)
    assert plugin.inputs["spec"]["template"]["spec"]["tolerations"] == [{"operator": "Exists"}]
    (leader_worker_set,) = recording.of_type("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet")
    assert plugin.urn in leader_worker_set.dependencies


def daemon_set(recording: Recording, called: str) -> Registered:
    (found,) = [
        each for each in recording.of_type("kubernetes:apps/v1:DaemonSet") if each.inputs["metadata"]["name"] == called
    ]
    return found


@cache
def with_devices() -> Recording:
    """Two nodes of GPUs with all that may look at their devices."""
    return other("llama-70b-tp2pp2", nodes__engine__efa=True, observe={"dcgm": True})


def test_with_the_fabric_a_node_has_one_interface_of_it_on_its_first_card() -> None:
    recording = with_devices()
    template = by_group(recording, TEMPLATE)
    assert template["engine"].inputs["networkInterfaces"] == [
        {
            "deleteOnTermination": "true",
            "deviceIndex": 0,
            "interfaceType": "efa",
            "networkCardIndex": 0,
            "securityGroups": ["sg-0123456789abcdef0"],
        }
    ]
    assert "networkInterfaces" not in template["system"].inputs


def test_the_fabrics_plugin_is_there_before_the_pods_that_ask_for_it() -> None:
    recording = with_devices()
    plugin = daemon_set(recording, "aws-efa-k8s-device-plugin")
    spec = plugin.inputs["spec"]["template"]["spec"]
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert {volume["hostPath"]["path"] for volume in spec["volumes"]} == {
        "/dev/infiniband",
        "/var/lib/kubelet/device-plugins",
    }
    (leader_worker_set,) = recording.of_type("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet")
    assert plugin.urn in leader_worker_set.dependencies
    templates = leader_worker_set.inputs["spec"]["leaderWorkerTemplate"]
    for role in ("leaderTemplate", "workerTemplate"):
        (engine,) = templates[role]["spec"]["containers"]
        for amounts in (engine["resources"]["requests"], engine["resources"]["limits"]):
            assert (amounts["vpc.amazonaws.com/efa"], amounts["nvidia.com/gpu"]) == ("1", "2")
        assert {"name": "FI_PROVIDER", "value": "efa"} in engine["env"]


def test_without_the_fabric_nothing_asks_for_it() -> None:
    recording = recorded("llama-70b-tp2pp2")
    assert "vpc.amazonaws.com/efa" not in json.dumps([dict(each.inputs) for each in recording.resources])
    assert [each.inputs["metadata"]["name"] for each in plugins(recording)] == ["nvidia-device-plugin"]


@pytest.mark.parametrize("called", ["nvidia-device-plugin", "aws-efa-k8s-device-plugin", "dcgm-exporter"])
def test_what_looks_at_devices_asks_for_what_the_plan_counts(called: str) -> None:
    counted = addons()[called]
    fabric = {"nodes__engine__efa": True, "observe": {"dcgm": True}}
    assert called in [each.name for each in deployed_addons(settings_of("llama-70b-tp2pp2", **fabric))]
    spec = daemon_set(with_devices(), called).inputs["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    quantities = {"cpu": f"{counted.cpu_millicores}m", "memory": f"{counted.memory_mib}Mi"}
    assert container["resources"] == {"requests": quantities, "limits": quantities}
    assert spec.get("hostNetwork", False) is counted.host_network
    assert spec.get("priorityClassName") == counted.priority
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_gpus_are_watched_only_where_that_is_asked_for() -> None:
    plain = recorded("llama-70b-tp4x1")
    assert "dcgm" not in json.dumps([dict(each.inputs) for each in plain.resources])
    recording = with_devices()
    exporter = daemon_set(recording, "dcgm-exporter")
    (container,) = exporter.inputs["spec"]["template"]["spec"]["containers"]
    assert container["securityContext"]["capabilities"] == {"add": ["SYS_ADMIN"], "drop": ["ALL"]}
    assert "nvidia.com/gpu" not in container["resources"]["limits"], "it would take a GPU from the engine"
    (leader_worker_set,) = recording.of_type("kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet")
    assert exporter.urn in leader_worker_set.dependencies


def test_nodes_without_gpus_have_none_of_it() -> None:
    recording = recorded("gemma-1b-split")
    assert {nodes.inputs["amiType"] for nodes in recording.of_type(NODE_GROUP)} == {"AL2023_ARM_64_STANDARD"}
    assert not any("taints" in nodes.inputs for nodes in recording.of_type(NODE_GROUP))
    assert plugins(recording) == []


def plugins(recording: Recording) -> list[Registered]:
    return [each for each in recording.of_type("kubernetes:apps/v1:DaemonSet") if "device-plugin" in each.name]


def test_spot_and_reservations_are_asked_for_where_eks_wants_them() -> None:
    spot = varied(nodes__engine__purchase="spot")
    assert by_group(spot, NODE_GROUP)["engine"].inputs["capacityType"] == "SPOT"
    reserved = varied(nodes__engine__purchase="reservation", nodes__engine__reservation="cr-0123456789abcdef0")
    assert by_group(reserved, NODE_GROUP)["engine"].inputs["capacityType"] == "ON_DEMAND"
    assert by_group(reserved, TEMPLATE)["engine"].inputs["capacityReservationSpecification"] == {
        "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}
    }
    assert "capacityReservationSpecification" not in by_group(reserved, TEMPLATE)["system"].inputs


def test_nodes_close_together_are_in_a_placement_group() -> None:
    recording = varied(nodes__engine__placement_group=True)
    (group,) = recording.of_type("aws:ec2/placementGroup:PlacementGroup")
    assert group.inputs["strategy"] == "cluster"
    placement = by_group(recording, TEMPLATE)["engine"].inputs["placement"]
    assert placement["groupName"].startswith(group.name)


def test_without_an_end_nothing_is_made_but_a_preview_shows_all_the_rest() -> None:
    without = settings()
    del without["end_date"]
    (refusal,) = run(without).resources
    assert refusal.before_create == ("unready",)
    assert "end_date" in refusal.inputs["input"]
    preview = run(without, preview=True)
    assert len(preview.of_type(NODE_GROUP)) == 2
    assert preview.of_type(SCHEDULE) == []
    assert "splitbed:end-date" not in preview.one(CONTROL_PLANE).inputs["tags"]


def test_without_pins_nothing_is_made_but_a_preview_shows_it(tmp_path: Any) -> None:
    nowhere = tmp_path / "pins.lock.json"
    (refusal,) = run(settings(), pins=nowhere).resources
    assert "version of the add-on vpc-cni" in refusal.inputs["input"]
    assert "digest of the image vllm.invalid/engine:v0.31.0" in refusal.inputs["input"]
    preview = run(settings(), pins=nowhere, preview=True)
    assert not any("addonVersion" in addon.inputs for addon in preview.of_type(ADDON))


def test_a_broken_lock_file_is_said_in_a_sentence(tmp_path: Any) -> None:
    broken = tmp_path / "pins.lock.json"
    broken.write_text('{"addons": {"1.34": {"vpc-cni": "newest"}}}')
    with pytest.raises(pulumi.RunError) as refusal:
        run(settings(), pins=broken)
    assert "addons.1.34.vpc-cni" in str(refusal.value)
    assert "splitbed pin" in str(refusal.value)
