"""Prices that others lean on, and what is honestly not known."""

import datetime as dt
from typing import get_args

import pytest

from experiment.catalogue.instances import instance_types
from experiment.catalogue.prices import Tariff, hourly_usd, tariff


@pytest.mark.parametrize(
    ("instance", "usd"),
    [("m7g.2xlarge", 0.3264), ("m7g.4xlarge", 0.6528), ("r7g.2xlarge", 0.4284), ("p5.48xlarge", 55.04)],
)
def test_on_demand_prices_are_those_of_their_date(instance: str, usd: float) -> None:
    price = hourly_usd("us-east-1", instance, "on-demand")

    assert price is not None
    assert price.usd == usd
    assert price.date == "2026-07-06"
    assert "karpenter" in price.source


def test_the_bigger_machine_costs_two_of_the_smaller() -> None:
    small, big = (hourly_usd("us-east-1", f"m7g.{size}", "on-demand") for size in ("2xlarge", "4xlarge"))

    assert small is not None
    assert big is not None
    assert big.usd == pytest.approx(2 * small.usd)


def test_a_reservation_is_billed_as_on_demand() -> None:
    on_demand, reserved = (hourly_usd("us-east-1", "p5.48xlarge", kind) for kind in ("on-demand", "reservation"))

    assert reserved is not None
    assert on_demand is not None
    assert reserved.usd == on_demand.usd


def test_spot_prices_and_other_regions_are_not_known() -> None:
    assert hourly_usd("us-east-1", "m7g.2xlarge", "spot") is None
    assert hourly_usd("eu-central-1", "m7g.2xlarge", "on-demand") is None
    assert hourly_usd("us-east-1", "p5e.48xlarge", "on-demand") is None
    assert tariff("eu-central-1", "eks-cluster-hour") is None


def test_most_types_have_a_price() -> None:
    priced = [name for name in instance_types() if hourly_usd("us-east-1", name, "on-demand")]

    assert len(priced) > 0.9 * len(instance_types())


@pytest.mark.parametrize("name", get_args(Tariff))
def test_every_tariff_has_a_price_with_its_date_and_source(name: Tariff) -> None:
    price = tariff("us-east-1", name)

    assert price is not None
    assert 0 < price.usd < 1
    assert dt.date.fromisoformat(price.date).year >= 2024
    assert price.source
