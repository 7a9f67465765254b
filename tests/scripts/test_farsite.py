"""A stack's cluster as a campaign asks it, through an API server that says what it is told to say."""

from pathlib import Path
from typing import Any

import pytest

from experiment.handout import record_line
from scripts.farsite import FarSite
from scripts.measured import Measured, measured
from scripts.stack import read
from stackfiles.stackfile import StackFile
from tests.apiserver import Answers
from tests.benchmark.records import repeat
from tests.cloud.conftest import VirtualClock
from tests.rehearsal.benchmarkpod import ONE, RUNNING, SELECTED, ended, placed, told
from tests.scripts.test_fetch import PLACE, RECORDS

HANDED_OUT = "\n".join([ONE, *(record_line(path, record) for path, record in RECORDS.items()), "last words", ""])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "Pulumi.rehearsal-split.yaml"
    StackFile.of("rehearsal-split").replaced({"benchmark.results": {"kind": "claim"}}).write(path)
    return path


@pytest.fixture
def what(file: Path) -> Measured:
    return measured(read(str(file)), None, None)


@pytest.fixture
def outputs(what: Measured) -> dict[str, Any]:
    return {"namespace": what.namespace, "job_name": what.job, "run": what.plan.run, "results": {"kind": "claim"}}


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def site(at_api: None, file: Path, notes: list[str], clock: VirtualClock) -> FarSite:
    return FarSite(file=file, note=notes.append, clock=clock)


def of_job(what: Measured, said: Answers) -> Answers:
    return placed(said, what.namespace, what.job)


def test_a_job_is_followed_to_its_end_and_its_records_are_brought(
    site: FarSite,
    answers: Answers,
    what: Measured,
    outputs: dict[str, Any],
    notes: list[str],
    clock: VirtualClock,
    tmp_path: Path,
) -> None:
    answers |= of_job(what, told(ONE, RUNNING))
    clock.due.append((clock.now(), lambda: answers.update(of_job(what, ended(HANDED_OUT, 0)))))
    assert site.succeeded(outputs, 600)
    assert notes == [ONE]
    assert site.collect(outputs, tmp_path / "into")
    assert (tmp_path / "into" / PLACE / "one-user-1.json").read_bytes() == repeat(1).to_json().encode()


def test_a_job_that_failed_hands_out_what_it_has_and_says_why(
    site: FarSite, answers: Answers, what: Measured, outputs: dict[str, Any], tmp_path: Path
) -> None:
    answers |= of_job(what, ended(HANDED_OUT, 1, "BackoffLimitExceeded"))
    assert not site.succeeded(outputs, 600)
    assert site.collect(outputs, tmp_path / "into")
    assert site.last_words(outputs) == "BackoffLimitExceeded: last words"


def test_one_that_never_ends_is_given_up(
    site: FarSite, answers: Answers, what: Measured, outputs: dict[str, Any], clock: VirtualClock
) -> None:
    answers |= of_job(what, told(ONE, RUNNING))
    began = clock.now()
    assert not site.succeeded(outputs, 600)
    assert (clock.now() - began).total_seconds() >= 600


def test_one_that_is_gone_has_failed_and_that_is_said(
    site: FarSite, answers: Answers, what: Measured, outputs: dict[str, Any], notes: list[str], tmp_path: Path
) -> None:
    assert not site.succeeded(outputs, 600)
    assert "There is no Job" in notes[0]
    answers |= of_job(what, {**ended("", 0), SELECTED: (200, {"items": []})})
    assert not site.collect(outputs, tmp_path / "into")
    assert "its log with it" in notes[1]


def test_where_its_pods_ran(site: FarSite, answers: Answers, outputs: dict[str, Any]) -> None:
    labels = {"leaderworkerset.sigs.k8s.io/worker-index": "0"}
    pods = [{"metadata": {"name": "e-0", "labels": labels}, "spec": {"nodeName": "n"}}]
    answers[f"/api/v1/namespaces/{outputs['namespace']}/pods"] = (200, {"items": pods})
    assert site.places(outputs) == ("leader e-0 on n",)


def test_a_cluster_that_cannot_be_reached_is_not_alive(site: FarSite, answers: Answers) -> None:
    assert site.wait_until_alive()
    answers["/version"] = (503, {"message": "starting"})
    assert not site.wait_until_alive()
