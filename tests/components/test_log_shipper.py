"""The collector as a daemon set: where it is, what it may, and what comes before and after it."""

import copy
import json
from functools import cache
from typing import Any

import pytest

from experiment.catalogue.addons import addons
from experiment.plan.pods import deployed_addons
from tests.components.aws.stack import settings as on_eks
from tests.experiment.stacks import settings_of
from tests.recording import Recording, Registered, run, stack_settings

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
VOLUME = "kubernetes:core/v1:PersistentVolume"
CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"
LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
CHART = "kubernetes:helm.sh/v4:Chart"
KINDS = ("cloudwatch", "files")


@cache
def recorded(kind: str) -> Recording:
    if kind == "files":
        given = copy.deepcopy(stack_settings("rehearsal-split"))
        return run(given | {"logs": {"kind": "files", "image": "registry.example/collector:1"}})
    return run(on_eks(logs={"kind": "cloudwatch"}))


@pytest.fixture(params=KINDS)
def recording(request: pytest.FixtureRequest) -> Recording:
    return recorded(request.param)


def daemon_set(recording: Recording) -> Registered:
    (found,) = [each for each in recording.of_type(DAEMON_SET) if "log-shipper" in each.name]
    return found


def pod(recording: Recording) -> Any:
    return daemon_set(recording).inputs["spec"]["template"]["spec"]


def configuration(recording: Recording) -> Any:
    (found,) = [each for each in recording.of_type(CONFIG_MAP) if "log-shipper" in each.name]
    return json.loads(found.inputs["data"]["collector.json"])


def test_without_logs_there_is_no_shipper() -> None:
    assert run(stack_settings("rehearsal-split")).of_type("splitbed:index:LogShipper") == []


