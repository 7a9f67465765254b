"""Facts from AWS, by answers in the form that AWS documents; no account is asked."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from experiment.errors import SplitbedError
from scripts.refresh import aws, packages
from scripts.refresh.instances import rows


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_PROFILE", raising=False)


@pytest.fixture
def price_list() -> Iterator[tuple[Any, Stubber]]:
    client = boto3.client("pricing", region_name=aws.PRICE_LIST_REGION)
    with Stubber(client) as stubber:
        yield client, stubber
        stubber.assert_no_pending_responses()


def product(attributes: dict[str, str], *tiers: tuple[str, str]) -> str:
    """Write one product as the price list does: tiers are the begin of a range, and dollars."""
    dimensions = {
        f"SKU.TERM.{number}": {"unit": "Hrs", "beginRange": begin, "pricePerUnit": {"USD": usd}}
        for number, (begin, usd) in enumerate(tiers)
    }
    return json.dumps(
        {
            "product": {"productFamily": "x", "attributes": attributes, "sku": "SKU"},
            "terms": {"OnDemand": {"SKU.TERM": {"priceDimensions": dimensions, "sku": "SKU"}}},
        }
    )


def test_prices_on_demand_are_read_from_every_page(price_list: tuple[Any, Stubber]) -> None:
    client, stubber = price_list
    asked = {
        "ServiceCode": "AmazonEC2",
        "FormatVersion": "aws_v1",
        "Filters": [
            {"Type": "TERM_MATCH", "Field": field, "Value": value}
            for field, value in {
                "regionCode": "eu-central-1",
                "operatingSystem": "Linux",
                "tenancy": "Shared",
                "preInstalledSw": "NA",
                "capacitystatus": "Used",
                "marketoption": "OnDemand",
            }.items()
        ],
    }
    first = [product({"instanceType": "m7g.2xlarge"}, ("0", "0.3910"))]
    second = [product({"instanceType": "r7g.2xlarge"}, ("0", "0.5180")), product({"usagetype": "odd"}, ("0", "9"))]
    stubber.add_response("get_products", {"PriceList": first, "NextToken": "more"}, asked)
    stubber.add_response("get_products", {"PriceList": second}, {**asked, "NextToken": "more"})

    assert aws.on_demand(client, "eu-central-1") == {"m7g.2xlarge": 0.391, "r7g.2xlarge": 0.518}


def test_a_region_without_instances_is_refused(price_list: tuple[Any, Stubber]) -> None:
    client, stubber = price_list
    stubber.add_response("get_products", {"PriceList": []})

    with pytest.raises(SplitbedError, match="eu-nowhere-9"):
        aws.on_demand(client, "eu-nowhere-9")


def test_tariffs_are_found_by_their_usage_type_behind_any_prefix_of_a_region(price_list: tuple[Any, Stubber]) -> None:
    client, stubber = price_list
    answers = {
        "AWSDataTransfer": [
            product({"usagetype": "EUC1-DataTransfer-Regional-Bytes"}, ("0", "0.01")),
            product({"usagetype": "EUC1-DataTransfer-Out-Bytes"}, ("0", "0"), ("100", "0.09"), ("10340", "0.085")),
        ],
        "AmazonCloudWatch": [product({"usagetype": "EUC1-DataProcessing-Bytes"}, ("0", "0.63"))],
        "AmazonEC2": [
            product({"usagetype": "EUC1-NatGateway-Hours"}, ("0", "0.052")),
            product({"usagetype": "EUC1-NatGateway-Prvd-Hours"}, ("0", "9")),
        ],
        "AmazonEKS": [product({"usagetype": "EUC1-AmazonEKS-Hours:perCluster"}, ("0", "0.10"))],
        "AmazonS3": [product({"usagetype": "EUC1-Requests-Tier1"}, ("0", "0.0000054"))],
        "AmazonVPC": [],
    }
    for found in answers.values():
        stubber.add_response("get_products", {"PriceList": found})

    assert aws.tariffs(client, "eu-central-1") == {
        "cross-zone-gb": 0.02,
        "internet-out-gb": 0.09,
        "cloudwatch-logs-ingest-gb": 0.63,
        "nat-gateway-hour": 0.052,
        "eks-cluster-hour": 0.1,
        "s3-put-1000": pytest.approx(0.0054),
    }


def test_instance_types_are_read_from_every_page() -> None:
    client = boto3.client("ec2", region_name="us-east-1")
    first, second = {"InstanceType": "m7g.2xlarge"}, {"InstanceType": "r7g.2xlarge"}
    with Stubber(client) as stubber:
        stubber.add_response("describe_instance_types", {"InstanceTypes": [first], "NextToken": "more"}, {})
        stubber.add_response("describe_instance_types", {"InstanceTypes": [second]}, {"NextToken": "more"})

        assert aws.described(client) == [first, second]


def test_instance_types_are_reduced_to_what_a_plan_needs() -> None:
    found = {row["name"]: row for row in rows(packages.described()[0])}

    assert found["m7g.2xlarge"] == {
        "name": "m7g.2xlarge",
        "architecture": "arm64",
        "vcpus": 8,
        "memory_mib": 32768,
        "interfaces": 4,
        "addresses": 15,
        "network_gbps": 3.75,
    }
    assert found["p5.48xlarge"]["gpus"] == 8
    assert found["p5.48xlarge"]["efa"] is True
    assert found["p5.48xlarge"]["network_gbps"] == 3200
    assert found["p4d.24xlarge"]["network_gbps"] == 400, "EC2 says 4x 100 Gigabit"
    assert found["t4g.medium"]["burstable"] is True
    assert not any(".metal" in name or name.startswith(("inf", "mac", "x2")) for name in found)
