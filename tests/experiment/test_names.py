import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment import names

NAMES = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True)
DNS_1035 = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")


@pytest.mark.parametrize(
    ("experiment", "expected"),
    [("rehearsal-split", "exp-rehearsal-split"), ("000-first", "exp-000-first"), ("run-2a", "exp-run-2a")],
)
def test_a_short_name_stays_readable(experiment: str, expected: str) -> None:
    assert names.object_name(experiment) == expected


@given(NAMES)
def test_a_name_fits_what_the_set_derives_from_it(experiment: str) -> None:
    name = names.object_name(experiment)
    assert len(name) <= 45
    assert DNS_1035.fullmatch(name)
    assert not re.search(r"-\d+$", name), "the workers of one set would be the leaders of another"
    assert len(names.service_name(experiment)) <= 63
    assert names.service_name(experiment) != name, "that name is the set's own headless Service"


@given(NAMES, NAMES)
def test_different_experiments_have_different_names(one: str, other: str) -> None:
    assert (names.object_name(one) == names.object_name(other)) == (one == other)


def test_a_name_that_ends_in_a_number_is_told_apart_from_its_neighbour() -> None:
    assert names.object_name("run-1") != names.object_name("run-2")
    assert names.object_name("run-1").startswith("exp-run-1-x")


def test_the_longest_job_name_leaves_room_for_the_pods() -> None:
    assert len(names.job_name("r" * 24, "0" * 12, 9999)) <= 57


def test_another_directory_is_another_volume() -> None:
    one, other = (names.volume_name("split", path) for path in ("/a", "/b"))
    assert one != other
    assert one.startswith("exp-split-results-")


def test_the_benchmarks_own_service_is_another_object() -> None:
    for experiment in ("gemma-1b-split", "x" * 63, "1"):
        name = names.measured_service_name(experiment)
        assert len(name) <= 63
        assert name not in (names.service_name(experiment), names.object_name(experiment))
