"""What pods of several containers ask for: the cases of `PodRequests` in k8s.io/component-helpers/resource."""

from experiment.schedule import Request, effective


def cpu(amount: int, *, sidecar: bool = False) -> Request:
    return Request(cpu_millicores=amount, sidecar=sidecar)


def test_containers_add_up() -> None:
    assert effective([Request(cpu_millicores=1, memory_mib=2, gpus=3)] * 2) == Request(
        cpu_millicores=2, memory_mib=4, gpus=6
    )


def test_an_init_container_counts_only_where_it_wants_more() -> None:
    one = Request(cpu_millicores=5, memory_mib=1)
    assert effective([Request(cpu_millicores=2, memory_mib=3)], [one]) == Request(cpu_millicores=5, memory_mib=3)


def test_init_containers_run_one_after_the_other() -> None:
    assert effective([cpu(1)], [cpu(4), cpu(3)]) == cpu(4)


def test_a_sidecar_runs_beside_all_that_comes_after_it() -> None:
    assert effective([cpu(2)], [cpu(10, sidecar=True)]) == cpu(12)
    assert effective([cpu(2)], [cpu(10, sidecar=True), cpu(5)]) == cpu(15)
    assert effective([cpu(2)], [cpu(5), cpu(1, sidecar=True)]) == cpu(5)
    assert effective([cpu(2)], [cpu(1, sidecar=True), cpu(1, sidecar=True), cpu(3)]) == cpu(5)


def test_a_pod_without_containers_asks_for_nothing() -> None:
    assert effective([]) == Request()
