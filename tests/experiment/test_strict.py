import pytest

from tests.experiment.stacks import refused


@pytest.mark.parametrize("value", [2**63, 10**400])
def test_a_number_that_no_machine_holds_is_refused(value: int) -> None:
    (problem,) = refused("gemma-1b-split", benchmark__seed=value)
    assert (problem.path, problem.why) == ("benchmark.seed", "it has too many digits")
    assert len(str(problem)) < 200
    assert refused("gemma-1b-split", benchmark__seed=2**63 - 1) == []


def test_so_is_one_in_a_list() -> None:
    (problem,) = refused("gemma-1b-split", benchmark__tests=[{"kind": "concurrency", "users": [1, 10**400]}])
    assert str(problem) == (
        "benchmark.tests.0.users: found a list of 2: it has too many digits. Write a smaller number."
    )
