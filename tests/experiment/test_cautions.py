from typing import Any

import pytest

from experiment.cautions import cautions
from experiment.warning import Warning  # noqa: A004  the word of the field
from tests.experiment.stacks import settings_of


def named(stack: str, **changes: Any) -> dict[str, Warning]:
    return {warning.name: warning for warning in cautions(settings_of(stack, **changes))}


def test_the_1b_post_ran_seven_threads_under_a_quota_of_six() -> None:
    # The 1B post: m7g.2xlarge, 8 vCPU, 6 CPUs a pod; its author presumes 7 threads.
    warning = named("gemma-1b-split")["threads-over-quota"]
    assert warning.numbers == {"threads": 7, "quota_cpus": 6, "visible_cpus": 8, "period_ms": 100}
    assert "7 threads" in warning.text
    assert "6 CPUs" in warning.text
    assert not warning.mistake


@pytest.mark.parametrize("threads", ["within-quota", "whole-cores"])
def test_one_setting_away_they_are_within_it(threads: str) -> None:
    assert "threads-over-quota" not in named("gemma-1b-split", engine__threads=threads)


def test_the_pinned_stack_has_nothing_to_be_warned_of() -> None:
    assert named("gemma-1b-split-pinned") == {}


def test_a_quota_of_all_cores_but_one_is_enough() -> None:
    assert "threads-over-quota" not in named("gemma-1b-split", engine__resources__cpu=7)


def test_threads_are_no_matter_on_gpus() -> None:
    assert named("llama-70b-tp4x1") == {}


def test_a_cluster_that_is_there_may_have_no_static_cpu_manager() -> None:
    assert set(named("rehearsal-split", engine__threads="whole-cores")) == {"cpu-manager-unseen"}


def test_a_burstable_engine_is_a_mistake() -> None:
    warning = named("gemma-1b-single", nodes__engine__instance="t4g.2xlarge")["burstable-engine"]
    assert warning.mistake


def test_stages_in_two_zones_are_a_mistake_and_copies_are_not() -> None:
    assert named("gemma-1b-split", nodes__engine__spread=True)["split-over-zones"].mistake
    assert "split-over-zones" not in named("gemma-1b-replicas", nodes__engine__spread=True)


def test_spot_instances_may_be_taken_back() -> None:
    assert "spot-engine" in named("gemma-1b-single", nodes__engine__purchase="spot")


def test_a_fabric_that_nothing_uses_is_said() -> None:
    fabric = {"nodes__engine__efa": True}
    assert "no group has pods on two nodes" in named("llama-70b-tp4x1", **fabric)["efa-unused"].text
    on_cpus = named("gemma-1b-split", nodes__engine__instance="c7g.16xlarge", **fabric)["efa-unused"]
    assert "gloo knows TCP alone" in on_cpus.text
    assert "efa-unused" not in named("llama-70b-tp2pp2", **fabric)


def test_what_an_image_lacks_for_the_fabric_is_said_plainly() -> None:
    fabric = {"nodes__engine__efa": True}
    of_vllm = named("llama-70b-tp2pp2", **fabric)["efa-needs-libraries"]
    assert "docker.io/vllm/vllm-openai:v0.31.0 is vLLM's own image, which has neither" in of_vllm.text
    own = named("llama-70b-tp2pp2", engine__image="registry.example/engine:1", **fabric)["efa-needs-libraries"]
    assert "Nothing here knows whether registry.example/engine:1 has them" in own.text
    assert "efa-needs-libraries" not in named("llama-70b-tp2pp2")


def test_one_address_sees_one_copy_of_a_sticky_service() -> None:
    assert "sticky-by-address" not in named("llama-70b-tp2x2")
    assert "sticky-by-address" not in named("gemma-1b-replicas")
    measured = named("llama-70b-tp2x2", service__measure_sticky=True)["sticky-by-address"]
    assert measured.numbers == {"sticky_s": 10800, "copies": 2, "streams": 128}
    assert measured.mistake
    alone = [{"kind": "follow-up"}]
    sticky = named("gemma-1b-replicas", service={"sticky_s": 10800}, benchmark__tests=alone)["sticky-by-address"]
    assert not sticky.mistake, "conversations one after another show what stickiness does to the prefix cache"


def test_nothing_served_is_nothing_to_warn_of() -> None:
    assert named("gemma-1b-split", topology={"kind": "none"}) == {}
