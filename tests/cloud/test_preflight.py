"""Each thing that would stop `up` is refused before, with its remedy; what cannot be asked does not hide the rest."""

from collections.abc import Iterable
from typing import Any

import pytest

from cloud import hub
from cloud.account import Account
from cloud.preflight import capacity, machine, reach, standing
from cloud.preflight.check import Check, checked
from experiment.cluster import EksCluster
from experiment.pins import Pins
from experiment.settings import Settings
from tests.cloud.conftest import REGION, SESSION
from tests.cloud.places import Places
from tests.cloud.unplayed import Unplayed
from tests.experiment.stacks import settings_of

pytestmark = pytest.mark.thorough

ACCOUNT = "123456789012"
TOKEN = "hf_planted_secret"  # noqa: S105


def cluster_of(settings: Settings) -> EksCluster:
    assert isinstance(settings.cluster, EksCluster)
    return settings.cluster


def refused(found: Iterable[Check]) -> dict[str, str]:
    return {check.name: check.said for check in found if not check.ok}


@pytest.fixture
def settings() -> Settings:
    return settings_of("gemma-1b-split")


@pytest.fixture
def quotas(unplayed: Unplayed) -> dict[str, float]:
    values = {"L-1216C47A": 32.0, "L-F678F1CE": 5.0, "L-0263D0A3": 5.0}
    unplayed.answers["GetServiceQuota"] = lambda asked: {"Quota": {"Value": values[asked["QuotaCode"]]}}
    return values


def test_another_account_than_expected_is_refused(account: Account) -> None:
    right = settings_of("gemma-1b-split", cluster__account=ACCOUNT)
    wrong = settings_of("gemma-1b-split", cluster__account="999999999999")

    assert refused(standing.identity(account, cluster_of(right), {})) == {}
    assert "cluster.account is 999999999999" in refused(standing.identity(account, cluster_of(wrong), {}))["account"]


def test_who_makes_the_cluster_may_not_be_among_its_admins(account: Account, unplayed: Unplayed) -> None:
    settings = settings_of("gemma-1b-split", cluster__admins=[f"arn:aws:iam::{ACCOUNT}:role/team/Maker"])
    session = f"arn:aws:sts::{ACCOUNT}:assumed-role/Maker/ada"
    unplayed.answers["GetCallerIdentity"] = lambda _: {"Account": ACCOUNT, "Arn": session}

    assert "second entry" in refused(standing.identity(account, cluster_of(settings), {}))["cluster.admins"]


def test_a_profile_in_ci_is_refused(account: Account, settings: Settings) -> None:
    cluster = cluster_of(settings)

    assert "profile" in refused(standing.identity(account, cluster, {"CI": "true", "AWS_PROFILE": "ada"}))
    assert refused(standing.identity(account, cluster, {"AWS_PROFILE": "ada"})) == {}


def test_a_region_that_is_off_and_a_zone_that_is_not_there(
    account: Account, unplayed: Unplayed, settings: Settings
) -> None:
    assert refused(standing.region(account, cluster_of(settings))) == {}
    odd = settings_of("gemma-1b-split", cluster__zones=["us-east-1a", "us-east-1z"])
    assert refused(standing.region(account, cluster_of(odd))) == {"zones": "us-east-1z: not in this account"}
    unplayed.answers["DescribeRegions"] = lambda _: {"Regions": [{"RegionName": REGION, "OptInStatus": "not-opted-in"}]}
    assert refused(standing.region(account, cluster_of(settings))) == {"region": "us-east-1 is off in this account"}


def test_quotas_count_what_is_in_use(account: Account, settings: Settings, quotas: dict[str, float]) -> None:
    name = "quota of vCPUs of on-demand Standard instances"
    assert refused(capacity.quotas(account, settings, cluster_of(settings))) == {}

    quotas["L-1216C47A"] = 17.0  # one m7g.large and two m7g.2xlarge are 18

    assert refused(capacity.quotas(account, settings, cluster_of(settings))) == {
        name: "18 wanted, 0 in use, 17 allowed"
    }
    quotas["L-1216C47A"] = 18.0
    ec2: Any = SESSION.client("ec2", region_name=REGION)
    image = ec2.register_image(Name="image", RootDeviceName="/dev/xvda")["ImageId"]
    ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, InstanceType="m7g.large")
    assert name in refused(capacity.quotas(account, settings, cluster_of(settings)))


def test_a_vpc_too_many_is_refused(account: Account, settings: Settings, quotas: dict[str, float]) -> None:
    quotas["L-F678F1CE"] = 1.0  # the default one is there

    assert refused(capacity.quotas(account, settings, cluster_of(settings))) == {
        "quota of VPCs of the region": "1 wanted, 1 in use, 1 allowed"
    }


