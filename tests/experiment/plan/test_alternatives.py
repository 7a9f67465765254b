"""Other instance types for the same money."""

from experiment.nodes import InstanceGroup
from experiment.plan.alternatives import alternatives, cost_usd

TWO = InstanceGroup(instance="m7g.2xlarge", count=2)


def names(need_gib: float, cpu: float = 6, group: InstanceGroup = TWO, region: str = "us-east-1") -> list[str]:
    return [one.instance for one in alternatives(region, group, need_gib=need_gib, cpu=cpu, beside_mib=200)]


def test_for_two_m7g_2xlarge_there_are_64_gib() -> None:
    """Issue 5: m7g.4xlarge costs two m7g.2xlarge, and r7g.2xlarge has its 64 GiB for 0.4284 USD."""
    assert cost_usd("us-east-1", TWO) == 0.6528
    assert names(50)[0] == "r7g.2xlarge"
    assert "m7g.4xlarge" in names(50)


def test_none_is_dearer_burstable_older_or_of_another_architecture() -> None:
    found = alternatives("us-east-1", TWO, need_gib=33, cpu=2, beside_mib=200)
    assert found
    assert all(one.usd_per_hour <= 0.6528 + 1e-9 for one in found)
    assert all(one.instance.partition(".")[0].endswith("g") for one in found)
    assert not any(one.instance.startswith(("t4g", "m6g", "r6g")) for one in found)
    assert [one.usd_per_hour for one in found] == sorted(one.usd_per_hour for one in found)


def test_a_pod_needs_its_cores_and_what_runs_beside_it_its_memory() -> None:
    assert "r7g.2xlarge" not in names(50, cpu=7.95)
    assert names(61) == []


def test_where_the_groups_price_is_not_known_nothing_is_compared() -> None:
    assert names(33, region="xx-nowhere-1") == []
