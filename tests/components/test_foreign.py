"""A controller that somebody else has installed, on an API server that says what it is told to say."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from components.foreign import ForeignControllerError, check
from experiment.settings import Settings, load
from tests import apiserver
from tests.apiserver import Answers, serving
from tests.recording import stack_settings

DEFINITION = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/leaderworkersets.leaderworkerset.x-k8s.io"
NAMESPACE = "/api/v1/namespaces/lws-system"


@pytest.fixture
def answers() -> Answers:
    return {DEFINITION: (200, {"metadata": {}}), NAMESPACE: (200, {"metadata": {}})}


@pytest.fixture
def kubeconfig(answers: Answers, tmp_path: Path) -> Iterator[Path]:
    with serving(answers, tmp_path) as path:
        yield path


def settings(kubeconfig: Path, **changes: Any) -> Settings:
    changes = {"cluster": {"kind": "kubeconfig", "kubeconfig": str(kubeconfig)}, **changes}
    return load(json.dumps(stack_settings("rehearsal-split") | changes), datetime(2026, 11, 30, tzinfo=UTC))


def owned_by(experiment: str) -> tuple[int, Any]:
    return 200, {"metadata": {"labels": {"splitbed.dev/experiment": experiment}}}


def test_one_of_somebody_elses_is_not_applied_over(kubeconfig: Path) -> None:
    with pytest.raises(ForeignControllerError, match="of somebody else's already") as caught:
        check(settings(kubeconfig))
    assert caught.value.remedy.startswith("Use it with lws: {mode: existing}")


@pytest.mark.parametrize("namespace", [(404, {}), (200, {"metadata": {"labels": None}})])
def test_neither_is_one_in_another_namespace(namespace: tuple[int, Any], kubeconfig: Path, answers: Answers) -> None:
    answers[NAMESPACE] = namespace
    with pytest.raises(ForeignControllerError):
        check(settings(kubeconfig))


def test_one_of_another_experiment_is_named(kubeconfig: Path, answers: Answers) -> None:
    answers[NAMESPACE] = owned_by("other")
    with pytest.raises(ForeignControllerError, match="of experiment 'other' already"):
        check(settings(kubeconfig))


def test_our_own_is_gone_on_with(kubeconfig: Path, answers: Answers) -> None:
    answers[NAMESPACE] = owned_by("rehearsal-split")
    check(settings(kubeconfig))


def test_a_cluster_without_one_is_free(kubeconfig: Path, answers: Answers) -> None:
    del answers[DEFINITION]
    check(settings(kubeconfig))


def crd(*policies: str) -> tuple[int, Any]:
    template = {"properties": {"restartPolicy": {"enum": list(policies)}}}
    schema = {"properties": {"spec": {"properties": {"leaderWorkerTemplate": template}}}}
    return 200, {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}}


def test_one_that_is_there_can_be_used(kubeconfig: Path, answers: Answers) -> None:
    check(settings(kubeconfig, lws={"mode": "existing"}))
    answers[DEFINITION] = crd("RecreateGroupAfterStart", "None")
    check(settings(kubeconfig, lws={"mode": "existing"}))


def test_one_that_is_not_there_cannot(kubeconfig: Path, answers: Answers) -> None:
    del answers[DEFINITION]
    with pytest.raises(ForeignControllerError, match="has no LeaderWorkerSet controller") as caught:
        check(settings(kubeconfig, lws={"mode": "existing"}))
    assert "mode: install" in caught.value.remedy


def test_one_that_does_not_know_what_is_asked_of_it_cannot_either(kubeconfig: Path, answers: Answers) -> None:
    answers[DEFINITION] = crd("RecreateGroupOnPodRestart", "None")
    with pytest.raises(ForeignControllerError, match=r"'RecreateGroupAfterStart'.*does not know") as caught:
        check(settings(kubeconfig, lws={"mode": "existing"}))
    assert caught.value.remedy == "Take one that it knows: RecreateGroupOnPodRestart, None."


@pytest.mark.parametrize(
    ("said", "owner", "remedy"),
    [
        (None, "other", "mode: existing, of: other"),
        ("somebody", "other", "mode: existing, of: other"),
        ("other", None, "mode: existing}, which"),
    ],
)
def test_whose_it_is_has_to_be_said(
    said: str | None, owner: str | None, remedy: str, kubeconfig: Path, answers: Answers
) -> None:
    """Only then does what installed it outlive what needs it."""
    if owner:
        answers[NAMESPACE] = owned_by(owner)
    with pytest.raises(ForeignControllerError, match=r"lws\.of: ") as caught:
        check(settings(kubeconfig, lws={"mode": "existing", **({"of": said} if said else {})}))
    assert remedy in caught.value.remedy


def test_one_of_ours_that_is_said_to_be_goes(kubeconfig: Path, answers: Answers) -> None:
    answers[NAMESPACE] = owned_by("other")
    check(settings(kubeconfig, lws={"mode": "existing", "of": "other"}))


@pytest.mark.parametrize("answer", [(403, {"message": "no"}), (500, {}), (200, "no JSON")])
def test_a_cluster_that_does_not_tell_is_the_providers_business(
    answer: tuple[int, Any], kubeconfig: Path, answers: Answers
) -> None:
    answers[DEFINITION] = answer
    check(settings(kubeconfig))


@pytest.mark.parametrize("text", ["", "[]", "clusters: 7", "a: ["])
def test_so_is_a_file_that_is_no_kubeconfig(text: str, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(text)
    check(settings(tmp_path / "kubeconfig"))


def test_so_is_one_that_nobody_answers_for(tmp_path: Path) -> None:
    check(settings(apiserver.kubeconfig(tmp_path, 1)))
