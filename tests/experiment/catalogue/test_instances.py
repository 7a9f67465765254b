"""Instance types against what is known of some."""

import pytest

from experiment.catalogue.instances import InstanceType, instance_type, instance_types
from experiment.errors import SplitbedError


def test_the_posts_machine_is_as_the_posts_saw_it() -> None:
    machine = instance_type("m7g.2xlarge")

    assert (machine.architecture, machine.vcpus, machine.memory_mib) == ("arm64", 8, 32768)
    assert machine.visible_mib is not None
    assert machine.visible_mib / 1024 == pytest.approx(30.8, abs=0.05)
    assert machine.numa_nodes == 1
    assert machine.pods == machine.eni_pods == 4 * (15 - 1) + 2
    assert machine.gpus == 0


def test_a_managed_node_group_allows_fewer_pods_than_have_addresses() -> None:
    machine = instance_type("m7g.4xlarge")

    assert machine.eni_pods == 8 * (30 - 1) + 2
    assert machine.pods == 110


@pytest.mark.parametrize(
    ("name", "gpus", "gpu", "gib"),
    [
        ("g5.12xlarge", 4, "A10G", 22.4),
        ("g6e.12xlarge", 4, "L40S", 44.7),
        ("g7e.24xlarge", 4, "RTX PRO Server 6000", 96),
        ("p4de.24xlarge", 8, "A100", 80),
        ("p5.48xlarge", 8, "H100", 80),
        ("p5.4xlarge", 1, "H100", 80),
    ],
)
def test_gpus_are_counted_with_the_memory_of_each(name: str, gpus: int, gpu: str, gib: float) -> None:
    machine = instance_type(name)

    assert (machine.gpus, machine.gpu_name) == (gpus, gpu)
    assert machine.gpu_memory_mib / 1024 == pytest.approx(gib, abs=0.1)


@pytest.mark.parametrize("machine", instance_types().values(), ids=lambda machine: machine.name)
def test_every_type_is_plausible(machine: InstanceType) -> None:
    assert machine.vcpus >= 1
    assert machine.visible_mib is None or 0.8 < machine.visible_mib / machine.memory_mib < 1
    assert 4 <= machine.pods <= min(machine.eni_pods, 250)
    assert (machine.gpus > 0) == (machine.gpu_memory_mib > 0) == (machine.gpu_name != "")
    assert machine.interconnect is None or machine.gpus > 1
    assert machine.network_gbps is None or machine.network_gbps > 0
    assert machine.burstable == machine.name.startswith("t")


def test_gpus_meet_over_nvlink_or_pcie_or_it_is_not_known() -> None:
    assert instance_type("p5.48xlarge").interconnect == "nvlink"
    assert instance_type("g6e.12xlarge").interconnect == "pcie"
    assert instance_type("g5.xlarge").interconnect is None


def test_numa_nodes_are_unknown_unless_documented() -> None:
    assert instance_type("m8g.48xlarge").numa_nodes == 2
    assert instance_type("m7i.48xlarge").numa_nodes is None


def test_the_families_that_the_stacks_name_are_there() -> None:
    families = {name.partition(".")[0] for name in instance_types()}

    for wanted in ("m7g m8g r7g r8g c7g c8g m7i r7i c7i m7a r7a c7a t4g", "g5 g6 g6e g7e p4d p4de p5 p5e p5en"):
        assert families >= set(wanted.split())


def test_an_unknown_type_is_answered_with_near_ones() -> None:
    with pytest.raises(SplitbedError, match=r"m7g\.3xlarge") as caught:
        instance_type("m7g.3xlarge")

    assert "m7g." in caught.value.remedy


def test_a_type_like_no_other_is_answered_with_the_families() -> None:
    with pytest.raises(SplitbedError, match=r"Known families: .*m7g") as caught:
        instance_type("!")

    assert "Did you mean" not in caught.value.remedy
