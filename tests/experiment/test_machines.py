import email
import json
from email.message import Message

import pytest

from experiment import machines
from experiment.nodes import Architecture


def parts(text: str) -> dict[str, str]:
    message = email.message_from_string(text)
    assert message.is_multipart()
    found: dict[str, str] = {}
    for part in message.get_payload():
        assert isinstance(part, Message)
        found[part.get_content_type()] = str(part.get_payload())
    return found


@pytest.mark.parametrize(
    ("architecture", "gpus", "family"),
    [
        ("arm64", 0, "AL2023_ARM_64_STANDARD"),
        ("amd64", 0, "AL2023_x86_64_STANDARD"),
        ("amd64", 4, "AL2023_x86_64_NVIDIA"),
        ("arm64", 1, "AL2023_ARM_64_NVIDIA"),
    ],
)
def test_the_image_follows_from_architecture_and_gpus(architecture: Architecture, gpus: int, family: str) -> None:
    assert machines.ami_type(architecture, gpus) == family


def test_nothing_to_say_is_no_user_data() -> None:
    assert machines.user_data() == ""


def test_the_kubelets_fields_are_handed_over_by_nodeadm() -> None:
    ((kind, text),) = parts(machines.user_data(kubelet=machines.STATIC_CPU_MANAGER)).items()
    assert kind == "application/node.eks.aws"
    config = json.loads(text)
    assert config["kind"] == "NodeConfig"
    assert config["spec"] == {"kubelet": {"config": {"cpuManagerPolicy": "static"}}}


def test_directories_are_made_and_given_away_before_the_kubelet_starts() -> None:
    found = parts(machines.user_data(directories=["/a", "/b"], owner=7, kubelet={"maxPods": 3}))
    assert list(found) == ["text/x-shellscript", "application/node.eks.aws"]
    assert found["text/x-shellscript"].splitlines() == ["#!/bin/bash", "set -e", "mkdir -p /a /b", "chown 7:7 /a /b"]
