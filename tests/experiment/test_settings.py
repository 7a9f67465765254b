import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiment.settings import ExpiredError, Settings, SettingsError, load
from tests.recording import STACKS, stack_settings

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

Change = Callable[[dict[str, Any]], None]


def settings_with(*changes: Change) -> str:
    settings = copy.deepcopy(stack_settings("rehearsal-split"))
    for change in changes:
        change(settings)
    return json.dumps(settings)


def setting(path: str, value: Any) -> Change:
    def change(settings: dict[str, Any]) -> None:
        *above, last = path.split(".")
        place: Any = settings
        for key in above:
            place = place[key]
        place[last] = value

    return change


def without(path: str) -> Change:
    def change(settings: dict[str, Any]) -> None:
        *above, last = path.split(".")
        place: Any = settings
        for key in above:
            place = place[key]
        del place[last]

    return change


def refusal(text: str) -> list[str]:
    with pytest.raises(SettingsError) as error:
        load(text, NOW)
    assert error.value.__cause__ is None
    return [str(problem) for problem in error.value.problems]


@pytest.mark.parametrize("stack", STACKS)
def test_tracked_stacks_load_and_never_go_stale_by_date(stack: str) -> None:
    settings = load(json.dumps(stack_settings(stack)), datetime(2100, 1, 1, tzinfo=UTC))
    assert settings.name == stack


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            setting("engine.imagee", "x"),
            ('engine.imagee: found "x": there is no such key. Did you mean image? Known here: async_scheduling, '
            "compilation, dtype, env, flags, image, kv_cache, max_model_len, probes, resources, shutdown_timeout_s, "
            "threads, version."),
        ),
        (setting("ownr", "me"), 'ownr: found "me": there is no such key. Did you mean owner? Known here: accept, be'),
        (setting("k" * 5000, 1), f'{"k" * 57}...: found 1: there is no such key. '),
        (setting("topology.pipelin", 2), "topology.pipelin: found 2: there is no such key. Did you mean pipeline? "),
        (setting("nodes.engine.count", "2"), 'nodes.engine.count: found "2": it is not a whole number. Write 2. '),
        (setting("nodes.engine.count", True), "nodes.engine.count: found true: it is not a whole number. "),
        (setting("nodes.engine", []), "nodes.engine: found a list of 0: it is not a mapping of keys to values. "),
        (setting("benchmark.run", 1), "benchmark.run: found 1: it is not text. Put it in quotes. "),
        (setting("benchmark.tests", []), "benchmark.tests: found a list of 0: "),
        (setting("benchmark.tests", [{"kind": "many"}]), 'benchmark.tests.0.kind: found "many": there is no '),
        (without("owner"), "owner: it is missing. Add it: one line: the person or team to ask."),
        (without("engine.resources.cpu"), "engine.resources.cpu: it is missing. Add it: CPU cores, for example "),
        (without("topology.kind"), "topology.kind: it is missing. Choose one of none, single, replicas, split."),
        (
            setting("topology.kind", "splt"),
            ('topology.kind: found "splt": there is no such kind. Did you mean split? '
            "Choose one of none, single, replicas, split."),
        ),
        (setting("topology.kind", None), "topology.kind: found null: there is no such kind. Choose one of none, sing"),
        (setting("topology.kind", ["split"]), "topology.kind: found a list of 1: there is no such kind. Choose one of"),
        (setting("topology", "split"), 'topology: found "split": it is not a mapping of keys to values. Expected:'),
        (setting("topology.kind", "single"), "topology.pipeline: found 2: there is no such key. Known here: kind,"),
        (
            setting("end_date", "2026-11-29T18:00:00+01:00"),
            ('end_date: found "2026-11-29T18:00:00+01:00": the experiment ended at 2026-11-29 17:00 UTC '
            "(now it is 2026-11-30 12:00 UTC). Take it down with `pulumi destroy`"),
        ),
        *(
            (setting("end_date", text), f"end_date: found {json.dumps(text)}: it is not a moment with a time zone. W")
            for text in (
                "tomorrow", "2026-12-31", "2026-12-31T18:00:00", "2026-12-31 00:00:00 +0000 UTC", 20261231, True, "٢",
            )
        ),
        (setting("end_date", "2026-02-31T18:00:00Z"), 'end_date: found "2026-02-31T18:00:00Z": there is no such day'),
        (setting("engine.image", "vllm/vllm:latest"), 'engine.image: found "vllm/vllm:latest": the image is not pi'),
        (setting("engine.image", "registry.example/vllm"), "engine.image: "),
        (setting("lws.image", "no image"), 'lws.image: found "no image": this is no full image reference. '),
        (
            setting("engine.flags", {"max-num-seq": 8}),
            "engine.flags.max-num-seq: found 8: --max-num-seq is no flag of vLLM 0.31.0. Did you mean max-num-seqs?",
        ),
        (setting("engine.flags", {"nnodes": 3}), "engine.flags.nnodes: found 3: this flag is not to be set here. "),
        (setting("engine.env", {"VLLM_HOST_IP": "::1"}), "engine.env.VLLM_HOST_IP: "),
        (
            setting("engine.resources.shared_memory_gib", 2),
            "engine.resources: found a mapping of cpu, memory_gib, shared_memory_gib: shared memory of 2 GiB",
        ),
        (setting("nodes.engine.selector", {"splitbed.dev/group": "system"}), "nodes: found a mapping of "),
        (
            setting("topology.pipeline", 3),
            ("topology.pipeline: found 3: its 3 pods must be on 3 different nodes, and nodes.engine.count is 2. "
            "Declare 3 engine nodes or split into 2 stages at most."),
        ),
        (
            setting("engine.resources.cpu", 6),
            "engine.resources.cpu: found 6: no node of nodes.engine leaves more than 1.5 CPU cores to pods. ",
        ),
        (setting("benchmark.resources.cpu", 1.45), "benchmark.resources: found 1.45 CPU, 0.5 GiB: with the Leader"),
        (setting("name", "Über"), 'name: found "\\u00dcber": it has characters that cannot stand there, or is empty. '),
        (
            setting("benchmark.results", {"kind": "gcs"}),
            'benchmark.results.kind: found "gcs": there is no such kind. Choose one of local, claim, s3.',
        ),
        (
            setting("benchmark.results", {"kind": "claim", "path": "/x"}),
            'benchmark.results.path: found "/x": there is no such key. Known here: kind, size_gib, storage_class.',
        ),
        (setting("benchmark.results", {"kind": "claim", "size_gib": 0}), "benchmark.results.size_gib: found 0: it mus"),
        (
            setting("benchmark.results", {"kind": "claim", "storage_class": "Fast"}),
            'benchmark.results.storage_class: found "Fast": it has characters that cannot stand there, or is empty. ',
        ),
        (setting("cluster.kubeconfig", None), "cluster.kubeconfig: found null: it is not text. "),
    ],
)  # fmt: skip
def test_each_mistake_is_named_with_path_value_and_remedy(change: Change, problem: str) -> None:
    (found,) = refusal(settings_with(change))
    assert found.startswith(problem)


