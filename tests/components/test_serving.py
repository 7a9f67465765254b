"""What the settings of service, controller and GPUs make of the set and its Services."""

from functools import cache
from typing import Any

import pytest

from tests.recording import Recording, run, stack_settings

LWS = "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"
SERVICE = "kubernetes:core/v1:Service"
JOB = "kubernetes:batch/v1:Job"


@cache
def recorded(stack: str) -> Recording:
    return run(stack_settings(stack))


def varied(stack: str, **changes: Any) -> Recording:
    settings = stack_settings(stack)
    for path, value in changes.items():
        *above, last = path.split("__")
        place = settings
        for key in above:
            place = place.setdefault(key, {})
        place[last] = value
    return run(settings)


def services(recording: Recording) -> dict[str, dict[str, Any]]:
    return {one.inputs["metadata"]["name"]: dict(one.inputs["spec"]) for one in recording.of_type(SERVICE)}


def measured_url(recording: Recording) -> str:
    arguments = recording.one(JOB).inputs["spec"]["template"]["spec"]["containers"][0]["args"]
    return str(arguments[arguments.index("--url") + 1])


def test_sessions_stick_for_the_posts_three_hours() -> None:
    sticky = services(recorded("llama-70b-tp2x2"))["exp-llama-70b-tp2x2-leader"]
    assert sticky["sessionAffinity"] == "ClientIP"
    assert sticky["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}


def test_the_benchmark_has_a_service_of_its_own_where_stickiness_is_not_measured() -> None:
    recording = recorded("llama-70b-tp2x2")
    both = services(recording)
    plain, sticky = both["exp-llama-70b-tp2x2-measured"], both["exp-llama-70b-tp2x2-leader"]
    assert plain == {key: value for key, value in sticky.items() if not key.startswith("sessionAffinity")}
    assert measured_url(recording).startswith("http://exp-llama-70b-tp2x2-measured.")
    assert str(recording.outputs["service_url"]).startswith("http://exp-llama-70b-tp2x2-leader.")


def test_else_there_is_one_service_for_all() -> None:
    for recording in (
        varied("rehearsal-single"),
        varied("rehearsal-single", service={"sticky_s": 60}),
        varied("rehearsal-single", service={"measure_sticky": False}),
    ):
        assert set(services(recording)) == {"exp-rehearsal-single-leader"}
        assert measured_url(recording) == recording.outputs["service_url"]


@pytest.mark.parametrize(("stack", "gpus"), [("llama-70b-tp4x1", "4"), ("llama-70b-tp2x2", "2")])
def test_a_pod_asks_for_a_gpu_for_each_part_of_a_layer(stack: str, gpus: str) -> None:
    spec = recorded(stack).one(LWS).inputs["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    resources = spec["containers"][0]["resources"]
    assert resources["limits"]["nvidia.com/gpu"] == gpus
    assert resources["requests"] == resources["limits"]
    assert spec["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}
    ]


def test_stages_of_tensor_parts_ask_for_their_own_nodes_gpus() -> None:
    templates = recorded("llama-70b-tp2pp2").one(LWS).inputs["spec"]["leaderWorkerTemplate"]
    assert templates["size"] == 2
    for role in ("leaderTemplate", "workerTemplate"):
        (engine,) = templates[role]["spec"]["containers"]
        assert engine["resources"]["limits"]["nvidia.com/gpu"] == "2"


def test_pods_on_cpus_ask_for_none() -> None:
    spec = recorded("rehearsal-single").one(LWS).inputs["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    assert set(spec["containers"][0]["resources"]["limits"]) == {"cpu", "memory"}


def test_the_restart_policy_is_the_settings() -> None:
    usual = recorded("rehearsal-single").one(LWS).inputs["spec"]["leaderWorkerTemplate"]
    assert usual["restartPolicy"] == "RecreateGroupAfterStart"
    other = varied("rehearsal-single", lws__restart_policy="None").one(LWS).inputs["spec"]["leaderWorkerTemplate"]
    assert other["restartPolicy"] == "None"
