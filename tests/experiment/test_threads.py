from dataclasses import replace

import pytest

from experiment.catalogue.instances import instance_type
from experiment.threads import compute_threads, has_one_thread_a_core, variables

M7G = instance_type("m7g.2xlarge")
M7I = instance_type("m7i.2xlarge")


@pytest.mark.parametrize(
    ("threads", "cpu", "ranks", "expected"),
    [
        ("free", 6, 1, {}),
        ("within-quota", 6, 1, {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "5"}),
        ("within-quota", 5.9, 1, {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "4"}),
        ("within-quota", 1, 1, {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"}),
        ("within-quota", 16, 2, {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "7"}),
        ("whole-cores", 6, 1, {"VLLM_CPU_OMP_THREADS_BIND": "auto", "VLLM_CPU_NUM_OF_RESERVED_CPU": "1"}),
        ("whole-cores", 16, 2, {"VLLM_CPU_OMP_THREADS_BIND": "auto", "VLLM_CPU_NUM_OF_RESERVED_CPU": "2"}),
    ],
)
def test_variables(threads: str, cpu: float, ranks: int, expected: dict[str, str]) -> None:
    assert variables(threads, cpu, ranks) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("threads", "cpu", "expected"),
    [
        ("free", 6, 7),  # the 1B post: 8 cores seen, one left free, whatever the quota
        ("free", 2, 7),
        ("within-quota", 6, 5),
        ("whole-cores", 6, 5),  # as many, so that the two differ by the cores alone
    ],
)
def test_threads_on_graviton(threads: str, cpu: float, expected: int) -> None:
    assert compute_threads(threads, cpu, 1, M7G) == expected  # type: ignore[arg-type]


def test_on_x86_one_thread_of_each_core_computes() -> None:
    # vllm/utils/ompmultiprocessing.py 0.31.0: "use 1 logical CPU per physical core", less one for the scheduler.
    assert compute_threads("free", 6, 1, M7I) == 3
    assert compute_threads("whole-cores", 6, 1, M7I) == 2
    assert compute_threads("within-quota", 6, 1, M7I) == 5


def test_a_core_is_never_taken_from_the_last_thread() -> None:
    assert compute_threads("whole-cores", 1, 1, M7G) == 1
    assert compute_threads("free", 1, 1, replace(M7G, vcpus=1)) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [("m7g.2xlarge", True), ("c7a.4xlarge", True), ("m7i.2xlarge", False), ("m6a.2xlarge", False)],
)
def test_a_vcpu_is_a_core_on_graviton_and_on_newer_amd(name: str, expected: bool) -> None:
    assert has_one_thread_a_core(instance_type(name)) is expected
