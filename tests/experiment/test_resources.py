import pytest

from experiment.resources import PodResources, cpu_quantity, memory_quantity


@pytest.mark.parametrize(("cores", "quantity"), [(6, "6"), (0.3, "300m"), (1.5, "1500m"), (0.1 + 0.2, "300m")])
def test_cores_are_spelt_as_the_api_server_keeps_them(cores: float, quantity: str) -> None:
    assert cpu_quantity(cores) == quantity


@pytest.mark.parametrize(("gib", "quantity"), [(20, "20Gi"), (0.5, "512Mi"), (1.5, "1536Mi"), (0.125, "128Mi")])
def test_memory_is_spelt_as_the_api_server_keeps_it(gib: float, quantity: str) -> None:
    assert memory_quantity(gib) == quantity


def test_both_together() -> None:
    assert PodResources(cpu=0.1, memory_gib=0.125).quantities() == {"cpu": "100m", "memory": "128Mi"}
