from typing import Any

import pytest

from tests.experiment.stacks import refused


@pytest.mark.parametrize(
    ("stack", "change", "path", "found", "remedy"),
    [
        (
            "gemma-1b-split-pinned", {"engine__resources__cpu": 5.5},
            "engine.resources.cpu", "5.5 with threads whole-cores", "Take cpu: 5",
        ),
        (
            "gemma-1b-split-pinned", {"engine__env": {"OMP_NUM_THREADS": "6"}},
            "engine.env.OMP_NUM_THREADS", "", "Leave one of the two out",
        ),
        (
            "llama-70b-tp4x1", {"engine__threads": "within-quota"},
            "engine.threads", "within-quota with GPU nodes", "Leave it out",
        ),
        (
            "rehearsal-split", {"lws": {"mode": "existing", "version": "0.8.0"}},
            "lws.restart_policy", "RecreateGroupAfterStart with lws.version 0.8.0", "RecreateGroupOnPodRestart",
        ),
    ],
)  # fmt: skip
def test_what_the_engine_or_the_controller_cannot_do(
    stack: str, change: dict[str, Any], path: str, found: str, remedy: str
) -> None:
    (problem,) = refused(stack, **change)
    assert (problem.path, problem.found) == (path, found)
    assert remedy in problem.remedy


def test_a_policy_that_no_version_knows_is_none_of_the_choices() -> None:
    (problem,) = refused("gemma-1b-split", lws__restart_policy="RecreateGroupAfterStrat")
    assert problem.why == "it is none of its choices"
    assert problem.remedy.startswith("Did you mean RecreateGroupAfterStart? Choose one of RecreateGroupAfterStart, ")


def test_an_older_controller_will_do_with_a_policy_that_it_knows() -> None:
    older = {"mode": "existing", "version": "0.8.0", "restart_policy": "RecreateGroupOnPodRestart"}
    assert refused("rehearsal-split", lws=older) == []


def test_threads_may_be_set_by_hand_where_the_setting_is_free() -> None:
    by_hand = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1"}
    assert refused("gemma-1b-split", engine__env=by_hand) == []