def test_no_engine_starts_before_every_node_ships(recording: Recording) -> None:
    assert daemon_set(recording).urn in recording.one(LWS).dependencies
    (container,) = pod(recording)["containers"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/", "port": 13133}
    assert configuration(recording)["extensions"]["health_check"]["endpoint"].endswith(":13133")


def test_it_outlives_the_controller_where_things_go_one_by_one() -> None:
    given, ours = recorded("files"), recorded("cloudwatch")
    assert daemon_set(given).urn in given.one(CHART).dependencies
    assert daemon_set(ours).urn not in ours.one(CHART).dependencies, (
        "it goes with the cluster, and may come when it can"
    )


def test_it_is_on_every_node_whatever_its_taints(recording: Recording) -> None:
    spec = pod(recording)
    assert spec["tolerations"] == [{"operator": "Exists"}]
    affinity = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    groups = [
        (each["matchExpressions"][0]["key"], each["matchExpressions"][0]["values"])
        for each in affinity["nodeSelectorTerms"]
    ]
    assert groups == [("splitbed.dev/group", ["system"]), ("splitbed.dev/group", ["engine"])]


def test_it_asks_for_what_the_plan_counts(recording: Recording) -> None:
    counted = addons()["log-shipper"]
    quantities = {"cpu": f"{counted.cpu_millicores}m", "memory": f"{counted.memory_mib}Mi"}
    (container,) = pod(recording)["containers"]
    assert container["resources"] == {"requests": quantities, "limits": quantities}
    limit = next(int(each["value"]) for each in container["env"] if each["name"] == "GOMEMLIMIT")
    assert limit < counted.memory_mib * 1024**2


def test_it_may_what_the_owner_of_the_logs_may_and_nothing_else(recording: Recording) -> None:
    spec = pod(recording)
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsUser"] == 0
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert not any("hostPath" in volume for volume in spec["volumes"]), "the namespace admits none"


def test_nothing_is_asked_of_the_api(recording: Recording) -> None:
    assert pod(recording)["automountServiceAccountToken"] is False
    assert "k8sattributes" not in json.dumps(configuration(recording))


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("cloudwatch", {"/var/lib/splitbed/log-shipper/exp-some-split": "/kept"}),
        (
            "files",
            {
                "/var/lib/splitbed/log-shipper/exp-rehearsal-split": "/kept",
                "/var/log/splitbed/exp-rehearsal-split": "/files",
            },
        ),
    ],
)
def test_what_is_kept_outlives_the_pod(kind: str, written: dict[str, str]) -> None:
    recording = recorded(kind)
    found = mounted(recording)
    assert {path: at for path, (at, reads) in found.items() if not reads} == written
    assert {path: at for path, (at, reads) in found.items() if reads} == {"/var/log/pods": "/var/log/pods"}
    for volume in recording.of_type(VOLUME):
        if "log-shipper" in volume.name:
            assert volume.inputs["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
            assert "nodeAffinity" not in volume.inputs["spec"], "each pod mounts its own node's"


def mounted(recording: Recording) -> dict[str, tuple[str, bool]]:
    """Return the directories of a node, with where the collector sees each and whether it may only read it."""
    paths = {
        each.inputs["metadata"]["name"]: each.inputs["spec"]["hostPath"]["path"] for each in recording.of_type(VOLUME)
    }
    of_claim = {
        each.inputs["metadata"]["name"]: paths[each.inputs["spec"]["volumeName"]] for each in recording.of_type(CLAIM)
    }
    spec = pod(recording)
    claims = {each["name"]: each["persistentVolumeClaim"] for each in spec["volumes"] if "configMap" not in each}
    return {
        of_claim[claims[mount["name"]]["claimName"]]: (mount["mountPath"], mount.get("readOnly", False))
        for mount in spec["containers"][0]["volumeMounts"]
        if mount["name"] in claims
    }


def test_its_files_are_where_a_kubelet_hands_them_out() -> None:
    (exporter,) = configuration(recorded("files"))["exporters"].values()
    assert exporter["path"].startswith("/files/")
    assert "/var/log/splitbed/exp-rehearsal-split" in mounted(recorded("files"))


def test_its_right_to_write_is_there_before_it() -> None:
    recording = recorded("cloudwatch")
    needed = set(daemon_set(recording).dependencies)
    for kind in ("aws:eks/podIdentityAssociation:PodIdentityAssociation", "aws:cloudwatch/logStream:LogStream"):
        mine = [each for each in recording.of_type(kind) if "pod-log" in each.name]
        assert len(mine) == 1
        assert mine[0].urn in needed
    association = next(
        each
        for each in recording.of_type("aws:eks/podIdentityAssociation:PodIdentityAssociation")
        if "pod-log" in each.name
    )
    assert association.inputs["serviceAccount"] == pod(recording)["serviceAccountName"]
    assert association.inputs["namespace"] == daemon_set(recording).inputs["metadata"]["namespace"]


def test_it_waits_for_the_nodes_that_it_is_to_be_on() -> None:
    recording = recorded("cloudwatch")
    groups = {each.urn for each in recording.of_type("aws:eks/nodeGroup:NodeGroup")}
    assert len(groups) == 2
    assert groups <= set(daemon_set(recording).dependencies)


def test_another_configuration_starts_other_pods() -> None:
    first, second = recorded("cloudwatch"), run(on_eks(logs={"kind": "files"}))
    names = {volume["configMap"]["name"] for each in (first, second) for volume in pod(each)["volumes"][:1]}
    assert len(names) == 2


def test_a_new_run_starts_no_collector_again() -> None:
    other = run(on_eks(logs={"kind": "cloudwatch"}, benchmark__run="2"))
    assert daemon_set(other).inputs == daemon_set(recorded("cloudwatch")).inputs


def test_its_image_is_the_settings() -> None:
    (container,) = pod(recorded("files"))["containers"]
    assert container["image"] == "registry.example/collector:1"
    (container,) = pod(recorded("cloudwatch"))["containers"]
    assert "opentelemetry-collector-contrib:0.165.1@sha256:" in container["image"], "from the lock file"


def test_the_plan_counts_it_on_a_cluster_that_was_given_too() -> None:
    assert deployed_addons(settings_of("rehearsal-split")) == ()
    shipped = settings_of("rehearsal-split", logs={"kind": "files"})
    assert [each.name for each in deployed_addons(shipped)] == ["log-shipper"]
