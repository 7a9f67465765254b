"""The user's own CLI, with a `pulumi` that answers as it is told and keeps a log of what it is asked."""

import json
import os
from pathlib import Path

import pytest

from campaign.pulumi_cli import OwnPulumi, PulumiError
from experiment.errors import SplitbedError
from tests.rehearsal.conftest import Recorder

STATE = {
    "deployment": {
        "resources": [
            {"urn": "urn:a", "type": "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet"},
            {"urn": "urn:old", "type": "kubernetes:leaderworkerset.x-k8s.io/v1:LeaderWorkerSet", "delete": True},
            {"urn": "urn:b", "type": "kubernetes:batch/v1:Job"},
        ]
    }
}


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory on PATH with a `pulumi` in it; what it is asked ends up in the file that is returned."""
    directory = tmp_path / "bin"
    directory.mkdir()
    (directory / "state").write_text(json.dumps(STATE))
    program = directory / "pulumi"
    program.write_text(
        f"""#!/bin/sh
echo "$*" >> {directory}/asked
case "$*" in
    *--stack*fails*) echo "Diagnostics:"; echo "  it is broken"; exit 1 ;;
    "stack output"*) echo '{{"run": "r1"}}' ;;
    "stack export"*) cat {directory}/state ;;
    up*) echo " +  kubernetes:core/v1:Service serving created (1s)" ;;
esac
"""
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
    return directory / "asked"


def test_a_stack_is_brought_up_by_its_private_copy_with_what_is_to_be_made_anew(
    asked: Path, tmp_path: Path, recorder: Recorder
) -> None:
    pulumi = OwnPulumi.of("x", tmp_path)
    assert pulumi.prepare() == []
    assert pulumi.outputs() == {"run": "r1"}
    pulumi.up(recorder, pulumi.urns("LeaderWorkerSet"))
    asked_last = asked.read_text().splitlines()[-1]
    assert asked_last.startswith("up --yes --skip-preview --replace urn:a --stack x --config-file")
    assert f"--config-file {tmp_path / 'Pulumi.x.yaml'}" in asked_last
    assert recorder.notes == ["created Service serving"]
    assert "Service serving created" in pulumi.log.read_text()


def test_what_fails_is_said_with_its_diagnostics(asked: Path, tmp_path: Path, recorder: Recorder) -> None:
    with pytest.raises(PulumiError, match="pulumi up failed on stack fails:\n  it is broken"):
        OwnPulumi.of("fails", tmp_path).up(recorder)


def test_a_stack_that_is_not_there_is_its_owners_to_make(asked: Path, tmp_path: Path) -> None:
    with pytest.raises(PulumiError, match="it is broken") as error:
        OwnPulumi.of("fails", tmp_path).prepare()
    assert error.value.remedy == "If there is no such stack yet, make it: pulumi stack init fails"


def test_one_who_has_no_pulumi_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SplitbedError, match="pulumi is not on PATH"):
        OwnPulumi.of("x", tmp_path)
