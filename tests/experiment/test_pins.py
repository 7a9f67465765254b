import json
from datetime import UTC, datetime
from typing import Any

import pytest

from experiment import pins
from experiment.errors import SplitbedError
from experiment.pins import Pins
from experiment.settings import Settings, load
from tests.components.aws.stack import settings
from tests.experiment.stacks import settings_of
from tests.recording import PINS, stack_settings

NOW = datetime(2026, 12, 1, tzinfo=UTC)
DIGEST = "sha256:" + "a" * 64


def loaded(**changes: Any) -> Settings:
    return load(json.dumps(settings(**changes)), NOW)


def known() -> Pins:
    return pins.load(PINS.read_text(), "pins.json")


def test_nothing_is_known_by_itself() -> None:
    assert Pins().addon("1.34", "vpc-cni") is None
    assert Pins().release("1.34", "AL2023_ARM_64_STANDARD") is None
    assert Pins().image("a/b:1") == "a/b:1"


def test_all_that_would_move_is_named() -> None:
    assert pins.missing(loaded(), Pins()) == [
        "digest of the image public.ecr.aws/aws-cli/aws-cli:2.32.9",
        "digest of the image registry.k8s.io/lws/lws:v0.9.0",
        "digest of the image vllm.invalid/engine:v0.31.0",
        "release of the node image AL2023_ARM_64_STANDARD for Kubernetes 1.34",
        "revision of the model google/gemma-3-1b-it",
        "version of the add-on coredns for Kubernetes 1.34",
        "version of the add-on eks-pod-identity-agent for Kubernetes 1.34",
        "version of the add-on kube-proxy for Kubernetes 1.34",
        "version of the add-on metrics-server for Kubernetes 1.34",
        "version of the add-on vpc-cni for Kubernetes 1.34",
    ]


def test_with_the_lock_nothing_is_missing() -> None:
    assert pins.missing(pins.apply(loaded(), known()), known()) == []


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({}, {"nvcr.io/nvidia/k8s-device-plugin"}),
        (
            {"nodes__engine__efa": True, "observe": {"dcgm": True}},
            {
                "nvcr.io/nvidia/k8s-device-plugin",
                "nvcr.io/nvidia/k8s/dcgm-exporter",
                "public.ecr.aws/eks/aws-efa-k8s-device-plugin",
            },
        ),
    ],
)
def test_what_looks_at_devices_has_its_digest_too(changes: dict[str, Any], more: set[str]) -> None:
    found = settings_of("llama-70b-tp2pp2", **changes)
    pulled = {reference.rpartition(":")[0] for reference in pins.images(found)}
    assert pulled - {reference.rpartition(":")[0] for reference in pins.images(settings_of("gemma-1b-split"))} == {
        "docker.io/vllm/vllm-openai",
        *more,
    }
    assert pins.missing(pins.apply(found, known()), known()) == []


def test_pins_of_another_version_of_kubernetes_are_none() -> None:
    other = loaded(cluster__version="1.33")
    missing = pins.missing(pins.apply(other, known()), known())
    assert len([what for what in missing if "Kubernetes 1.33" in what]) == 6


def test_images_and_revision_are_pinned_where_they_are_used() -> None:
    pinned = pins.apply(loaded(), known())
    assert pinned.engine_image.startswith("vllm.invalid/engine:v0.31.0@sha256:")
    assert pinned.lws.mode == "install"
    assert "@sha256:" in pinned.lws.image
    assert pinned.model.revision == known().revisions["google/gemma-3-1b-it"]


def test_what_a_stack_file_pins_itself_stays() -> None:
    image, revision = f"vllm.invalid/engine@{DIGEST}", "b" * 40
    pinned = pins.apply(loaded(engine__image=image, model__revision=revision), known())
    assert pinned.engine_image == image
    assert pinned.model.revision == revision


def test_each_architectures_image_has_its_digest() -> None:
    known = Pins(images={"vllm.invalid/arm:1": DIGEST})
    pinned = pins.apply(loaded(engine__image={"arm64": "vllm.invalid/arm:1", "amd64": "vllm.invalid/amd:1"}), known)
    assert pinned.engine_image == f"vllm.invalid/arm:1@{DIGEST}"


def test_a_given_cluster_is_left_as_it_is() -> None:
    given = load(json.dumps(stack_settings("rehearsal-split")), NOW)
    assert pins.missing(given, Pins()) == []
    assert pins.apply(given, known()) == given


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"images": {"a/b:1": "sha256:short"}}', "images.a/b:1"),
        ('{"addons": {"1.34": {"vpc-cni": "newest"}}}', "addons.1.34.vpc-cni"),
        ('{"revisions": {"m": "main"}}', "revisions.m"),
        ('{"digests": {}}', "digests"),
        ("no JSON", "experiment"),
    ],
)
def test_a_file_that_pin_did_not_write_is_refused_in_a_sentence(text: str, path: str) -> None:
    with pytest.raises(SplitbedError) as refusal:
        pins.load(text, "pins.lock.json")
    assert str(refusal.value).startswith("pins.lock.json cannot be used")
    assert path in str(refusal.value)
    assert "splitbed pin" in refusal.value.remedy
