"""What the workflows may do, and whether a person could do it as well."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts.verbs import VERBS
from tests.recording import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))
PINNED = re.compile(r"uses: (?P<action>[\w./-]+)@(?P<sha>[0-9a-f]{40}) # v\d+\.\d+\.\d+$")
MAY_WRITE = {
    ("preview", "review"): {"id-token"},
    ("preview", "comment"): {"pull-requests"},
    ("up", "up"): {"id-token"},
    ("destroy", "destroy"): {"id-token"},
    ("expiry", "look"): {"id-token"},
    ("expiry", "tell"): {"issues"},
    ("expiry", "destroy"): {"id-token"},
}


def read(path: Path) -> dict[Any, Any]:
    found: dict[Any, Any] = yaml.safe_load(path.read_text())
    return found


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in read(path)["jobs"].items():
            yield path.stem, name, job


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: path.parent.name + "/" + path.stem)
def test_every_action_of_somebody_elses_is_pinned_with_its_version(path: Path) -> None:
    lines = [line.strip(" -") for line in path.read_text().splitlines() if "uses: " in line and "./" not in line]
    assert all(PINNED.fullmatch(line) for line in lines), lines


def test_an_action_has_one_pin() -> None:
    found: dict[str, set[str]] = {}
    for path in [*WORKFLOWS, *ACTIONS]:
        for line in path.read_text().splitlines():
            if match := PINNED.search(line):
                found.setdefault(match["action"], set()).add(match["sha"])
    assert {action: len(pins) for action, pins in found.items()} == dict.fromkeys(found, 1)


def test_no_job_may_write_more_than_it_must() -> None:
    for workflow, name, job in jobs():
        writes = {what for what, how in job["permissions"].items() if how != "read"}
        assert writes == MAY_WRITE.get((workflow, name), set()), (workflow, name)
    assert all(read(path)["permissions"] == {} for path in WORKFLOWS)


def test_what_runs_a_changes_code_can_write_nothing_in_the_repository_and_no_secret_is_read() -> None:
    for path in WORKFLOWS:
        assert "secrets." not in path.read_text()
        assert "pull_request_target" not in path.read_text()
    review = read(ROOT / ".github" / "workflows" / "preview.yml")["jobs"]["review"]
    (role,) = [step for step in review["steps"] if "configure-aws" in step.get("uses", "")]
    assert "head.repo.full_name == github.repository" in role["if"]
    comment = read(ROOT / ".github" / "workflows" / "preview.yml")["jobs"]["comment"]
    assert "head.repo.full_name == github.repository" in comment["if"]
    (checkout,) = [step for step in comment["steps"] if "checkout" in step.get("uses", "")]
    assert checkout["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"


def test_checkouts_keep_no_credentials() -> None:
    for _, _, job in jobs():
        for step in job["steps"]:
            if "actions/checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def test_what_makes_or_ends_something_waits_for_an_approval() -> None:
    for workflow, name, job in jobs():
        runs = " ".join(step.get("run", "") for step in job["steps"])
        changes = "pulumi.sh up" in runs or "pulumi.sh destroy" in runs
        assert ("environment" in job) == changes, (workflow, name)


def test_expressions_reach_a_shell_by_its_environment_alone() -> None:
    for workflow, name, job in jobs():
        for step in job["steps"]:
            assert "${{" not in step.get("run", ""), (workflow, name)


def test_what_fails_before_a_pipe_fails_its_step() -> None:
    """GitHub's own choice is `bash -e`; only a shell that is named gets `-o pipefail`."""
    piped = [step for _, _, job in jobs() for step in job["steps"] if re.search(r"[^|]\|[^|]", step.get("run", ""))]
    assert piped
    assert all(step.get("shell") == "bash" for step in piped), piped


def test_steps_run_our_own_verbs_and_targets() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    seen = set()
    for path in [*WORKFLOWS, *ACTIONS]:
        for line in path.read_text().splitlines():
            for program, verb in re.findall(r"(\.venv/bin/splitbed|make) ([\w-]+)", line.partition(" #")[0]):
                seen.add(verb)
                assert verb in (targets if program == "make" else VERBS), line
    assert {"review", "post", "expiry", "sweep", "plan", "preflight", "audit", "check", "test-unit"} <= seen


def test_all_are_shown_to_the_linters() -> None:
    assert [path.stem for path in WORKFLOWS] == ["check", "destroy", "expiry", "preview", "up"]
