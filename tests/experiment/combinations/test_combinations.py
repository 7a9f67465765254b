"""All that is wrong is said at once, whatever else is."""

from tests.experiment.stacks import refused


def test_combinations_are_named_beside_mistakes_elsewhere() -> None:
    found = refused("gemma-1b-split", ownr="me", engine__kv_cache={"kind": "utilization"}, nodes__engine__count=1)
    assert [problem.path for problem in found] == ["ownr", "topology.pipeline", "engine.kv_cache.kind"]


def test_a_rule_whose_settings_cannot_be_read_is_silent() -> None:
    found = refused("gemma-1b-split", engine__kv_cache={"kind": "utilization"}, nodes__engine__count="1")
    assert [problem.path for problem in found] == ["nodes.engine.count"]


def test_what_is_left_out_counts_with_its_default() -> None:
    found = refused("rehearsal-split", ownr="me", lws={"mode": "existing", "version": "0.8.0"})
    assert [problem.path for problem in found] == ["ownr", "lws.restart_policy"]
