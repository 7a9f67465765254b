"""What the collector is told to read, to keep and to send."""

import json
import re
from typing import Any

import pytest

from experiment import names, shipping
from experiment.shipping import CloudWatch, Files, Source

SOURCE = Source(experiment="some-split", logs="/var/log/pods", kept="/kept")
CLOUDWATCH = shipping.cloudwatch("some-split", "eu-central-1")


def configuration(destination: CloudWatch | Files = CLOUDWATCH) -> Any:
    return json.loads(json.dumps(shipping.configuration(SOURCE, destination)))


def receiver() -> Any:
    return configuration()["receivers"]["file_log"]


def test_only_this_experiments_pods_are_read_and_not_the_shippers_own() -> None:
    found = receiver()
    assert found["include"] == [
        "/var/log/pods/exp-some-split_*/*/*.log",
        "/var/log/pods/exp-some-split_*/*/*.log.2*",
    ]
    assert not any("exp-some-split-logs" in pattern for pattern in found["include"]), "where the shipper's own are"


def test_new_files_are_seen_at_once_and_read_from_their_head() -> None:
    found = receiver()
    assert found["poll_interval"] == "200ms"
    assert found["start_at"] == "beginning"


def test_nothing_is_in_memory_alone() -> None:
    found = configuration()
    kept = found["extensions"]["file_storage"]
    assert kept["directory"].startswith("/kept/")
    assert receiver()["storage"] == "file_storage"
    queue = found["exporters"]["otlp_http"]["sending_queue"]
    assert queue["storage"] == "file_storage"
    assert queue["block_on_overflow"] is True
    assert "stanza.synchronousLogEmitter" in shipping.FEATURES


def test_it_never_gives_up() -> None:
    found = configuration()
    assert found["exporters"]["otlp_http"]["retry_on_failure"]["max_elapsed_time"] == "0s", "0 is without an end"
    assert receiver()["retry_on_failure"] == {"enabled": True, "max_elapsed_time": "0s"}
    assert found["exporters"]["otlp_http"]["sending_queue"]["num_consumers"] == 1


def test_requests_are_far_below_what_cloudwatch_takes() -> None:
    queue = configuration()["exporters"]["otlp_http"]["sending_queue"]
    assert queue["sizer"] == "bytes"
    assert queue["batch"]["min_size"] < queue["batch"]["max_size"] <= 1024 * 1024 // 4


@pytest.mark.parametrize(
    ("region", "endpoint"),
    [
        ("us-east-1", "https://logs.us-east-1.amazonaws.com/v1/logs"),
        ("cn-north-1", "https://logs.cn-north-1.amazonaws.com.cn/v1/logs"),
    ],
)
def test_cloudwatch_is_asked_in_its_own_region_by_a_signed_request(region: str, endpoint: str) -> None:
    found = configuration(shipping.cloudwatch("some-split", region))
    exporter = found["exporters"]["otlp_http"]
    assert exporter["logs_endpoint"] == endpoint
    assert exporter["headers"] == {"x-aws-log-group": "/splitbed/exp-some-split", "x-aws-log-stream": "pods"}
    assert exporter["compression"] == "gzip"
    assert found["extensions"][exporter["auth"]["authenticator"]] == {"region": region, "service": "logs"}


def test_files_are_written_through_and_have_an_end() -> None:
    found = configuration(Files(directory="/files"))
    (exporter,) = found["exporters"].values()
    assert exporter["path"] == "/files/${env:NODE_NAME}.jsonl", "nodes may share a disk"
    assert exporter["rotation"] == {"max_megabytes": 100, "max_backups": 10}, "without rotation it would be buffered"
    assert "sigv4auth" not in found["extensions"]


@pytest.mark.parametrize("destination", [CLOUDWATCH, Files(directory="/files")])
def test_every_part_that_is_described_is_used(destination: CloudWatch | Files) -> None:
    found = configuration(destination)
    service = found["service"]
    assert set(service["extensions"]) == set(found["extensions"])
    assert service["pipelines"]["logs"] == {
        "receivers": list(found["receivers"]),
        "exporters": list(found["exporters"]),
    }


def test_a_line_is_named_by_its_path_and_its_pods_name() -> None:
    first, *others = receiver()["operators"]
    assert first == {"type": "container"}, "namespace, pod, uid, container and restart"
    parsers = [each for each in others if each["type"] == "regex_parser"]
    assert [each["parse_from"] for each in parsers] == ['resource["k8s.pod.name"]'] * 2
    moved = {each["to"] for each in others if each["type"] == "move"}
    assert moved == {f'resource["splitbed.{part}"]' for part in ("run", "plan", "attempt", "group", "worker")}
    assert receiver()["resource"] == {"k8s.node.name": "${env:NODE_NAME}", "splitbed.experiment": "some-split"}
    assert receiver()["include_file_record_offset"] is True, "by which a line that was sent twice is known"


def test_the_condition_of_a_parser_is_its_own_pattern() -> None:
    for operator in receiver()["operators"]:
        if operator["type"] == "regex_parser":
            quoted = operator["if"].removeprefix('resource["k8s.pod.name"] matches ')
            assert json.loads(quoted) == operator["regex"]


def test_a_jobs_pod_tells_run_plan_and_attempt() -> None:
    job = names.job_name("2026-11-30", "0123456789ab", 12)
    found = re.match(names.run_pattern(), f"{job}-x7k2p")
    assert found is not None
    assert found.groupdict() == {"run": "2026-11-30", "plan": "0123456789ab", "attempt": "12"}
    assert re.match(names.run_pattern(), names.object_name("bench-1")) is None


@pytest.mark.parametrize(
    ("pod", "parts"),
    [
        ("exp-some-split-0", {"group": "0", "worker": None}),
        ("exp-some-split-3-12", {"group": "3", "worker": "12"}),
        ("exp-some-split-leader", None),
        ("exp-some-0", None),
    ],
)
def test_an_engines_pod_tells_group_and_worker(pod: str, parts: dict[str, str | None] | None) -> None:
    found = re.match(names.group_pattern("some-split"), pod)
    assert (found.groupdict() if found else None) == parts
