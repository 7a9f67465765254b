"""What the settings of weights and token make of the pods, and where a token is not."""

import json
from functools import cache
from typing import Any

import pytest
from pulumi.runtime import rpc

from tests.components.aws.stack import settings as on_eks
from tests.recording import Recording, recorded, run, stack_settings

LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
VOLUME, CLAIM = "kubernetes:core/v1:PersistentVolume", "kubernetes:core/v1:PersistentVolumeClaim"
SECRET = "kubernetes:core/v1:Secret"  # noqa: S105  a type
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
TOKEN = "hf_planted0123456789"  # noqa: S105  opens nothing
ARN = "arn:aws:secretsmanager:us-east-1:123456789012:secret:hub-AbCdEf"
REVISION = "0123456789abcdef0123456789abcdef01234567"
KEPT = {"source": "hub", "cache": "node"}


def given(**model: Any) -> dict[str, Any]:
    """Settings of a stack on a cluster that is given."""
    settings = stack_settings("rehearsal-split")
    settings["model"] = {**settings["model"], **model}
    return settings


@cache
def with_bucket() -> Recording:
    return run(on_eks(model__weights={"source": "s3", "uri": "s3://models/gemma/1b", "cache": "node"}))


@cache
def with_arn() -> Recording:
    return run(on_eks(model__token_secret=ARN))


@cache
def kept() -> Recording:
    return run(given(weights=KEPT, revision=REVISION))


def templates(recording: Recording) -> list[dict[str, Any]]:
    group = recording.one(LWS).inputs["spec"]["leaderWorkerTemplate"]
    return [group[name] for name in ("leaderTemplate", "workerTemplate") if name in group]


def fetchers(recording: Recording) -> list[dict[str, Any]]:
    """Return the init containers that fetch, of leader and worker."""
    return [pod["spec"]["initContainers"][0] for pod in templates(recording)]


def engines(recording: Recording) -> list[dict[str, Any]]:
    return [pod["spec"]["containers"][0] for pod in templates(recording)]


def volume(pod: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (one for one in pod["spec"]["volumes"] if one["name"] == name)
    return {key: value for key, value in found.items() if key != "name"}


def variables(container: dict[str, Any]) -> dict[str, Any]:
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container.get("env", [])}


def test_without_a_token_or_a_cache_the_engine_fetches_by_itself_as_in_the_posts() -> None:
    recording = recorded("rehearsal-split")
    assert [pod["spec"].get("initContainers", [{}])[0].get("name") for pod in templates(recording)] == [
        None,
        "await-leader",
    ]
    assert all("google/gemma-3-1b-it" in engine["args"] for engine in engines(recording))


def test_what_a_node_keeps_is_one_claim_for_all_nodes_of_the_group() -> None:
    recording = kept()
    (there,) = (one.inputs for one in recording.of_type(VOLUME) if "weights" in one.name)
    assert there["spec"]["accessModes"] == ["ReadWriteMany"]
    assert there["spec"]["hostPath"] == {"path": "/var/lib/splitbed/weights", "type": "DirectoryOrCreate"}
    (term,) = there["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": "splitbed.dev/group", "operator": "In", "values": ["engine"]}]}
    name = there["metadata"]["name"]
    for pod, fetcher, engine in zip(templates(recording), fetchers(recording), engines(recording), strict=True):
        assert volume(pod, "weights") == {"persistentVolumeClaim": {"claimName": name}}
        assert {"name": "weights", "mountPath": "/weights"} in fetcher["volumeMounts"]
        assert {"name": "weights", "mountPath": "/weights", "readOnly": True} in engine["volumeMounts"]


def test_the_engine_finds_what_was_fetched_and_asks_nobody() -> None:
    recording = kept()
    for fetcher, engine in zip(fetchers(recording), engines(recording), strict=True):
        into = fetcher["args"][fetcher["args"].index("--into") + 1]
        assert into == f"/weights/hub/google--gemma-3-1b-it/{REVISION}"
        assert engine["args"][:2] == ["serve", into]
        assert not any("--revision" in argument for argument in engine["args"])
        assert variables(engine)["HF_HUB_OFFLINE"] == "1"


def test_other_nodes_or_another_directory_are_another_volume() -> None:
    other = given(weights=KEPT, revision=REVISION)
    other["nodes"]["engine"]["selector"] = {"group": "other"}
    names = {
        one.inputs["metadata"]["name"]
        for recording in (kept(), run(other))
        for one in recording.of_type(VOLUME)
        if "weights" in one.name
    }
    assert len(names) == 2


def test_a_token_without_a_cache_fetches_into_the_pod_at_every_start() -> None:
    recording = run(given(token_secret="hub", gated=True))  # noqa: S106  a name
    for pod, fetcher in zip(templates(recording), fetchers(recording), strict=True):
        assert volume(pod, "weights") == {"emptyDir": {}}
        assert fetcher["args"][fetcher["args"].index("--revision") + 1] == "main"