def test_a_claim_needs_no_more_than_its_kind() -> None:
    benchmark = load(settings_with(setting("benchmark.results", {"kind": "claim"})), NOW).benchmark
    assert benchmark is not None
    assert benchmark.results.model_dump() == {"kind": "claim", "storage_class": None, "size_gib": 1}


def test_all_mistakes_are_said_at_once() -> None:
    found = refusal(
        settings_with(
            setting("ownr", "me"),
            setting("nodes.system.count", "1"),
            setting("end_date", "2020-01-01T00:00:00Z"),
            setting("benchmark.run", 1),
            setting("engine.flags", {"nonsense": 1}),
        )
    )
    assert [problem.partition(":")[0] for problem in found] == [
        "end_date", "nodes.system.count", "engine.flags.nonsense", "benchmark.run", "ownr",
    ]  # fmt: skip


def test_what_cannot_be_placed_is_said_together_with_a_mistake_elsewhere() -> None:
    found = refusal(settings_with(setting("ownr", "me"), setting("topology.pipeline", 5)))
    assert [problem.partition(":")[0] for problem in found] == ["ownr", "topology.pipeline"]


def test_an_ended_experiment_is_told_apart_if_nothing_else_is_wrong() -> None:
    ended = setting("end_date", "2020-01-01T00:00:00Z")
    with pytest.raises(ExpiredError):
        load(settings_with(ended), NOW)
    with pytest.raises(SettingsError) as error:
        load(settings_with(ended, setting("ownr", "me")), NOW)
    assert not isinstance(error.value, ExpiredError)


