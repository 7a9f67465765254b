import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment import cidr


def test_a_vpc_is_cut_into_equal_parts_and_a_small_one_at_its_end() -> None:
    division = cidr.divide("10.42.0.0/16", ["a", "b"])
    assert division.private == ("10.42.0.0/18", "10.42.64.0/18")
    assert division.public == "10.42.255.240/28"


@given(prefix=st.integers(16, 20), zones=st.integers(1, 6), second=st.integers(0, 255))
def test_parts_never_overlap_and_lie_in_the_vpc(prefix: int, zones: int, second: int) -> None:
    vpc = ipaddress.IPv4Network(f"10.{second}.0.0/{prefix}")
    division = cidr.divide(str(vpc), [str(zone) for zone in range(zones)])
    parts = [ipaddress.IPv4Network(part) for part in (*division.private, division.public)]
    assert len(parts) == zones + 1
    assert all(part.subnet_of(vpc) for part in parts)
    assert sum(part.num_addresses for part in ipaddress.collapse_addresses(parts)) == sum(
        part.num_addresses for part in parts
    )
    assert len({part.prefixlen for part in parts[:-1]}) == 1
    assert all(part.num_addresses >= 512 for part in parts[:-1]), "room for some nodes full of pods"


@pytest.mark.parametrize(("text", "zones"), [("10.0.0.0/27", 2), ("10.0.0.0/16", 0)])
def test_what_cannot_be_divided_is_refused(text: str, zones: int) -> None:
    with pytest.raises(ValueError, match="zone"):
        cidr.divide(text, ["z"] * zones)