@pytest.mark.parametrize(
    ("instance", "kind"),
    [
        ("m7g.large", "standard"),
        ("g5.xlarge", "g"),
        ("vt1.3xlarge", "g"),
        ("p5.48xlarge", "p"),
        ("inf2.xlarge", "inf2"),
        ("hpc7g.4xlarge", "hpc7g"),
        ("t4g.micro", "standard"),
    ],
)
def test_classes_of_instances_as_quotas_have_them(instance: str, kind: str) -> None:
    assert capacity._class(instance) == kind


def test_a_zone_without_the_instance_type_is_refused(account: Account, unplayed: Unplayed, settings: Settings) -> None:
    unplayed.answers["DescribeInstanceTypeOfferings"] = lambda _: {
        "InstanceTypeOfferings": [
            {"InstanceType": "m7g.large", "Location": "us-east-1a"},
            {"InstanceType": "m7g.2xlarge", "Location": "us-east-1c"},
        ]
    }

    found = list(capacity.offerings(account, settings, cluster_of(settings)))

    assert refused(found) == {"m7g.2xlarge": "not offered in us-east-1a"}
    assert "us-east-1c" in found[1].remedy


def test_images_that_are_there_and_one_that_is_not() -> None:
    settings = settings_of("gemma-1b-split", lws__chart="oci://r.invalid/charts/lws", logs={"kind": "none"})
    places = Places()
    places.image("https://registry-1.docker.io/v2/vllm/vllm-openai-cpu/manifests/v0.31.0", "amd64")
    places.image("https://registry.k8s.io/v2/lws/lws/manifests/v0.9.0", "amd64", "arm64")
    places.image("https://r.invalid/v2/charts/lws/manifests/0.9.0")

    found = refused(reach.images(settings, Pins(), places))

    assert found["docker.io/vllm/vllm-openai-cpu:v0.31.0"] == "made for amd64, not for arm64"
    assert "no such image" in found["public.ecr.aws/aws-cli/aws-cli:2.32.9"]
    assert len(found) == 2


@pytest.mark.parametrize(("status", "why"), [(200, None), (403, "may not read it"), (401, "does not know this token")])
def test_a_gated_model_is_read_with_a_token_that_is_never_shown(
    status: int, why: str | None, settings: Settings
) -> None:
    places = Places()
    name, sha = settings.model.name, "c" * 40
    places.says(f"https://hub.invalid/api/models/{name}/revision/main", {"sha": sha, "gated": "manual"})
    places.says(f"https://hub.invalid/{name}/resolve/{sha}/config.json", {}, status)

    found = list(reach.model(settings, places, {"HF_TOKEN": TOKEN, "HF_ENDPOINT": "https://hub.invalid"}))

    assert (refused(found) == {}) if why is None else (why in refused(found)["model"])
    assert TOKEN not in repr(found)
    assert hub.token({"HF_TOKEN": TOKEN}) == TOKEN


def test_programs_that_are_missing_or_old() -> None:
    said = {"pulumi": "v3.272.0\n", "aws": "aws-cli/1.44.8 Python/3.11\n"}

    assert refused(machine.programs(lambda command: said[command[0]])).keys() == {"aws"}
    assert refused(machine.programs(lambda _: None)).keys() == {"pulumi", "aws"}
    said["aws"] = "aws-cli/2.32.9 Python/3.13\n"
    assert refused(machine.programs(lambda command: said[command[0]])) == {}


def test_a_passphrase_is_looked_for_and_not_shown(account: Account) -> None:
    salted = {"encryptionsalt": "v1:x"}
    secret = {"PULUMI_CONFIG_PASSPHRASE": "planted"}

    assert "secrets" in refused(machine.secrets(account, salted, {}))
    assert "secrets" in refused(machine.secrets(account, {}, {"PULUMI_BACKEND_URL": "s3://b"}))
    assert refused(machine.secrets(account, {}, {})) == {}
    found = list(machine.secrets(account, salted, secret))
    assert refused(found) == {}
    assert "planted" not in repr(found)


def test_a_key_that_is_off_is_refused(account: Account) -> None:
    kms: Any = SESSION.client("kms", region_name=REGION)
    key = kms.create_key()["KeyMetadata"]["KeyId"]
    document = {"secretsprovider": f"awskms://{key}?region={REGION}"}
    assert refused(machine.secrets(account, document, {})) == {}

    kms.disable_key(KeyId=key)

    assert "disabled" in refused(machine.secrets(account, document, {}))["secrets"]


def test_what_cannot_be_asked_is_a_refusal_of_its_own(account: Account, unplayed: Unplayed, settings: Settings) -> None:
    unplayed.refuse(
        "GetServiceQuota", "AccessDeniedException", "not authorized to perform: servicequotas:GetServiceQuota"
    )

    found = list(checked("quotas", lambda: capacity.quotas(account, settings, cluster_of(settings))))

    assert refused(found) == {"quotas": "servicequotas:GetServiceQuota is not allowed to you in us-east-1."}
