from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.kubeconfig import KubeconfigError
from rehearsal.observer import ClusterRefusedError, ClusterUnreachableError, Observer, PodPlace
from tests.apiserver import Answers, kubeconfig, serving


@pytest.fixture
def answers() -> Answers:
    return {"/version": (200, {"gitVersion": "v1.34.4"})}


@pytest.fixture
def observer(answers: Answers, tmp_path: Path) -> Iterator[Observer]:
    """An observer of an API server that says what it is told to say."""
    with serving(answers, tmp_path) as path:
        yield Observer(path)


def test_a_server_that_answers_tells_its_version(observer: Observer) -> None:
    assert observer.check() == "v1.34.4"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_starting_counts_as_away(observer: Observer, answers: Answers, status: int) -> None:
    answers["/version"] = (status, {"kind": "Status", "message": "etcd is away"})
    with pytest.raises(ClusterUnreachableError, match=f"/version now .{status}: etcd is away"):
        observer.check()


@pytest.mark.parametrize("body", [{"kind": "Status", "message": "forbidden: no"}, "forbidden: no\n"])
def test_a_refusal_is_explained(observer: Observer, answers: Answers, body: object) -> None:
    answers["/version"] = (403, body)
    with pytest.raises(ClusterRefusedError, match=r"refuses /version \(403: forbidden: no\)") as error:
        observer.check()
    assert "kubeconfig" in error.value.remedy


def test_nobody_there_is_unreachable(tmp_path: Path) -> None:
    with pytest.raises(ClusterUnreachableError, match="does not answer"):
        Observer(kubeconfig(tmp_path, 1)).check()


@pytest.mark.parametrize("text", ["a: [", "- 1", "3", "", "clusters: 3"])
def test_a_file_that_is_no_kubeconfig_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(text)
    with pytest.raises(KubeconfigError, match=str(path)):
        Observer(path)


JOB = "/apis/batch/v1/namespaces/n/jobs/j"


def test_a_job_that_is_not_there_is_missing(observer: Observer) -> None:
    assert observer.job("n", "j") == "missing"


@pytest.mark.parametrize(
    ("conditions", "state"),
    [
        ([], "running"),
        ([{"type": "Complete", "status": "True"}], "succeeded"),
        ([{"type": "Failed", "status": "True"}], "failed"),
        ([{"type": "Failed", "status": "False"}], "running"),
    ],
)
def test_a_job_is_what_its_conditions_say(
    observer: Observer, answers: Answers, conditions: list[dict[str, str]], state: str
) -> None:
    answers[JOB] = (200, {"status": {"conditions": conditions}})
    assert observer.job("n", "j") == state


PODS = "/api/v1/namespaces/n/pods"


def log_of_newest(answers: Answers) -> str:
    """Let a Job have two pods; return the path of the newer one's log."""
    names = {"old": "2026-11-30T10:00:00Z", "new": "2026-11-30T11:00:00Z"}
    pods = [{"metadata": {"name": name, "creationTimestamp": at}} for name, at in names.items()]
    answers[f"{PODS}?labelSelector=job-name%3Dj"] = (200, {"items": pods})
    return f"{PODS}/new/log"


def test_the_log_is_that_of_the_newest_pod(observer: Observer, answers: Answers) -> None:
    answers[log_of_newest(answers)] = (200, '{"a": 1}')
    assert observer.log("n", "j") == '{"a": 1}'


def test_a_log_that_is_gone_is_none(observer: Observer, answers: Answers) -> None:
    log_of_newest(answers)
    assert observer.log("n", "j") is None
    answers[f"{PODS}?labelSelector=job-name%3Dj"] = (200, {"items": []})
    assert observer.log("n", "j") is None
    assert observer.last_words("n", "j") == "its pod is gone"


def test_the_last_words_are_no_records(observer: Observer, answers: Answers) -> None:
    path = log_of_newest(answers)
    lines = [f"line {number}" for number in range(30)]
    answers[path] = (200, "\n".join([*lines[:-1], "splitbed-record x {}", lines[-1], ""]))
    assert observer.last_words("n", "j") == "\n".join(lines[-20:])
    answers[path] = (500, "the kubelet is away")
    assert "cannot be read" in observer.last_words("n", "j")
    answers[path] = (400, {"message": "the container is waiting to start"})
    assert "waiting to start" in observer.last_words("n", "j")


@pytest.mark.parametrize(
    ("annotations", "default"),
    [
        (None, False),
        ({"storageclass.kubernetes.io/is-default-class": "false"}, False),
        ({"storageclass.kubernetes.io/is-default-class": "true"}, True),
    ],
)
def test_a_default_storage_class_is_one_that_is_annotated_so(
    observer: Observer, answers: Answers, annotations: object, default: bool
) -> None:
    classes = [{"metadata": {"name": "plain"}}, {"metadata": {"name": "c", "annotations": annotations}}]
    answers["/apis/storage.k8s.io/v1/storageclasses"] = (200, {"items": classes})
    assert observer.has_default_storage_class() is default


def test_pods_have_their_parts(observer: Observer, answers: Answers) -> None:
    index = "leaderworkerset.sigs.k8s.io/worker-index"
    labels: dict[str, dict[str, str]] = {"a": {index: "0"}, "b": {index: "1"}, "c": {"job-name": "j"}, "d": {}}
    placed = [
        {"metadata": {"name": name, "labels": found}, "spec": {"nodeName": "n"}} for name, found in labels.items()
    ]
    pending = {"metadata": {"name": "e"}, "spec": {}}
    answers[PODS] = (200, {"items": [*placed, pending]})
    roles = {"a": "leader", "b": "worker", "c": "benchmark", "d": "other"}
    assert observer.pods("n") == [PodPlace(name, "n", role) for name, role in roles.items()]


def test_nodes_are_counted_by_all_their_labels(observer: Observer, answers: Answers) -> None:
    answers["/api/v1/nodes?labelSelector=a%2Fb%3Dc%2Cd%3D"] = (200, {"items": [{}, {}]})
    assert observer.nodes_labelled({"a/b": "c", "d": ""}) == 2


def test_a_controller_is_its_experiments_or_somebody_elses(observer: Observer, answers: Answers) -> None:
    assert observer.controller_owner() is None
    group = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    answers[f"{group}/leaderworkersets.leaderworkerset.x-k8s.io"] = (200, {})
    assert observer.controller_owner() == ""
    labels = {"splitbed.dev/experiment": "mine"}
    answers["/api/v1/namespaces/lws-system"] = (200, {"metadata": {"labels": labels}})
    assert observer.controller_owner() == "mine"
