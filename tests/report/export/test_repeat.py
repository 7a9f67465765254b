"""What llm-d's tools read of a repeat: keys and units of its schema, figures of the record."""

import json
from typing import Any

import pytest

from experiment.measure.counters import HITS, QUERIES, RUNNING, Counters, Scrape, ServerCounters
from experiment.measure.figures import TestFigures
from experiment.measure.load import LoadFigures
from experiment.measure.pods import GONE, Pods, uses
from experiment.record import RepeatRecord
from report.export.repeat import file_name, report_of
from tests.benchmark.records import REAL, failure, repeat, reply, request
from tests.experiment.measure.test_pods import counters, pod

BUSY = pod(counters(0), counters(10, used_s=30.0)).model_copy(update={"instance_type": "m7i.2xlarge"})
PODS = Pods(pods=(BUSY,))


def told(record: RepeatRecord, stage: int = 0) -> dict[str, Any]:
    return report_of(record, stage, "9.9").to_dict()


def loaded(**changes: Any) -> RepeatRecord:
    """Two users, one of whom failed, on a machine that is known."""
    requests = (request(reply(0.5, (0.25, 0.5))), request(failure(), user=1, id="0ff"))
    figures = TestFigures(load=LoadFigures.of(requests), pods=uses(PODS, 3))
    fields: dict[str, Any] = {"requests": requests, "figures": figures, "pods": PODS, "engine": REAL}
    return repeat(1, **(fields | {"test_kind": "concurrency", "cell": "concurrency-2", "value": 2} | changes))


def test_figures_of_the_requests_are_the_records() -> None:
    found = told(loaded())["results"]["request_performance"]["aggregate"]
    assert (found["requests"]["total"], found["requests"]["failures"]) == (2, 1)
    assert found["requests"]["output_length"]["mean"] == 3
    assert found["latency"]["time_to_first_token"]["mean"] == 0.5
    assert found["latency"]["time_to_first_token"]["units"] == "s"
    assert found["latency"]["time_per_output_token"]["p50"] == 0.375
    gaps = found["latency"]["inter_token_latency"]
    assert (gaps["min"], gaps["max"], gaps["mean"], gaps["stddev"]) == (0.25, 0.5, 0.375, 0.125)
    assert found["latency"]["normalized_time_per_output_token"]["mean"] == pytest.approx(1.25 / 3)
    assert found["throughput"]["output_token_rate"] == {"units": "tokens/s", "mean": 3 / 1.25}
    assert found["throughput"]["total_token_rate"]["mean"] == pytest.approx((64 + 3) / 1.25)
    assert found["throughput"]["request_rate"]["units"] == "queries/s"


def test_the_load_is_told_in_llmds_words() -> None:
    load = told(loaded(), stage=3)["scenario"]["load"]["standardized"]
    assert load["input_seq_len"] == {"distribution": "fixed", "value": 64}
    assert (load["tool"], load["tool_version"], load["stage"], load["concurrency"]) == ("splitbed", "9.9", 3, 2)
    assert "rate_qps" not in load
    arriving = told(loaded(test_kind="profiles", cell="p", value="chat 0.05"))["scenario"]["load"]["standardized"]
    assert arriving["rate_qps"] == 0.05
    assert "concurrency" not in arriving


def test_an_idle_repeat_has_no_load_and_no_requests() -> None:
    found = told(loaded(test_kind="idle", cell="idle", requests=(), figures=TestFigures(pods=uses(PODS, 0))))
    assert "load" not in found["scenario"]
    assert "request_performance" not in found["results"]


def test_an_engine_whose_machine_is_known_is_an_inference_engine() -> None:
    (component,) = told(loaded())["scenario"]["stack"]
    standard = component["standardized"]
    assert (standard["kind"], standard["tool"], standard["tool_version"]) == ("inference_engine", "vllm", "0.31.0")
    parallel = {"tp": 1, "pp": 2, "workers": 2}
    assert standard["accelerator"] == {"model": "CPU of m7i.2xlarge", "count": 0, "parallelism": parallel}
    assert component["metadata"]["label"] == "engine"


