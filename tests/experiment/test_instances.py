"""Nodes as pods see them, against what was seen."""

import pytest

from experiment.errors import SplitbedError
from experiment.instances import INSTANCE_TYPES, instance_type


def eks_reserved_millicores(cores: int) -> float:
    """EKS's own rule: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest."""
    shares = [60.0, 10.0, 5.0, 5.0]
    return sum(shares[:cores]) + 2.5 * max(0, cores - 4)


def test_the_posts_machine_is_as_the_posts_saw_it() -> None:
    machine = instance_type("m7g.2xlarge")

    assert machine.cpu_millicores == 8000 - eks_reserved_millicores(8)
    assert machine.memory_mib / 1024 == pytest.approx(29.8, abs=0.05)
    assert machine.pods == 4 * (15 - 1) + 2


def test_an_unknown_type_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SplitbedError, match=r"m7g\.3xlarge") as caught:
        instance_type("m7g.3xlarge")

    assert all(name in caught.value.remedy for name in INSTANCE_TYPES)
