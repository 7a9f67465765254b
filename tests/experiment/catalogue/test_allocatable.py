"""Nodes as pods see them, against what was seen."""

import pytest

from experiment.catalogue.allocatable import allocatable, reserved_millicores
from experiment.catalogue.instances import instance_type


def test_the_posts_machine_leaves_what_the_posts_saw() -> None:
    left = allocatable(instance_type("m7g.2xlarge"))

    assert left.cpu_millicores == 7910
    assert left.memory_mib / 1024 == pytest.approx(29.8, abs=0.05)
    assert left.pods == 58
    assert not left.estimated


@pytest.mark.parametrize(("vcpus", "reserved"), [(1, 60), (2, 70), (4, 80), (8, 90), (16, 110), (48, 190), (96, 310)])
def test_eks_reserves_ever_smaller_shares_of_cores(vcpus: int, reserved: int) -> None:
    assert reserved_millicores(vcpus) == reserved
