import re

import pytest

from experiment.keys import Key, UnknownKeyError, find, keys
from experiment.settings import Settings

KNOWN = keys(Settings)


def one(path: str, *when: str) -> Key:
    (found,) = [key for key in KNOWN if key.path == path and (not when or key.when == when)]
    return found


@pytest.mark.parametrize("key", KNOWN, ids=lambda key: " ".join([key.path, *key.when]))
def test_every_key_is_described_on_one_line(key: Key) -> None:
    assert len(key.description) >= 5
    assert not re.search(r"[\n.]$|\n", key.description)
    assert key.type


def test_numbers_are_shown_with_unit_bounds_and_default() -> None:
    key = one("engine.probes.startup_s")
    assert (key.type, key.unit, key.default, key.required) == ("number above 0 to 86400", "seconds", "900", False)


def test_what_tells_members_of_a_union_apart_is_one_key() -> None:
    key = one("topology.kind")
    assert (key.type, key.when, key.required) == ("none | single | replicas | split", (), True)


def test_keys_of_one_member_say_where_they_may_be() -> None:
    assert one("topology.pipeline").when == ("topology.kind: split",)
    assert one("cluster.network.cidr").when == ("cluster.kind: eks", "cluster.network.kind: new")
    assert one("nodes.engine.instance").when == ("nodes.engine is an instance group",)
    assert one("engine.image.arm64").when == ("engine.image is an image for each architecture",)


def test_children_are_the_keys_right_below() -> None:
    assert one("engine.kv_cache").children == (
        "engine.kv_cache.kind", "engine.kv_cache.gib", "engine.kv_cache.bytes", "engine.kv_cache.fraction",
    )  # fmt: skip
    assert one("engine.kv_cache.gib").children == ()


def test_defaults_that_are_mappings_are_shown_as_yaml() -> None:
    assert one("benchmark.resources").default == "{cpu: 0.5, memory_gib: 0.5}"
    assert one("cluster.endpoint").default == "{kind: private}"
    assert one("engine.probes").default == "its own defaults"


def test_a_key_is_found_with_all_below_it() -> None:
    assert [key.path for key in find(KNOWN, "budget")] == ["budget", "budget.usd"]
    assert len(find(KNOWN, "topology.tensor")) == 3


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("engine.kv_cahe", "Did you mean engine.kv_cache"),
        ("startup_s", "Did you mean engine.probes.startup_s?"),
        ("max_model_len", "Did you mean engine.max_model_len?"),
        ("§", "`splitbed explain` lists all keys."),
    ],
)
def test_an_unknown_key_gets_near_ones(path: str, remedy: str) -> None:
    with pytest.raises(UnknownKeyError) as error:
        find(KNOWN, path)
    assert error.value.message == f"There is no setting {path}."
    assert error.value.remedy.startswith(remedy)
