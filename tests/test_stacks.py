"""Every stack file runs the whole program under a recording monitor."""

import copy
import json
from typing import Any

import pulumi
import pytest

from experiment.asked import Asked
from experiment.images import REHEARSED
from tests import golden
from tests.recording import ROOT, STACKS, Recording, Registered, recorded, run, stack_settings

LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
JOB = "kubernetes:batch/v1:Job"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1"
GIVEN = tuple(stack for stack in STACKS if stack_settings(stack)["cluster"]["kind"] == "kubeconfig")
MOVING_TAGS = ("latest", "main", "master")


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest) -> Recording:
    return recorded(request.param)


def varied(stack: str, **changes: Any) -> Recording:
    """Run a stack with some of its values changed, named by dotted path with `__` for dots."""
    settings = copy.deepcopy(stack_settings(stack))
    for path, value in changes.items():
        *above, last = path.split("__")
        place = settings
        for key in above:
            place = place[key]
        place[last] = value
    return run(settings)


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in strings(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in strings(inner)]
    return [value] if isinstance(value, str) else []


def images(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["image"]] if isinstance(value.get("image"), str) else []
        return own + [image for inner in value.values() for image in images(inner)]
    if isinstance(value, list):
        return [image for inner in value for image in images(inner)]
    return []


def changed(before: Recording, after: Recording) -> dict[str, tuple[Registered | None, Registered | None]]:
    """Resources that were added, removed, or whose inputs the engine would see as another."""
    old, new = ({resource.urn: resource for resource in recording.resources} for recording in (before, after))
    return {
        urn: (old.get(urn), new.get(urn))
        for urn in old.keys() | new.keys()
        if urn not in old or urn not in new or seen(old[urn]) != seen(new[urn])
    }


def seen(resource: Registered) -> dict[str, Any]:
    """The inputs that the engine compares: not those that it is told to ignore."""
    return {key: value for key, value in resource.inputs.items() if key not in resource.ignore_changes}


def test_there_are_stacks_to_run() -> None:
    assert {"rehearsal-single", "rehearsal-split"} <= set(STACKS)


def test_main_fits_on_a_screen() -> None:
    assert len((ROOT / "__main__.py").read_text().splitlines()) <= 40


def test_no_urn_is_used_twice(recording: Recording) -> None:
    urns = [resource.urn for resource in recording.resources]
    assert len(urns) > 10
    assert sorted(urns) == sorted(set(urns))


def test_every_resource_is_below_a_component(recording: Recording) -> None:
    components = {resource.urn for resource in recording.resources if resource.type.startswith("splitbed:")}
    loose = [
        resource.label
        for resource in recording.resources
        if resource.parent not in components and not resource.type.startswith("pulumi:providers:")
    ]
    assert loose == ["splitbed:index:Testbed testbed"]


def test_every_child_is_named_after_its_parent(recording: Recording) -> None:
    names = {resource.urn: resource.name for resource in recording.resources}
    assert [
        resource.label
        for resource in recording.resources
        if resource.parent in names and not resource.name.startswith(f"{names[resource.parent]}-")
    ] == []


def test_every_resource_names_its_packages_one_provider(recording: Recording) -> None:
    """A component has none of its own; its children name theirs."""
    found = {}
    for resource in recording.resources:
        package = resource.type.partition(":")[0]
        if package in ("aws", "kubernetes"):
            provider = recording.one(f"pulumi:providers:{package}")
            if resource.provider != f"{provider.urn}::{provider.name}-id":
                found[resource.label] = resource.provider
    assert found == {}


def test_default_providers_are_disabled() -> None:
    assert "pulumi:disable-default-providers:\n    value: [aws, kubernetes]" in (ROOT / "Pulumi.yaml").read_text()


@pytest.mark.parametrize("stack", GIVEN)
def test_the_provider_of_a_given_cluster_holds_a_path_and_a_context_only(stack: str) -> None:
    inputs = recorded(stack).one("pulumi:providers:kubernetes").inputs
    assert set(inputs) <= {"kubeconfig", "context"}
    assert inputs["kubeconfig"].startswith("/")


def test_nothing_is_protected_or_retained_but_results_that_are_meant_to_stay(recording: Recording) -> None:
    stays = [resource for resource in recording.resources if resource.protect or resource.retained]
    assert [resource.label for resource in stays if not resource.type.startswith("aws:s3/")] == []
    assert [resource.label for resource in stays if resource.protect] == []


def test_every_image_and_chart_is_pinned(recording: Recording) -> None:
    found = [image for resource in recording.resources for image in images(resource.inputs)]
    assert len(found) >= 2
    for image in found:
        name, _, digest = image.partition("@")
        tag = name.rpartition("/")[2].partition(":")[2]
        assert tag, image
        assert tag not in MOVING_TAGS, image
        on_eks = recording.of_type("splitbed:index:Ground") != []
        assert digest or not on_eks or image.startswith(f"{REHEARSED}/"), image
    chart = recording.one("kubernetes:helm.sh/v4:Chart").inputs
    assert chart["version"] == "0.9.0"
    assert chart["values"]["image"]["manager"]["tag"].partition("@")[0] == "v0.9.0"


