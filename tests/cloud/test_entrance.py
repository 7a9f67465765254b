"""The way into an EKS cluster that moto plays."""

import json
from pathlib import Path

import pytest

from cloud.account import Account
from cloud.entrance import kubeconfig
from cloud.refusal import AWSRefusedError
from rehearsal.kubeconfig import check_shape
from tests.cloud.conftest import REGION

pytestmark = pytest.mark.thorough


def test_a_kubeconfig_signs_in_by_the_aws_cli(account: Account, tmp_path: Path) -> None:
    role = "arn:aws:iam::123456789012:role/r"
    account.client("eks", REGION).create_cluster(name="exp-e", roleArn=role, resourcesVpcConfig={})
    text = kubeconfig(account, REGION, "exp-e", "mine")
    (tmp_path / "kubeconfig").write_text(text)
    check_shape(tmp_path / "kubeconfig")
    document = json.loads(text)
    assert document["clusters"][0]["cluster"]["server"].startswith("https://")
    signs_in = document["users"][0]["user"]["exec"]
    assert [signs_in["command"], *signs_in["args"]] == (
        ["aws", "--region", "us-east-1", "eks", "get-token", "--cluster-name", "exp-e", "--output", "json"]
    )
    assert signs_in["env"] == [{"name": "AWS_PROFILE", "value": "mine"}]
    assert json.loads(kubeconfig(account, REGION, "exp-e", None))["users"][0]["user"]["exec"]["env"] == []


def test_no_cluster_is_said_in_a_sentence(account: Account) -> None:
    with pytest.raises(AWSRefusedError, match="There is no cluster exp-e in us-east-1"):
        kubeconfig(account, REGION, "exp-e", None)
