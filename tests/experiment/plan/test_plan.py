"""The numbers of issue 5 and of the posts, as the plan tells them; each test names its source."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from experiment.plan import words
from experiment.plan.plan import ExperimentPlan, make
from tests.experiment.plan.samples import GEMMA_1B, GEMMA_12B, NOW, settings
from tests.experiment.stacks import settings_of

SINGLE = {"kind": "single"}


def planned(sample: dict[str, Any], **changes: Any) -> ExperimentPlan:
    return make(settings(sample, **changes), NOW)


def names(plan: ExperimentPlan) -> dict[str, bool]:
    """Names of all advice, and whether it stops."""
    return {one.name: one.stops for one in plan.advice}


def test_the_12b_posts_experiment_fits_as_it_was_run() -> None:
    """12B post: a cache of 2,186 tokens, concurrency 1.07 at 2,048 tokens; the real figure is about 20 of 26 GiB."""
    plan = planned(GEMMA_12B)
    assert plan.goes
    assert plan.cache is not None
    assert (plan.cache.tokens, plan.cache.concurrency) == (2186, 1.07)
    assert plan.memory is not None
    assert plan.memory.fit == "fits"
    assert plan.memory.limit_gib == 26
    assert plan.memory.largest.low_gib <= 20 <= plan.memory.largest.high_gib


def test_4096_tokens_are_refused_and_2048_proposed() -> None:
    """Issue 5 and 12B post: 0.68 GiB needed, 0.37 GiB available, 2048 proposed."""
    plan = planned(GEMMA_12B, engine__max_model_len=4096)
    assert not plan.goes
    assert [refusal.name for refusal in plan.refusals] == ["kv-cache-refused"]
    assert plan.cache is not None
    assert (plan.cache.needed_gib, plan.cache.available_gib, plan.cache.proposed_len) == (0.68, 0.37, 2048)
    assert "needs 0.68 GiB of KV cache, and 0.37 GiB are available" in plan.stops[0]


def test_the_first_start_of_the_12b_post_is_refused_by_the_engines_guard() -> None:
    """12B post: "Available memory on node 0 (0.58/26.0 GiB) ... less than requested memory for kv (4.0 GiB)"."""
    plan = planned(GEMMA_12B, engine__kv_cache={"kind": "space", "gib": 4}, engine__max_model_len=4096)
    assert [refusal.name for refusal in plan.refusals] == ["memory-does-not-fit"]
    assert plan.memory is not None
    assert plan.memory.guard is not None
    assert plan.memory.guard.worst_gib == pytest.approx(0.58, abs=0.005)
    assert plan.memory.guard.best_gib == pytest.approx(0.97, abs=0.005)


def test_the_12b_does_not_fit_one_of_its_nodes() -> None:
    """12B post: 22.3 GiB of weights and about 8 GiB of overhead exceed 29.8 GiB."""
    plan = planned(GEMMA_12B, topology=SINGLE, engine__resources={"cpu": 6, "memory_gib": 29})
    assert "memory-does-not-fit" in [refusal.name for refusal in plan.refusals]
    assert plan.memory is not None
    weights = plan.memory.largest.shares[0]
    assert weights.high_gib == pytest.approx(22.3, abs=0.15)


def test_splitting_the_1b_is_a_mistake_until_it_is_accepted() -> None:
    """1B post: "If the model fits on one machine, don't split it"."""
    plan = planned(GEMMA_1B)
    assert names(plan)["split-fits-one-pod"]
    assert not plan.goes
    assert "accept: [split-fits-one-pod]" in plan.stops[0]
    accepted = planned(GEMMA_1B, accept=["split-fits-one-pod"])
    assert accepted.goes
    assert not names(accepted)["split-fits-one-pod"]


def test_the_1bs_kv_cache_is_that_of_a_real_server() -> None:
    """tests/data/vllm/kv-truth.json: 212,369 tokens and 51.85 in one pod, 291,777 and 71.23 split over two."""
    one, two = planned(GEMMA_1B, topology=SINGLE).cache, planned(GEMMA_1B).cache
    assert one is not None
    assert two is not None
    assert (one.tokens, one.concurrency) == (212_369, 51.85)
    assert (two.tokens, two.concurrency) == (291_777, 71.23)


def test_a_split_that_is_needed_is_no_mistake_and_other_instances_are_named() -> None:
    """Issue 5: m7g.4xlarge costs two m7g.2xlarge; r7g.2xlarge has its 64 GiB for 0.4284 USD."""
    plan = planned(GEMMA_12B)
    assert "split-fits-one-pod" not in names(plan)
    (advice,) = [one for one in plan.advice if one.name == "another-instance-avoids-split"]
    assert advice.numbers["r7g.2xlarge"] == 0.4284
    assert advice.numbers["m7g.4xlarge"] == advice.numbers["usd_per_hour"] == pytest.approx(2 * 0.3264)
    assert not advice.stops


def test_time_to_the_first_request_is_the_12b_posts() -> None:
    """12B post: weights in 162 seconds, loaded in about 90, about 50 to warm up; about six minutes in all."""
    duration = planned(GEMMA_12B).duration
    took = {step.name: (round(step.seconds), step.basis) for step in duration.steps}
    assert took["weights from the hub, at every start"] == (162, "measured")
    assert took["weights into memory"] == (90, "measured")
    assert took["warm-up"] == (50, "measured")
    assert duration.restart_s == pytest.approx(360, abs=1)


def test_weights_that_a_node_keeps_are_not_fetched_again() -> None:
    duration = planned(GEMMA_12B, model__weights={"source": "hub", "cache": "node"}).duration
    assert duration.restart_s == pytest.approx(360 - 162, abs=1)


def test_expectation_stands_beside_what_the_posts_measured() -> None:
    """12B post: 4.0 tokens a second, 241 ms each."""
    speed = planned(GEMMA_12B).speed
    assert speed is not None
    assert speed.token_ms == pytest.approx(241, rel=0.05)
    (found,) = [one for one in speed.posts if one.measured == 4.0]
    assert found.error == pytest.approx(0, abs=0.05)


def test_prices_and_sums_of_the_engines_nodes() -> None:
    """Issue 5: m7g.2xlarge at 0.3264 USD an hour on 2026-07-06."""
    money = planned(GEMMA_12B).money
    assert money is not None
    (nodes,) = [line for line in money.hourly if line.what.startswith("2 x m7g.2xlarge")]
    assert nodes.usd == pytest.approx(0.6528)
    assert "2026-07-06" in money.dated
    assert money.hour_usd == pytest.approx(sum(line.usd or 0 for line in money.hourly))
    assert money.end_h == 48
    once = sum(line.usd or 0 for line in money.once)
    assert money.end_usd == pytest.approx(48 * money.hour_usd + once)
    assert money.run_h is not None
    assert money.run_usd == pytest.approx(money.run_h * money.hour_usd + once)


def test_a_budget_is_not_exceeded_by_forgetting() -> None:
    enough = planned(GEMMA_12B, budget={"usd": 100})
    assert enough.goes
    too_little = planned(GEMMA_12B, budget={"usd": 20})
    assert [refusal.name for refusal in too_little.refusals] == ["over-budget"]
    assert "until the end date are more than the budget of 20 USD" in too_little.stops[0]


def test_without_an_end_date_the_planned_run_is_held_against_the_budget() -> None:
    assert planned(GEMMA_12B, end_date=None, budget={"usd": 20}).goes
    refused = planned(GEMMA_12B, end_date=None, budget={"usd": 1})
    assert [refusal.name for refusal in refused.refusals] == ["over-budget"]


def test_an_unknown_price_is_named_and_never_zero() -> None:
    plan = planned(GEMMA_12B, nodes__engine={"instance": "m7g.2xlarge", "count": 2, "purchase": "spot"})
    assert plan.money is not None
    (line,) = [line for line in plan.money.hourly if "spot" in line.what]
    assert line.usd is None
    assert any("on demand it is 0.6528 USD an hour" in one for one in plan.money.unknown)


def test_another_region_has_no_known_tariff_of_which_the_sum_would_be_wrong() -> None:
    cluster = {"kind": "eks", "region": "eu-central-1", "zones": ["eu-central-1a", "eu-central-1b"]}
    money = planned(GEMMA_12B, cluster=cluster).money
    assert money is not None
    unpriced = [line for line in money.hourly if line.usd is None]
    assert len(money.unknown) >= len(unpriced)
    assert all("is not known" in line.basis for line in unpriced)


def test_inputs_that_no_test_needs_are_named() -> None:
    """12B post: images, sound and video were switched off; how much that saved was not measured."""
    assert "multimodal-inputs-on" not in names(planned(GEMMA_12B))
    assert "multimodal-inputs-on" in names(planned(GEMMA_12B, engine__flags={}))
    assert "multimodal-inputs-on" not in names(planned(GEMMA_1B))


def test_memory_and_cache_that_are_paid_for_and_not_used_are_named() -> None:
    found = names(planned(GEMMA_1B))
    assert found["memory-asked-and-unused"] is False
    assert found["kv-cache-mostly-unused"] is False
    assert "memory-asked-and-unused" not in names(planned(GEMMA_12B))


def test_room_for_the_page_cache_is_not_called_unused() -> None:
    """12B post: what the guard counts as taken is the page cache of 22 GiB of files; less memory would be refused."""
    whole = planned(
        GEMMA_12B,
        topology=SINGLE,
        nodes__engine={"instance": "r7g.2xlarge", "count": 1},
        engine__resources={"cpu": 6, "memory_gib": 58},
        engine__kv_cache={"kind": "space", "gib": 3},
    )
    assert whole.memory is not None
    assert whole.memory.fit == "fits"
    assert "memory-asked-and-unused" not in names(whole)


def test_credits_stop_it() -> None:
    plan = planned(GEMMA_1B, topology=SINGLE, nodes__engine={"instance": "t4g.2xlarge", "count": 1})
    assert names(plan)["burstable-engine"]


def test_more_threads_than_quota_is_told_with_its_numbers() -> None:
    """1B post and shared/vllm: 7 threads under a quota of 6."""
    (advice,) = [one for one in planned(GEMMA_1B).advice if one.name == "threads-over-quota"]
    assert (advice.numbers["threads"], advice.numbers["quota_cpus"]) == (7, 6)
    assert not advice.mistake
    assert "threads-over-quota" not in names(planned(GEMMA_1B, engine__threads="whole-cores"))


def test_the_benchmark_is_expected_to_last_what_the_post_saw() -> None:
    """1B post: about 57 ms a token of the split, eight replies of 200 tokens."""
    duration = planned(GEMMA_1B).duration
    assert duration.benchmark_s == pytest.approx(8 * 200 * 0.057, rel=0.02)
    assert duration.benchmark_longest_s is not None
    assert duration.benchmark_longest_s >= 8 * 600


def test_a_probe_that_kills_while_it_loads_stops_it() -> None:
    """An init container fetches the weights of a gated model, before the probe begins."""
    assert names(planned(GEMMA_12B, engine__probes={"startup_s": 197}))["startup-probe-too-short"]
    assert "startup-probe-too-short" not in names(planned(GEMMA_12B, engine__probes={"startup_s": 199}))


def test_a_node_that_holds_nothing_is_named() -> None:
    assert "idle-engine-nodes" in names(planned(GEMMA_1B, topology=SINGLE))
    assert "idle-engine-nodes" not in names(planned(GEMMA_1B))


def test_a_model_that_nobody_knows_is_said_and_stops_nothing() -> None:
    plan = planned(GEMMA_1B, model={"name": "somebody/own", "served_name": "own"})
    assert plan.goes
    assert plan.memory is None
    assert plan.cache is None
    assert plan.duration.first_request_s is None
    assert any("nothing is known of somebody/own" in one for one in plan.unknown)


def test_a_rehearsal_is_never_stopped_by_what_its_stand_in_does_not_keep() -> None:
    nodes = {
        "system": {"count": 1, "cpu": 1.5, "memory_gib": 1, "selector": {"splitbed.dev/group": "system"}},
        "engine": {"count": 2, "cpu": 1.5, "memory_gib": 2, "selector": {"splitbed.dev/group": "engine"}},
    }
    plan = planned(
        GEMMA_1B,
        cluster={"kind": "kubeconfig", "kubeconfig": "/somewhere"},
        nodes=nodes,
        end_date=None,
        engine__image="splitbed.invalid/standin:1",
        engine__resources={"cpu": 1, "memory_gib": 1, "shared_memory_gib": 0.125},
        engine__kv_cache={"kind": "bytes", "bytes": 268435456},
        benchmark__results={"kind": "local", "path": "/var/lib/x"},
    )
    assert plan.goes
    assert plan.cache is not None
    assert plan.memory is None
    assert plan.money is None
    assert plan.speed is None
    assert any("does not keep the model's weights" in one for one in plan.unknown)


def test_nothing_served_needs_nothing_known() -> None:
    plan = planned(GEMMA_12B, topology={"kind": "none"})
    assert plan.goes
    assert plan.cache is None
    assert plan.duration.restart_s is None


def test_flags_that_the_engine_cannot_lay_out_are_refused() -> None:
    plan = planned(GEMMA_12B, engine__env={"VLLM_PP_LAYER_PARTITION": "24,25"})
    assert [refusal.name for refusal in plan.refusals] == ["layout-refused"]


def test_the_json_is_what_its_schema_says() -> None:
    schema = json.loads((Path(__file__).parents[3] / "docs" / "plans" / "plan.schema.json").read_text())
    checked = Draft202012Validator(schema)
    for plan in (
        planned(GEMMA_1B),
        planned(GEMMA_12B, engine__max_model_len=4096),
        planned(GEMMA_12B, topology=SINGLE),
    ):
        document = json.loads(plan.to_json())
        checked.validate(document)
        assert document["schema_version"] == 1
        assert ExperimentPlan.model_validate_json(plan.to_json()) == plan


def test_the_plan_does_not_depend_on_when_it_is_made_but_for_the_end_date() -> None:
    early = planned(GEMMA_12B)
    later = make(settings(GEMMA_12B), NOW.replace(hour=13))
    assert early.model_dump(exclude={"now", "money"}) == later.model_dump(exclude={"now", "money"})
    assert early.money is not None
    assert later.money is not None
    assert early.money.run_usd == later.money.run_usd


def test_a_cache_of_no_block_leaves_nothing_rather_than_less() -> None:
    plan = planned(GEMMA_12B, engine__kv_cache={"kind": "bytes", "bytes": 1})
    assert plan.cache is not None
    assert plan.cache.available_gib == 0
    assert ", and 0.00 GiB are available" in plan.refusals[0].text


def test_where_nothing_is_served_there_is_no_first_request() -> None:
    plan = planned(GEMMA_1B, topology={"kind": "none"})
    assert plan.duration.first_request_s is None
    assert plan.duration.run_s == sum(step.seconds for step in plan.duration.steps) > 0


def test_a_pending_pods_event_ends_with_one_period() -> None:
    plan = planned(GEMMA_1B, topology={"kind": "replicas", "count": 3})
    pending = next(refusal for refusal in plan.refusals if refusal.name == "pods-stay-pending")
    assert pending.text.endswith(".")
    assert not pending.text.endswith("..")


def test_the_12b_posts_pods_surely_hold_what_the_guard_saw_and_no_more() -> None:
    """12B post: 0.58 GiB seen; 4,096 tokens need 0.68 GiB, the 2,048 that it served 0.37."""
    plan = planned(GEMMA_12B, engine__kv_cache={"kind": "space", "gib": 4}, engine__max_model_len=4096)
    assert plan.memory is not None
    assert plan.memory.guard is not None
    assert plan.memory.guard.sure_gib == 0.58
    assert 2048 < plan.memory.guard.sure_len < 4096
    assert f"with engine.max_model_len: {plan.memory.guard.sure_len}" in plan.refusals[0].remedy


@pytest.mark.parametrize(
    ("cache", "remedy"),
    [
        ({"kind": "space", "gib": 1}, "Take engine.max_model_len: 6016, or engine.kv_cache.gib: 2."),
        ({"kind": "bytes", "bytes": 2**30}, "Take engine.max_model_len: 6016, or engine.kv_cache.bytes: 2072321721."),
    ],
)
def test_a_larger_cache_is_proposed_as_the_stack_file_writes_it(cache: dict[str, Any], remedy: str) -> None:
    plan = make(settings(GEMMA_12B, engine__kv_cache=cache, engine__max_model_len=65536), NOW)
    (refusal,) = [one for one in plan.refusals if one.name == "kv-cache-refused"]
    assert refusal.remedy == remedy


def test_what_surely_passes_the_guard_is_said_to_the_byte_where_whole_gib_would_be_none() -> None:
    plan = make(settings(GEMMA_12B, engine__kv_cache={"kind": "space", "gib": 1}), NOW)
    (refusal,) = [one for one in plan.refusals if one.name == "memory-does-not-fit"]
    assert "0.58 GiB surely passes: engine.kv_cache: {kind: bytes, bytes: 622770257}; or" in refusal.remedy


def test_one_pod_instead_of_a_split_keeps_the_tensor_parts() -> None:
    """Without them the advice would itself be refused."""
    plan = make(settings_of("llama-70b-tp2pp2"), NOW)
    (text,) = [one.text for one in plan.advice if one.name == "split-fits-one-pod"]
    assert "{kind: single, tensor: 2}, or {kind: replicas, count: 2, tensor: 2}" in text
    assert "21 %" not in text, "a CPU's figure"


def test_prices_that_are_not_known_are_not_nothing() -> None:
    plan = planned(GEMMA_12B, cluster__region="eu-central-1", cluster__zones=["eu-central-1a", "eu-central-1b"])
    shown = dict(words.figures(plan))
    assert (shown["an hour"], shown["planned run"]) == ("not known", "not known")
    assert dict(words.figures(planned(GEMMA_12B)))["an hour"] == "0.92 USD"