def test_nothing_is_privileged(recording: Recording) -> None:
    for resource in [*recording.of_type(LWS), recording.one(JOB)]:
        for pod in pod_specs(resource.inputs["spec"]):
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert pod["automountServiceAccountToken"] is False
            assert pod["enableServiceLinks"] is False
            assert not any("hostPath" in volume for volume in pod["volumes"])
            for container in [*pod["containers"], *pod.get("initContainers", [])]:
                assert container["securityContext"] == {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "readOnlyRootFilesystem": True,
                }
                assert container["resources"]["requests"] == container["resources"]["limits"]


def pod_specs(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        own = [value] if "containers" in value else []
        return own + [pod for inner in value.values() for pod in pod_specs(inner)]
    if isinstance(value, list):
        return [pod for inner in value for pod in pod_specs(inner)]
    return []


def test_every_object_of_the_experiment_is_in_its_namespace(recording: Recording) -> None:
    namespace = recording.outputs["namespace"]
    spread = {
        resource.label: (resource.inputs["metadata"].get("namespace"), resource.name)
        for resource in recording.resources
        if resource.type.startswith("kubernetes:") and "metadata" in resource.inputs
    }
    elsewhere = {label: found for label, found in spread.items() if found[0] != namespace}
    assert {label.split()[0] for label, (found, _) in elsewhere.items() if found is None} <= {
        "kubernetes:core/v1:Namespace",
        "kubernetes:core/v1:PersistentVolume",
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding",
    }
    whose = {  # of what is more than the experiment's own pods may be
        f"{namespace}-logs": ("testbed-log-shipper-", "testbed-logs-boundary-"),
        "lws-system": ("testbed-lws-boundary-", "testbed-lws-gate"),
        "kube-system": ("testbed-device-plugin-", "testbed-efa-plugin-", "testbed-gpu-exporter-"),
    }
    for label, (found, name) in elsewhere.items():
        assert found is None or name.startswith(whose[found]), label


def test_the_client_may_look_and_kills_only_where_the_plan_does() -> None:
    rights = {}
    for stack, tests in (("rehearsal-single", None), ("rehearsal-single", [{"kind": "loss", "victims": ["leader"]}])):
        recording = varied(stack, **({"benchmark__tests": tests} if tests else {}))
        roles = [*recording.of_type(f"{RBAC}:Role"), *recording.of_type(f"{RBAC}:ClusterRole")]
        own = [role for role in roles if role.name.startswith("testbed-benchmark-")]
        rights[bool(tests)] = {
            (role.inputs["metadata"].get("namespace"), resource): tuple(rule["verbs"])
            for role in own
            for rule in role.inputs["rules"]
            for resource in rule["resources"]
        }
    looks = {
        ("exp-rehearsal-single", "pods"): ("get", "list"),
        (None, "nodes"): ("get", "list"),
        (None, "events"): ("get", "list"),
    }
    assert rights[False] == looks
    assert rights[True] == looks | {("exp-rehearsal-single", "pods"): ("get", "list", "delete")}


def test_only_the_client_has_its_accounts_token(recording: Recording) -> None:
    for resource in [*recording.of_type(LWS), recording.one(JOB)]:
        for pod in pod_specs(resource.inputs["spec"]):
            tokens = [volume["name"] for volume in pod["volumes"] if "projected" in volume]
            holders = [
                container["name"]
                for container in [*pod["containers"], *pod.get("initContainers", [])]
                if any(mount["name"] in tokens for mount in container["volumeMounts"])
            ]
            assert holders == (["benchmark"] if resource.type == JOB else [])


def test_the_client_is_told_the_replicas_themselves_and_what_was_asked_for() -> None:
    recording = varied("rehearsal-single", topology={"kind": "replicas", "count": 2})
    argv = pod_specs(recording.one(JOB).inputs["spec"])[0]["containers"][0]["args"]
    assert [argv[place + 1] for place, word in enumerate(argv) if word == "--replica"] == [
        f"http://exp-rehearsal-single-{group}.exp-rehearsal-single.exp-rehearsal-single.svc:8000" for group in (0, 1)
    ]
    (code,) = [one for one in recording.of_type("kubernetes:core/v1:ConfigMap") if "code" in one.name]
    asked = Asked.model_validate_json(code.inputs["data"]["asked.json"])
    (pod,) = pod_specs(recording.one(LWS).inputs["spec"])
    (engine,) = pod["containers"]
    assert (*engine["command"], *engine["args"])[-len(asked.arguments["leader"]) :] == asked.arguments["leader"]
    assert (asked.groups, asked.size, asked.image) == (2, 1, engine["image"])
    assert {"name": "counters", "containerPort": asked.agent_port} in engine["ports"]


def test_the_set_comes_after_its_controller_and_goes_before_it(recording: Recording) -> None:
    (leader_worker_set,) = recording.of_type(LWS)
    assert recording.one("kubernetes:helm.sh/v4:Chart").urn in leader_worker_set.dependencies
    assert leader_worker_set.urn in recording.one(JOB).dependencies


def test_outputs_name_what_a_person_needs(recording: Recording) -> None:
    assert set(recording.outputs) == {
        "namespace", "service_url", "topology", "results", "job_name", "run", "plan_hash", "plan",
    }  # fmt: skip


def without_tags(value: Any) -> Any:
    """The tags are the same everywhere, which another test says."""
    if isinstance(value, dict):
        short = "(the experiment's)"
        return {key: short if key == "tags" else without_tags(inner) for key, inner in value.items()}
    return [without_tags(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("stack", STACKS)
def test_manifests_are_the_golden_ones(stack: str, request: pytest.FixtureRequest) -> None:
    recording = recorded(stack)
    manifests = {}
    for resource in sorted(recording.resources, key=lambda resource: resource.label):
        of_interest = resource.type != "aws:autoscaling/tag:Tag"  # a resource for each tag of each group
        if of_interest and (resource.custom or resource.remote):
            inputs = copy.deepcopy(dict(resource.inputs))
            if "binaryData" in inputs:
                inputs["binaryData"] = dict.fromkeys(inputs["binaryData"], "(not compared)")
            if resource.type.startswith("pulumi:providers"):
                inputs = {**inputs, "kubeconfig": "(the person's own)"} if "kubeconfig" in inputs else inputs
            if resource.name.endswith("-scripts"):
                inputs["data"] = dict.fromkeys(inputs["data"], "(the file in components/pod)")
            manifests[resource.label] = without_tags(inputs)
    golden.check(request, f"{stack}.yaml", golden.as_yaml(manifests))


def test_single_to_split_changes_the_set_alone() -> None:
    before = varied("rehearsal-single")
    after = varied("rehearsal-single", topology={"kind": "split", "pipeline": 2})
    difference = changed(before, after)
    assert [urn.rpartition("::")[2] for urn in difference] == ["testbed-serving-set"]
    ((old, new),) = difference.values()
    assert old is not None
    assert new is not None
    assert old.inputs["metadata"] == new.inputs["metadata"]
    assert old.inputs["spec"]["leaderWorkerTemplate"]["size"] == 1
    assert new.inputs["spec"]["leaderWorkerTemplate"]["size"] == 2
    assert new.replace_on_changes == ("spec",)
    assert new.delete_before_replace


@pytest.mark.parametrize(
    "change",
    [{"benchmark__run": "2"}, {"benchmark__attempt": 2}, {"benchmark__seed": 1}],
    ids=lambda change: str(change),
)
@pytest.mark.thorough
def test_a_new_run_plan_or_attempt_is_another_job(change: dict[str, Any]) -> None:
    difference = changed(recorded("rehearsal-split"), varied("rehearsal-split", **change))
    kinds = sorted(resource.type for pair in difference.values() for resource in pair if resource is not None)
    assert kinds == [JOB, JOB, "kubernetes:core/v1:ConfigMap", "kubernetes:core/v1:ConfigMap"]
    assert all(None in pair for pair in difference.values()), "an old Job is never changed into a new one"


def test_another_client_starts_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = varied("rehearsal-split")
    monkeypatch.setattr("components.testbed.benchmark_zip", lambda: b"another client")
    after = run(stack_settings("rehearsal-split"))
    code = [resource for resource in after.of_type("kubernetes:core/v1:ConfigMap") if "code" in resource.name]
    assert code[0].inputs["binaryData"] == {"benchmark.zip": "YW5vdGhlciBjbGllbnQ="}
    assert changed(before, after) == {}


def test_no_topology_serves_and_measures_nothing() -> None:
    recording = varied("rehearsal-single", topology={"kind": "none"})
    assert recording.of_type(LWS) == []
    assert recording.of_type(JOB) == []
    assert set(recording.outputs) == {"namespace", "service_url", "topology", "results", "plan"}


def test_replicas_are_groups_of_one_behind_one_service() -> None:
    recording = varied("rehearsal-single", topology={"kind": "replicas", "count": 2})
    spec = recording.one(LWS).inputs["spec"]
    assert spec["replicas"] == 2
    assert spec["leaderWorkerTemplate"]["size"] == 1
    (pod,) = pod_specs(spec)
    assert "requiredDuringSchedulingIgnoredDuringExecution" not in pod["affinity"]["podAntiAffinity"]


def test_a_controller_that_is_there_is_left_alone() -> None:
    recording = varied("rehearsal-split", lws={"mode": "existing"})
    assert recording.of_type("kubernetes:helm.sh/v4:Chart") == []
    assert recording.of_type("splitbed:index:LwsController") == []


def test_a_controller_of_another_stack_is_kept_until_this_one_is_gone() -> None:
    recording = varied("rehearsal-split", lws={"mode": "existing", "of": "other"})
    binding = recording.one("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding")
    assert binding.urn in recording.one(LWS).dependencies
    gate = varied("rehearsal-split").by_name()["testbed-lws-gate"]
    chart = varied("rehearsal-split").one("kubernetes:helm.sh/v4:Chart")
    assert chart.urn in gate.dependencies
    policy = recording.one("kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy").inputs["spec"]
    (rule,) = policy["matchConstraints"]["resourceRules"]
    assert rule["resourceNames"] == [gate.inputs["metadata"]["name"]]
    assert "destroy rehearsal-split first" in policy["validations"][0]["message"]


def test_a_chart_in_a_directory_has_no_version_to_ask_for() -> None:
    chart = varied("rehearsal-split", lws__chart="/somewhere/lws").one("kubernetes:helm.sh/v4:Chart")
    assert chart.inputs["chart"] == "/somewhere/lws"
    assert "version" not in chart.inputs


CLAIM = "kubernetes:core/v1:PersistentVolumeClaim"


def test_records_on_a_claim_need_no_node_and_are_handed_out() -> None:
    recording = varied("rehearsal-split", benchmark__results={"kind": "claim", "storage_class": "fast", "size_gib": 3})
    assert recording.of_type("kubernetes:core/v1:PersistentVolume") == []
    claim = recording.one(CLAIM).inputs
    assert claim["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}, "it may be bound by the pod only"
    assert claim["metadata"]["namespace"] == recording.outputs["namespace"]
    assert claim["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "3Gi"}},
        "storageClassName": "fast",
        "volumeMode": "Filesystem",
    }
    (pod,) = pod_specs(recording.one(JOB).inputs["spec"])
    (volume,) = [volume for volume in pod["volumes"] if volume["name"] == "results"]
    assert volume["persistentVolumeClaim"] == {"claimName": claim["metadata"]["name"]}
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsGroup"]
    assert pod["containers"][0]["args"][-1] == "--print-records"
    assert recording.outputs["results"] == {"kind": "claim", "storage_class": "fast", "size_gib": 3}


def test_a_claim_without_a_class_is_left_to_the_clusters_default() -> None:
    claim = varied("rehearsal-split", benchmark__results={"kind": "claim"}).one(CLAIM)
    assert "storageClassName" not in claim.inputs["spec"]


def test_another_class_is_another_claim() -> None:
    names = {
        varied("rehearsal-split", benchmark__results={"kind": "claim", "storage_class": name})
        .one(CLAIM)
        .inputs["metadata"]["name"]
        for name in ("fast", "slow")
    }
    assert len(names) == 2


@pytest.mark.parametrize("stack", GIVEN)
def test_records_in_a_directory_of_a_node_are_not_printed(stack: str) -> None:
    recording = recorded(stack)
    (pod,) = pod_specs(recording.one(JOB).inputs["spec"])
    assert "--print-records" not in pod["containers"][0]["args"]
    assert "fsGroup" not in pod["securityContext"]


def test_a_wrong_stack_file_makes_no_resource_and_shows_no_traceback() -> None:
    settings = {**stack_settings("rehearsal-split"), "end_date": "2026-01-01T00:00:00Z", "ownr": "me"}
    with pytest.raises(pulumi.RunError) as refusal:
        run(settings)
    assert refusal.value.__cause__ is None
    assert "end_date: " in str(refusal.value)
    assert "ownr: " in str(refusal.value)


def test_past_its_end_date_a_stack_is_one_thing_that_cannot_be_created() -> None:
    (refusal,) = varied("rehearsal-split", end_date="2026-01-01T00:00:00Z").resources
    assert refusal.type == "pulumi:index:Stash"
    assert refusal.before_create == ("end-date",)
    assert "end_date: found " in refusal.inputs["input"]


def test_a_kubeconfig_that_is_not_there_is_said_in_a_sentence() -> None:
    with pytest.raises(pulumi.RunError) as refusal:
        varied("rehearsal-split", cluster__kubeconfig="~/nowhere/config")
    assert str(refusal.value).startswith("cluster.kubeconfig: found '~/nowhere/config': there is no such file. Name a")


def test_the_settings_reach_the_program_as_json() -> None:
    assert run(json.dumps(stack_settings("rehearsal-single"))).outputs == recorded("rehearsal-single").outputs