@pytest.mark.parametrize(("machine", "model", "count"), [("g6.12xlarge", "NVIDIA-L4", 2), (None, None, None)])
def test_gpus_are_counted_and_what_is_not_known_is_not_made_up(
    machine: str | None, model: str | None, count: int | None
) -> None:
    pods = Pods(pods=(BUSY.model_copy(update={"instance_type": machine}),))
    standard = told(loaded(pods=pods, topology={"kind": "single", "tensor": 2}))["scenario"]["stack"][0]["standardized"]
    if machine is None:
        assert (standard["kind"], standard["topology"]["tensor"]) == ("generic", 2)
    else:
        assert (standard["accelerator"]["model"], standard["accelerator"]["count"]) == (model, count)


def test_a_simulated_figure_is_called_so_wherever_it_is_read() -> None:
    found = told(repeat(1))
    assert "simulated" in found["run"]["description"]
    assert "simulated" in found["run"]["keywords"]
    assert "simulated" in found["scenario"]["stack"][0]["standardized"]["tool"]


def test_health_says_what_was_seen_and_no_more() -> None:
    def health(**changes: Any) -> Any:
        (found,) = told(loaded(**changes))["results"]["component_health"]
        return found

    well = health()
    assert (well["total_restarts"], well["failed_replicas"]) == (0, 0)
    assert well["replica_health"] == [{"replica_id": "x-0", "restarts": 0, "healthy": True}]
    unsure = health(disturbed=("pod x-0 was not ready for some time",))
    assert unsure["replica_health"] == [{"replica_id": "x-0"}]
    assert "failed_replicas" not in unsure
    gone = Pods(pods=(BUSY.model_copy(update={"after": None, "unknown": GONE}),))
    lost = health(pods=gone, figures=TestFigures(), disturbed=("pod x-0 is gone",))
    assert (lost["failed_replicas"], lost["replica_health"]) == (1, [{"replica_id": "x-0", "healthy": False}])
    assert "component_health" not in told(loaded(pods=Pods(unknown="x"), figures=TestFigures()))["results"]


def test_what_servers_and_pods_counted_is_observed() -> None:
    before = {QUERIES: 100.0, HITS: 10.0, RUNNING: 0.0}
    scrapes = [
        Scrape(asked_s=at, answered_s=at, values=values)
        for at, values in enumerate((before, {RUNNING: 4.0}, {QUERIES: 200.0, HITS: 60.0, RUNNING: 2.0}))
    ]
    server = ServerCounters(
        address="http://e:8000", before=scrapes[0], each_second=(scrapes[1],), after=scrapes[2], missed=0
    )
    of_server, of_pod = told(loaded(counters=Counters(servers=(server,))))["results"]["observability"]["components"]
    assert of_server["replica_id"] == "http://e:8000"
    assert of_server["aggregate"]["cache_hit_rate"]["mean"] == 0.5
    assert (of_server["aggregate"]["running_requests"]["mean"], of_server["aggregate"]["running_requests"]["max"]) == (
        2,
        4,
    )
    assert of_pod["replica_id"] == "x-0"
    assert of_pod["aggregate"]["cpu_utilization"] == {"units": "fraction", "mean": 30 / (10 * 6)}


def test_what_the_format_has_no_key_for_is_under_ours() -> None:
    ours = told(loaded(disturbed=("it was",)))["results"]["observability"]["splitbed"]
    assert ours["disturbed"] == ["it was"]
    assert ours["client_limited"] is None
    assert "ttft_s" in ours["formulas"]
    assert ours["figures"]["pods"][0]["cpu_s"] == 30
    assert "load" not in ours["figures"]


def test_a_report_is_json_and_two_repeats_have_two_names() -> None:
    first, second = repeat(1), repeat(2)
    assert json.loads(json.dumps(told(first)))["version"] == "0.2"
    assert file_name(first) != file_name(second)
    assert file_name(first) == "benchmark_report_v0.2,_1_0123456789ab_one-user-1.yaml"
    assert told(first)["run"]["uid"] != told(second)["run"]["uid"]
    assert told(first)["run"]["eid"] == told(second)["run"]["eid"]