def test_a_directory_of_the_node_is_looked_at_and_never_written() -> None:
    recording = run(given(weights={"source": "directory", "uri": "/models/gemma"}))
    (there,) = (one.inputs for one in recording.of_type(VOLUME) if "weights" in one.name)
    assert there["spec"]["hostPath"] == {"path": "/models/gemma", "type": "Directory"}
    for fetcher, engine in zip(fetchers(recording), engines(recording), strict=True):
        assert fetcher["args"] == ["--source", "directory", "--into", "/weights", "--uri", "/models/gemma"]
        assert {"name": "weights", "mountPath": "/weights", "readOnly": True} in fetcher["volumeMounts"]
        assert engine["args"][1] == "/weights"


def test_pods_may_read_the_prefix_of_a_bucket_and_nothing_else() -> None:
    recording = with_bucket()
    (policy,) = (json.loads(one.inputs["policy"]) for one in recording.of_type(ROLE_POLICY) if "weights" in one.name)
    assert policy["Statement"] == [
        {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::models/gemma/1b/*"]},
        {
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": ["arn:aws:s3:::models"],
            "Condition": {"StringLike": {"s3:prefix": ["gemma/1b/", "gemma/1b/*"]}},
        },
    ]
    (association,) = (one for one in recording.of_type(ASSOCIATION) if "weights" in one.name)
    assert association.inputs["serviceAccount"] == "engine"
    assert association.urn in recording.one(LWS).dependencies
    for fetcher, engine in zip(fetchers(recording), engines(recording), strict=True):
        assert fetcher["args"][-4:] == ["--uri", "s3://models/gemma/1b", "--region", "us-east-1"]
        assert engine["args"][1] == "/weights/s3/models--gemma--1b"


@pytest.mark.parametrize("recording", [with_bucket, with_arn], ids=["s3", "arn"])
def test_rights_in_aws_are_the_fetching_containers_alone(recording: Any) -> None:
    for pod in templates(recording()):
        skipped = pod["metadata"]["annotations"]["eks.amazonaws.com/skip-containers"].split(",")
        containers = [*pod["spec"]["initContainers"], *pod["spec"]["containers"]]
        assert [one["name"] for one in containers if one["name"] not in skipped] == ["weights"]


def test_a_secret_of_aws_is_read_by_who_fetches() -> None:
    recording = with_arn()
    (policy,) = (json.loads(one.inputs["policy"]) for one in recording.of_type(ROLE_POLICY) if "weights" in one.name)
    assert policy["Statement"] == [{"Effect": "Allow", "Action": ["secretsmanager:GetSecretValue"], "Resource": [ARN]}]
    for fetcher in fetchers(recording):
        assert fetcher["args"][fetcher["args"].index("--token-arn") + 1] == ARN
        assert "HF_TOKEN" not in variables(fetcher)


def test_only_who_fetches_is_given_the_token() -> None:
    recording = run(on_eks())
    for pod in templates(recording):
        containers = [*pod["spec"]["initContainers"], *pod["spec"]["containers"]]
        told = {one["name"]: variables(one)["HF_TOKEN"] for one in containers if "HF_TOKEN" in variables(one)}
        assert told == {"weights": {"secretKeyRef": {"name": "hub-token", "key": "token"}}}


def in_the_clear(value: Any) -> list[str]:
    """Return all text of what was registered, except what is marked as a secret."""
    if isinstance(value, dict):
        if value.get(rpc._special_sig_key) == rpc._special_secret_sig:
            return []
        return [text for inner in value.values() for text in in_the_clear(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in in_the_clear(inner)]
    return [str(value)]


def test_a_token_of_the_configuration_is_in_one_secret_and_nowhere_else(capsys: pytest.CaptureFixture[str]) -> None:
    key = "splitbed:hub"
    recording = run(given(token_secret={"config": "hub"}, gated=True), config={key: TOKEN}, encrypted=[key])
    secret = recording.one(SECRET)
    assert TOKEN in json.dumps(secret.inputs, default=str)
    for resource in recording.resources:
        assert not any(TOKEN in text for text in in_the_clear(dict(resource.inputs))), resource.label
    assert not any(TOKEN in text for text in in_the_clear(recording.outputs))
    assert TOKEN not in "".join(capsys.readouterr())
    for fetcher in fetchers(recording):
        reference = {"secretKeyRef": {"name": secret.inputs["metadata"]["name"], "key": "token"}}
        assert variables(fetcher)["HF_TOKEN"] == reference
    assert secret.urn in recording.one(LWS).dependencies


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, "the configuration has no splitbed:hub. Set it by `pulumi config set --secret splitbed:hub`"),
        ({"splitbed:hub": TOKEN}, "splitbed:hub is in the stack file in the clear. Set it again"),
    ],
    ids=["not there", "in the clear"],
)
def test_a_token_that_is_not_encrypted_stops_up(config: dict[str, str], said: str) -> None:
    recording = run(given(token_secret={"config": "hub"}, gated=True), config=config)
    (refusal,) = recording.resources
    assert refusal.name == "unready"
    assert said in str(refusal.inputs)
    assert TOKEN not in str(refusal.inputs)
