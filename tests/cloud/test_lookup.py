"""What stacks leave open is found somewhere, or nothing is written."""

import json
from datetime import date
from typing import Any

import pytest

from cloud import hub, lookup
from cloud.account import Account
from cloud.refusal import AWSRefusedError
from cloud.registry import RegistryError
from cloud.releases import ReleaseError, addon_version
from experiment import pins
from experiment.errors import SplitbedError
from experiment.pins import Pins
from experiment.settings import Settings
from experiment.versions import AWS_CLI_IMAGE, COLLECTOR_IMAGE, LWS_IMAGE
from tests.cloud.conftest import REGION
from tests.cloud.places import Places
from tests.cloud.unplayed import Unplayed
from tests.experiment.stacks import settings_of

TODAY = date(2026, 12, 1)
ENGINE = "docker.io/vllm/vllm-openai-cpu:v0.31.0"
SHA = "b" * 40
AMI = "/aws/service/eks/optimized-ami/1.34/amazon-linux-2023/arm64/standard/recommended/release_version"


@pytest.fixture
def settings() -> Settings:
    return settings_of("gemma-1b-split")


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Places:
    found = Places()
    for reference in pins.images(settings):
        host, _, path = reference.replace("docker.io/", "registry-1.docker.io/").partition("/")
        name, _, tag = path.partition(":")
        found.image(f"https://{host}/v2/{name}/manifests/{tag}", "arm64", "amd64")
    found.says(f"https://huggingface.co/api/models/{settings.model.name}/revision/main", {"sha": SHA})
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setattr(hub, "token", lambda: None)
    return found


@pytest.fixture
def eks(unplayed: Unplayed) -> Unplayed:
    def addons(asked: dict[str, Any]) -> Any:
        versions = [
            {
                "addonVersion": "v2.0.0-eksbuild.1",
                "compatibilities": [{"clusterVersion": "1.34", "defaultVersion": False}],
            },
            {
                "addonVersion": "v1.9.0-eksbuild.3",
                "compatibilities": [{"clusterVersion": "1.34", "defaultVersion": True}],
            },
        ]
        return {"addons": [{"addonName": asked["addonName"], "addonVersions": versions}]}

    unplayed.answers["DescribeAddonVersions"] = addons
    unplayed.answers["GetParameters"] = lambda asked: {
        "Parameters": [{"Name": name, "Value": "1.34.2-20261120"} for name in asked["Names"] if name == AMI]
    }
    return unplayed


def test_everything_that_the_program_misses_is_looked_up(
    settings: Settings, places: Places, eks: Unplayed, account: Account
) -> None:
    found = lookup.look_up(lookup.wanted([settings]), account, places, TODAY)

    assert pins.missing(settings, Pins()) != []
    assert pins.missing(pins.apply(settings, found), found) == []
    assert found.images.keys() == {ENGINE, LWS_IMAGE, AWS_CLI_IMAGE, COLLECTOR_IMAGE}
    assert found.revisions == {settings.model.name: SHA}
    assert found.addon("1.34", "vpc-cni") == "v1.9.0-eksbuild.3", "EKS's default, not the newest"
    assert found.release("1.34", "AL2023_ARM_64_STANDARD") == "1.34.2-20261120"


def test_the_lock_file_is_what_the_program_reads(
    settings: Settings, places: Places, eks: Unplayed, account: Account
) -> None:
    found = lookup.look_up(lookup.wanted([settings]), account, places, TODAY)

    assert pins.load(lookup.text(found), "lock") == found
    assert json.loads(lookup.text(found))["day"] == "2026-12-01"


def test_what_a_file_pins_itself_is_not_asked_for(settings: Settings) -> None:
    pinned = f"{ENGINE}@sha256:{'0' * 64}"

    what = lookup.wanted([settings_of("gemma-1b-split", engine__image=pinned, model__revision=SHA)])

    assert what.models == set()
    assert not any("vllm-openai" in reference for reference in what.images)
    assert lookup.wanted([settings_of("rehearsal-split")]) == lookup.Wanted()


def test_an_image_that_its_nodes_cannot_run_is_refused(
    settings: Settings, places: Places, eks: Unplayed, account: Account
) -> None:
    places.image("https://registry-1.docker.io/v2/vllm/vllm-openai-cpu/manifests/v0.31.0", "amd64")

    with pytest.raises(RegistryError, match=r"made for amd64, and its nodes are arm64"):
        lookup.look_up(lookup.wanted([settings]), account, places, TODAY)


def test_of_two_regions_the_older_version_is_taken(
    settings: Settings, places: Places, eks: Unplayed, account: Account
) -> None:
    what = lookup.wanted([settings])
    what.regions["1.34"].add("eu-west-1")
    values = iter(["1.34.10-20261120", "1.34.9-20261110"])
    eks.answers["GetParameters"] = lambda _: {"Parameters": [{"Name": AMI, "Value": next(values)}]}

    found = lookup.look_up(what, account, places, TODAY)

    assert found.release("1.34", "AL2023_ARM_64_STANDARD") == "1.34.9-20261110"


def test_what_nobody_has_is_not_made_up(settings: Settings, places: Places, eks: Unplayed, account: Account) -> None:
    eks.answers["GetParameters"] = lambda _: {"Parameters": []}
    with pytest.raises(ReleaseError, match="no node image AL2023_ARM_64_STANDARD"):
        lookup.look_up(lookup.wanted([settings]), account, places, TODAY)
    eks.answers["DescribeAddonVersions"] = lambda _: {"addons": []}
    with pytest.raises(ReleaseError, match="no add-on coredns"):
        addon_version(account, REGION, "1.34", "coredns")
    eks.refuse("DescribeAddonVersions", "AccessDeniedException", "not authorized to perform: eks:DescribeAddonVersions")
    with pytest.raises(AWSRefusedError, match="eks:DescribeAddonVersions is not allowed"):
        addon_version(account, REGION, "1.34", "coredns")


def test_a_version_of_another_form_is_not_written(
    settings: Settings, places: Places, eks: Unplayed, account: Account
) -> None:
    eks.answers["GetParameters"] = lambda _: {"Parameters": [{"Name": AMI, "Value": "latest"}]}

    with pytest.raises(SplitbedError, match="no version as they are known: latest"):
        lookup.look_up(lookup.wanted([settings]), account, places, TODAY)


def test_the_difference_is_what_changes() -> None:
    before = Pins(images={"a/b:1": f"sha256:{'1' * 64}"})
    after = Pins(images={"a/b:1": f"sha256:{'2' * 64}"})

    lines = lookup.difference(lookup.text(before), lookup.text(after), "lock")

    assert [line[:1] for line in lines if "sha256" in line] == ["-", "+"]
    assert lookup.difference(lookup.text(after), lookup.text(after), "lock") == []
