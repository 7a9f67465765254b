"""What things cost, as dated data; nothing is asked of AWS here."""

from dataclasses import dataclass
from typing import Literal

from experiment.catalogue.data import read

Purchase = Literal["on-demand", "spot", "reservation"]
Tariff = Literal[
    "eks-cluster-hour",
    "eks-extended-support-hour",
    "gp3-gib-month",
    "nat-gateway-hour",
    "nat-gateway-gb",
    "interface-endpoint-hour",
    "interface-endpoint-gb",
    "cross-zone-gb",
    "internet-out-gb",
    "cloudwatch-logs-ingest-gb",
    "cloudwatch-logs-store-gb-month",
    "public-ipv4-hour",
    "s3-gb-month",
    "s3-put-1000",
]


@dataclass(frozen=True, kw_only=True)
class Price:
    """One price.

    Attributes:
        usd: dollars for one unit, which the name of the tariff ends in.
        source: where it is from.
        date: the day it was read there, as YYYY-MM-DD.
    """

    usd: float
    source: str
    date: str


def hourly_usd(region: str, instance: str, purchase: Purchase) -> Price | None:
    """Return what one instance costs an hour; None where no price is known.

    A capacity reservation is billed at the price on demand, used or not. Spot prices move by the minute and are not
    kept.
    """
    found = read("prices").get(region)
    if purchase == "spot" or found is None or instance not in found["usd"]:
        return None
    return Price(usd=found["usd"][instance], source=found["source"], date=found["date"])


def tariff(region: str, name: Tariff) -> Price | None:
    """Return the price of one unit of what is no instance; None where it is unknown."""
    entry = read("tariffs").get(region, {}).get(name)
    return Price(**entry) if entry else None
