import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.errors import SplitbedError
from experiment.kv import stages


@pytest.mark.parametrize(
    ("layers", "pipeline", "expected"),
    [
        (26, 4, (6, 7, 7, 6)),  # as vLLM's get_pp_indices has it
        (26, 1, (26,)),
        (48, 2, (24, 24)),  # the 12B post
        (7, 2, (4, 3)),
        (11, 4, (3, 3, 3, 2)),
        (5, 4, (1, 1, 2, 1)),
    ],
)
def test_remainder_goes_to_the_stages_before_the_last(layers: int, pipeline: int, expected: tuple[int, ...]) -> None:
    assert stages.sizes(layers, pipeline) == expected


@given(st.integers(1, 300), st.integers(1, 300))
def test_stages_hold_all_layers_in_order(layers: int, pipeline: int) -> None:
    if pipeline > layers:
        with pytest.raises(SplitbedError, match=f"{layers} layers cannot be split into {pipeline} stages"):
            stages.ranges(layers, pipeline)
        return
    held = stages.ranges(layers, pipeline)
    assert [layer for stage in held for layer in stage] == list(range(layers))
    assert max(map(len, held)) - min(map(len, held)) <= 1
    assert len(held[-1]) == min(map(len, held))


def test_a_partition_is_taken_as_given() -> None:
    assert stages.ranges(10, 3, [1, 8, 1]) == (range(1), range(1, 9), range(9, 10))


@pytest.mark.parametrize("partition", [[5, 5], [4, 4, 4], [0, 5, 5], []])
def test_a_partition_that_is_none_is_refused(partition: list[int]) -> None:
    with pytest.raises(SplitbedError, match="is none of 10 layers over 3 stages"):
        stages.sizes(10, 3, partition)
