"""AWS's facts from AWS itself, for who has an account: EC2's DescribeInstanceTypes and the price list."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiment.catalogue.prices import Tariff
from experiment.errors import SplitbedError

if TYPE_CHECKING:
    from types_boto3_ec2.client import EC2Client
    from types_boto3_ec2.type_defs import InstanceTypeInfoTypeDef
    from types_boto3_pricing.client import PricingClient

PRICE_LIST_REGION = "us-east-1"
"""The price list of all regions is served in few, this among them."""

_ON_DEMAND_LINUX = {
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "marketoption": "OnDemand",
}


@dataclass(frozen=True)
class _Listed:
    """Where the price list has a tariff: service, and the end of the usage type behind the region's prefix."""

    service: str
    usage: str
    times: int = 1


_TARIFFS: dict[Tariff, _Listed] = {
    "eks-cluster-hour": _Listed("AmazonEKS", "AmazonEKS-Hours:perCluster"),
    "eks-extended-support-hour": _Listed("AmazonEKS", "AmazonEKS-Hours:extendedSupport"),
    "gp3-gib-month": _Listed("AmazonEC2", "EBS:VolumeUsage.gp3"),
    "nat-gateway-hour": _Listed("AmazonEC2", "NatGateway-Hours"),
    "nat-gateway-gb": _Listed("AmazonEC2", "NatGateway-Bytes"),
    "interface-endpoint-hour": _Listed("AmazonVPC", "VpcEndpoint-Hours"),
    "interface-endpoint-gb": _Listed("AmazonVPC", "VpcEndpoint-Bytes"),
    "cross-zone-gb": _Listed("AWSDataTransfer", "DataTransfer-Regional-Bytes", times=2),  # on leaving and on entering
    "internet-out-gb": _Listed("AWSDataTransfer", "DataTransfer-Out-Bytes"),
    "cloudwatch-logs-ingest-gb": _Listed("AmazonCloudWatch", "DataProcessing-Bytes"),
    "cloudwatch-logs-store-gb-month": _Listed("AmazonCloudWatch", "TimedStorage-ByteHrs"),
    "public-ipv4-hour": _Listed("AmazonVPC", "PublicIPv4:InUseAddress"),
    "s3-gb-month": _Listed("AmazonS3", "TimedStorage-ByteHrs"),
    "s3-put-1000": _Listed("AmazonS3", "Requests-Tier1", times=1000),
}


def described(ec2: "EC2Client") -> list["InstanceTypeInfoTypeDef"]:
    """Return all instance types that the client's region has."""
    pages = ec2.get_paginator("describe_instance_types").paginate()
    return [entry for page in pages for entry in page["InstanceTypes"]]


def on_demand(pricing: "PricingClient", region: str) -> dict[str, float]:
    """Return the price in dollars an hour of every instance type, Linux on demand on shared hosts.

    Raises:
        SplitbedError: the price list has nothing for the region.
    """
    found = {}
    for product in _products(pricing, "AmazonEC2", {"regionCode": region, **_ON_DEMAND_LINUX}):
        usd = _first_tier_usd(product)
        if usd is not None and "instanceType" in product["product"]["attributes"]:
            found[product["product"]["attributes"]["instanceType"]] = usd
    if not found:
        raise SplitbedError(f"AWS's price list has no instances for {region}.", "Check the name of the region.")
    return found


def tariffs(pricing: "PricingClient", region: str) -> dict[Tariff, float]:
    """Return the price in dollars of one unit of everything else; what the price list does not have is left out."""
    found: dict[Tariff, float] = {}
    for service in sorted({listed.service for listed in _TARIFFS.values()}):
        wanted = {name: listed for name, listed in _TARIFFS.items() if listed.service == service}
        where = {"fromRegionCode" if service == "AWSDataTransfer" else "regionCode": region}
        for product in _products(pricing, service, where):
            usage = product["product"]["attributes"].get("usagetype", "")
            usd = _first_tier_usd(product)
            for name, listed in wanted.items():
                if usd is not None and re.fullmatch(rf"([A-Z0-9]+-)?{re.escape(listed.usage)}", usage):
                    found[name] = min(found.get(name, usd * listed.times), usd * listed.times)
    return found


def _products(pricing: "PricingClient", service: str, attributes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    pages = pricing.get_paginator("get_products").paginate(
        ServiceCode=service,
        FormatVersion="aws_v1",
        Filters=[{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in attributes.items()],
    )
    for page in pages:
        yield from map(json.loads, page["PriceList"])


def _first_tier_usd(product: Mapping[str, Any]) -> float | None:
    """Return the price of the lowest tier that is not free."""
    tiers = [
        (float(dimension.get("beginRange", 0)), float(dimension["pricePerUnit"].get("USD", 0)))
        for term in product.get("terms", {}).get("OnDemand", {}).values()
        for dimension in term["priceDimensions"].values()
    ]
    paid = sorted(tier for tier in tiers if tier[1] > 0)
    return paid[0][1] if paid else None
