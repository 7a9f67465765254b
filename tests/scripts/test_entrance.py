"""The way to a stack's API server."""

import json
from pathlib import Path

import pytest

from experiment.errors import SplitbedError
from scripts import entrance
from scripts.stack import Stack, read
from stackfiles.stackfile import STACKS, StackFile


def given(directory: Path, kubeconfig: str) -> Stack:
    path = directory / "Pulumi.mine.yaml"
    changes = {"cluster.kubeconfig": kubeconfig, "cluster.context": "c"}
    StackFile.of("rehearsal-split").replaced(changes).write(path)
    return read(str(path))


def test_a_given_cluster_is_reached_by_its_own_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "config").touch()
    with entrance.opened(given(tmp_path, str(tmp_path / "config")), None) as opened:
        assert opened == (tmp_path / "config", "c")
    with entrance.opened(given(tmp_path, "tests/data/kubeconfig.yaml"), None) as opened:
        assert opened == (STACKS.parent / "tests/data/kubeconfig.yaml", "c"), "as `pulumi up` finds it"


def test_no_kubeconfig_is_said_with_its_setting(tmp_path: Path) -> None:
    stack = given(tmp_path, "nowhere/config")
    with (
        pytest.raises(SplitbedError, match=r"^cluster\.kubeconfig: found 'nowhere/config': there is no such file\."),
        entrance.opened(stack, None),
    ):
        pass


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    calls: list[object] = []
    monkeypatch.setattr(entrance, "Account", lambda profile: f"account of {profile}")

    def kubeconfig(*told: object) -> str:
        calls.append(told)
        return json.dumps({"kind": "Config"})

    monkeypatch.setattr(entrance, "kubeconfig", kubeconfig)
    return calls


def test_a_cluster_of_its_own_gets_a_kubeconfig_that_is_gone_afterwards(
    asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    with entrance.opened(read("gemma-1b-split"), "mine") as (path, context):
        assert json.loads(path.read_text()) == {"kind": "Config"}
        assert path.stat().st_mode & 0o077 == 0
        assert context is None
    assert not path.exists()
    assert asked == [("account of mine", "us-east-1", "exp-gemma-1b-split", "mine")]


def test_without_the_aws_cli_nobody_is_asked(asked: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    with (
        pytest.raises(SplitbedError, match="AWS CLI is not on PATH"),
        entrance.opened(read("gemma-1b-split"), None),
    ):
        pass
    assert asked == []
