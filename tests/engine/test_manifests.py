"""Rendered manifests of all stacks, held against checkov's rules, with a short list of reasoned exceptions."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import pytest
import yaml

from rehearsal.home import home
from tests.engine.checkov import Failed, lint, manifests
from tests.engine.linters import ensure
from tests.golden import GOLDEN
from tests.recording import ROOT, STACKS

pytestmark = pytest.mark.engine

EXCEPTIONS = ROOT / "tests" / "data" / "checkov-exceptions.yaml"
PLANTED: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "planted", "namespace": "planted"},
    "spec": {
        "containers": [{"name": "c", "image": "registry.example/c:latest", "securityContext": {"privileged": True}}]
    },
}
PRIVILEGED, MOVING_TAG = "CKV_K8S_16", "CKV_K8S_14"


class Exempt(NamedTuple):
    """One check that objects of a pattern need not pass."""

    check: str
    of: str

    def matches(self, failed: Failed) -> bool:
        return failed.check == self.check and fnmatchcase(failed.what, self.of)


def exceptions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(EXCEPTIONS.read_text())
    return found


def exempt() -> Iterator[Exempt]:
    return (Exempt(check, of) for entry in exceptions() for check in entry["checks"] for of in entry["of"])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, set[Failed]]:
    """What checkov says of the objects of all stacks, and of a bad pod among them."""
    documents: list[Mapping[str, Any]] = [PLANTED]
    for stack in STACKS:
        of_stack = list(manifests(yaml.safe_load((GOLDEN / f"{stack}.yaml").read_text())))
        assert {"Pod", "Job", "Service"} <= {each["kind"] for each in of_stack}, stack
        documents += of_stack
    return lint(ensure(home(), "checkov"), documents, tmp_path_factory.mktemp("manifests"))


def test_a_bad_pod_is_found(found: tuple[int, set[Failed]]) -> None:
    checks = {failed.check for failed in found[1] if failed.what == "Pod/planted"}
    assert {PRIVILEGED, MOVING_TAG} <= checks


def test_manifests_pass_but_for_what_has_a_reason(found: tuple[int, set[Failed]]) -> None:
    passed, failed = found
    exempted = list(exempt())
    assert passed > 100 * len(STACKS)
    unexplained = [one for one in failed if one.what != "Pod/planted" and not any(e.matches(one) for e in exempted)]
    assert sorted(unexplained) == []


def test_no_exception_outlives_its_reason(found: tuple[int, set[Failed]]) -> None:
    others = [failed for failed in found[1] if failed.what != "Pod/planted"]
    assert [one for one in exempt() if not any(one.matches(failed) for failed in others)] == []


def test_every_exception_has_a_reason() -> None:
    assert all(len(entry["reason"].split()) > 10 for entry in exceptions())
    assert len(exceptions()) <= 10, "a long list is no list of exceptions"
