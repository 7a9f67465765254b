from typing import Any

import pytest

from tests.experiment.stacks import refused

RESERVED = {"nodes__engine__purchase": "reservation", "nodes__engine__reservation": "cr-0123456789abcdef0"}


@pytest.mark.parametrize(
    ("change", "path", "found"),
    [
        (
            {"nodes__engine__efa": True, "nodes__engine__spread": True},
            "nodes.engine.efa", "true with nodes.engine.spread true",
        ),
        (
            {"nodes__engine__placement_group": True, "nodes__engine__spread": True},
            "nodes.engine.placement_group", "true with nodes.engine.spread true",
        ),
        (
            {"nodes__engine__placement_group": True, **RESERVED},
            "nodes.engine.placement_group", "true with nodes.engine.reservation cr-0123456789abcdef0",
        ),
    ],
)  # fmt: skip
def test_what_keeps_nodes_apart(change: dict[str, Any], path: str, found: str) -> None:
    (problem,) = refused("llama-70b-tp4x1", **change)
    assert (problem.path, problem.found) == (path, found)
    assert problem.remedy


def test_efa_on_a_type_without_it() -> None:
    (problem,) = refused("gemma-1b-split", nodes__engine__efa=True)
    assert (problem.path, problem.found) == ("nodes.engine.efa", "true with m7g.2xlarge")


def test_efa_in_one_subnet_is_right() -> None:
    assert refused("llama-70b-tp4x1", nodes__engine__efa=True) == []
    assert refused("llama-70b-tp4x1", **RESERVED) == []
