"""How far a benchmark is, read from an API server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from experiment.handout import PREFIX
from rehearsal.benchmarkjob import BenchmarkJob, Look
from rehearsal.observer import ClusterRefusedError, ClusterUnreachableError
from tests.apiserver import Answers, serving
from tests.rehearsal.benchmarkpod import (
    BEGUN,
    JOB,
    JOBS,
    LOG,
    NAMESPACE,
    ONE,
    RUNNING,
    SELECTED,
    TWO,
    ended,
    told,
)


@pytest.fixture
def answers() -> Answers:
    return {}


@pytest.fixture
def job(answers: Answers, tmp_path: Path) -> Iterator[BenchmarkJob]:
    with serving(answers, tmp_path) as kubeconfig:
        yield BenchmarkJob(kubeconfig, None, NAMESPACE, JOB)


def test_no_job_is_missing(job: BenchmarkJob) -> None:
    assert job.look() == Look(state="missing")


def test_what_it_has_measured_is_read_from_its_log(job: BenchmarkJob, answers: Answers) -> None:
    answers |= told(f"{BEGUN}{ONE}\n{TWO}\nsomething about -> it\n", RUNNING)
    assert job.look() == Look(state="running", before=1, measured=(ONE, TWO), doing="something about -> it")
    assert job.look().finished == 1


def test_records_are_no_words(job: BenchmarkJob, answers: Answers) -> None:
    answers |= ended(f"{BEGUN}{ONE}\n{PREFIX}1/p/one-user-2.json {{}}\n", 0)
    look = job.look()
    assert (look.state, look.exit_code, look.doing) == ("succeeded", 0, ONE)


def test_a_failure_tells_why_and_with_which_code(job: BenchmarkJob, answers: Answers) -> None:
    answers |= ended("no", 2, "Job has reached the specified backoff limit")
    assert job.look() == Look(
        state="failed", why="Job has reached the specified backoff limit", exit_code=2, doing="no"
    )


@pytest.mark.parametrize(
    ("status", "doing"),
    [
        ({"phase": "Pending"}, "its pod: Pending"),
        (
            {"containerStatuses": [{"name": "benchmark", "state": {"waiting": {"reason": "ErrImagePull"}}}]},
            "its pod: ErrImagePull",
        ),
        (
            {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]},
            "its pod: 0/3 nodes are available",
        ),
    ],
)
def test_a_pod_that_has_not_begun_says_what_it_waits_for(
    job: BenchmarkJob, answers: Answers, status: object, doing: str
) -> None:
    answers |= told(None)
    pod = {"metadata": {"name": f"{JOB}-x", "creationTimestamp": "2026-12-01T12:00:00Z"}, "status": status}
    answers[SELECTED] = (200, {"items": [pod]})
    assert job.look() == Look(state="running", doing=doing)


def test_a_log_that_is_out_of_reach_hides_no_state(job: BenchmarkJob, answers: Answers) -> None:
    answers |= ended("", 0)
    for status in (404, 400, 502):
        answers[LOG] = (status, {"message": "no"})
        assert job.look().state == "succeeded"
    answers[SELECTED] = (200, {"items": []})
    assert job.look() == Look(state="succeeded", doing="it has no pod")


def test_what_the_api_server_refuses_is_said(job: BenchmarkJob, answers: Answers) -> None:
    for status, error in ((403, ClusterRefusedError), (503, ClusterUnreachableError)):
        answers[f"{JOBS}/{JOB}"] = (status, {"message": "no"})
        with pytest.raises(error):
            job.look()


def test_other_jobs_are_named(job: BenchmarkJob, answers: Answers) -> None:
    assert job.others() == []
    answers |= told(None)
    assert job.others() == [JOB]
