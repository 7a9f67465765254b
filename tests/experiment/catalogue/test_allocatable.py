"""Nodes as pods see them, against what was seen."""

from dataclasses import replace

import pytest

from experiment.catalogue.allocatable import allocatable, reserved_millicores, visible_mib
from experiment.catalogue.instances import instance_type, instance_types


def test_the_posts_machine_leaves_what_the_posts_saw() -> None:
    left = allocatable(instance_type("m7g.2xlarge"))

    assert left.cpu_millicores == 7910
    assert left.memory_mib / 1024 == pytest.approx(29.8, abs=0.05)
    assert left.pods == 58
    assert not left.estimated


@pytest.mark.parametrize(("vcpus", "reserved"), [(1, 60), (2, 70), (4, 80), (8, 90), (16, 110), (48, 190), (96, 310)])
def test_eks_reserves_ever_smaller_shares_of_cores(vcpus: int, reserved: int) -> None:
    assert reserved_millicores(vcpus) == reserved


def test_memory_is_reserved_for_every_address_even_where_fewer_pods_are_allowed() -> None:
    machine = instance_type("m7g.4xlarge")
    fewer = replace(machine, eni_pods=machine.pods)

    assert allocatable(machine).pods == 110
    assert allocatable(fewer).memory_mib - allocatable(machine).memory_mib == 11 * (234 - 110)


def test_what_was_not_measured_is_estimated_and_says_so() -> None:
    machine = instance_type("m8g.2xlarge")

    assert machine.visible_mib is None
    assert allocatable(machine).estimated
    assert allocatable(replace(machine, visible_mib=31000)).memory_mib == 31000 - 255 - 11 * 58 - 100


def test_the_estimate_keeps_to_the_safe_side_of_every_measurement() -> None:
    measured = [machine for machine in instance_types().values() if machine.visible_mib is not None]

    assert len(measured) > 100
    for machine in measured:
        if machine.memory_mib >= 2048:
            seen = machine.visible_mib
            assert seen is not None
            assert visible_mib(machine) <= seen, machine.name
            assert seen - visible_mib(machine) <= 140 + 0.013 * machine.memory_mib, machine.name