def test_a_secret_in_the_environment_is_refused_and_not_repeated() -> None:
    (found,) = refusal(settings_with(setting("engine.env", {"HF_TOKEN": "hf_abcdef"})))
    assert "hf_abcdef" not in found
    assert found.startswith("engine.env.HF_TOKEN: found a value that is not shown: this looks like a secret")


def test_a_secret_among_the_flags_is_refused_and_not_repeated() -> None:
    (found,) = refusal(settings_with(setting("engine.flags", {"api-key": "sk-abcdef"})))
    assert found.startswith("engine.flags.api-key: found a value that is not shown: ")


def test_a_stack_file_without_settings_is_told_where_to_start() -> None:
    with pytest.raises(SettingsError, match=r"experiment: it is missing\. Write it as a mapping below config"):
        load(None, NOW)


@pytest.mark.parametrize("text", ["2026-12-24 18:00:00 +0100 +0100", "2026-12-24 18:00:00 +0100 CET"])
def test_an_end_date_may_stand_without_quotes(text: str) -> None:
    settings = load(settings_with(setting("end_date", text)), NOW)
    assert settings.end_date == datetime(2026, 12, 24, 17, tzinfo=UTC)


def test_an_experiment_ends_at_its_moment_wherever_the_clock_stands() -> None:
    def ends(text: str) -> bool:
        try:
            load(settings_with(setting("end_date", text)), NOW)
        except ExpiredError:
            return True
        return False

    assert not ends("2026-11-30T12:00:01Z")
    assert ends("2026-11-30T12:00:00Z")
    assert ends("2026-11-30T13:00:00+01:00")
    assert not ends("2026-11-30T12:00:00-01:00")


def test_settings_cannot_be_changed() -> None:
    settings = load(settings_with(), NOW)
    with pytest.raises(ValueError, match="frozen"):
        settings.owner = "somebody else"  # type: ignore[misc]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "[" * 100_000, '{"a": 1e999}', '"\\ud800"', "\ud800", '{"":{}}']
)
def test_nonsense_is_refused_in_words(text: str) -> None:
    assert refusal(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def paths(value: Any, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, part in inner for path in [(*above, key), *paths(part, (*above, key))]]


PATHS = paths(stack_settings("rehearsal-split"))


def only_words(text: str) -> None:
    """Anything but Settings or SettingsError would be a traceback on somebody's terminal."""
    try:
        assert isinstance(load(text, NOW), Settings)
    except SettingsError as error:
        incomplete = [problem for problem in error.problems if not (problem.path and problem.why)]
        if incomplete or not error.problems:
            raise AssertionError(f"says nothing: {incomplete}") from error


@given(st.text())
def test_no_text_makes_a_traceback(text: str) -> None:
    only_words(text)


@given(JSON)
def test_no_json_makes_a_traceback(value: Any) -> None:
    only_words(json.dumps(value))


@given(st.sampled_from(PATHS), JSON)
@pytest.mark.thorough
def test_no_value_at_any_place_makes_a_traceback(path: tuple[str | int, ...], value: Any) -> None:
    settings: Any = copy.deepcopy(stack_settings("rehearsal-split"))
    place = settings
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    only_words(json.dumps(settings))


@given(st.sampled_from([path for path in PATHS if isinstance(path[-1], str)]), st.text(), JSON)
@pytest.mark.thorough
def test_no_key_at_any_place_makes_a_traceback(path: tuple[str | int, ...], key: str, value: Any) -> None:
    settings: Any = copy.deepcopy(stack_settings("rehearsal-split"))
    place = settings
    for step in path[:-1]:
        place = place[step]
    place[key] = value
    only_words(json.dumps(settings))


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (setting("engine.compilation", {"mode": 0, "backend": "eager"}), "engine.compilation.mode"),
        (setting("engine.flags", {"enforce-eager": True}), "engine.flags.enforce-eager"),
    ],
)
def test_what_kills_a_split_engine_at_its_first_request_is_refused_for_splits_alone(change: Change, path: str) -> None:
    (line,) = refusal(settings_with(change))

    assert path in line
    assert "mode: 2" in line
    load(settings_with(change, setting("topology", {"kind": "single"})), NOW)


def test_thousands_of_problems_are_counted_and_a_hundred_said() -> None:
    with pytest.raises(SettingsError) as caught:
        load(json.dumps({f"k{number}": 1 for number in range(3000)}), NOW)
    assert len(caught.value.problems) > 3000
    assert len(caught.value.message.splitlines()) == 102
    assert caught.value.message.endswith(" more")
