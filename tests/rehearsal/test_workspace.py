"""The private copy of a stack file, and the private state beside it."""

from pathlib import Path

import pytest
import yaml

from rehearsal.workspace import StackFileError, Workspace

STACK = """
config:
  splitbed:experiment:
    name: x
    topology: {kind: split, pipeline: 2}
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(root=tmp_path / "private", stack="x")
    workspace.create()
    return workspace


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(STACK)
    return path


def test_overrides_reach_nested_and_missing_paths(workspace: Workspace, source: Path) -> None:
    workspace.write_config(source, {"topology": {"kind": "single"}, "cluster.kubeconfig": "/k", "name": "y"})

    settings = yaml.safe_load(workspace.config_file.read_text())["config"]["splitbed:experiment"]
    assert settings == {"name": "y", "topology": {"kind": "single"}, "cluster": {"kubeconfig": "/k"}}
    assert source.read_text() == STACK


def test_the_copy_keeps_the_salt_of_its_own_backend(workspace: Workspace, source: Path) -> None:
    workspace.write_config(source, {})
    written = yaml.safe_load(workspace.config_file.read_text())
    workspace.config_file.write_text(yaml.safe_dump({**written, "encryptionsalt": "v1:abc"}))

    workspace.write_config(source, {"name": "z"})

    assert yaml.safe_load(workspace.config_file.read_text())["encryptionsalt"] == "v1:abc"


def test_a_forgotten_state_takes_its_salt_along_and_leaves_results(workspace: Workspace, source: Path) -> None:
    workspace.write_config(source, {})
    (workspace.backend / "state").write_text("x")
    (workspace.results / "record").write_text("x")
    passphrase = workspace.passphrase_file.read_text()

    workspace.forget_state()

    assert not workspace.config_file.exists()
    assert list(workspace.backend.iterdir()) == []
    assert (workspace.results / "record").exists()
    assert workspace.passphrase_file.read_text() == passphrase


def test_what_is_private_is_readable_by_its_owner_only(workspace: Workspace, source: Path) -> None:
    workspace.write_config(source, {})

    for path in (workspace.root, workspace.backend, workspace.passphrase_file, workspace.config_file):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "is not YAML"),
        ("- 1", "holds list, not a mapping"),
        ("config: {}", "no mapping under splitbed:experiment"),
        ("config: 3", "no mapping under splitbed:experiment"),
        ("", "not a mapping"),
        ("\x00", "is not YAML"),
    ],
)
def test_a_broken_stack_file_is_named_with_its_path(workspace: Workspace, source: Path, text: str, says: str) -> None:
    source.write_text(text)

    with pytest.raises(StackFileError, match=says) as caught:
        workspace.write_config(source, {})

    assert str(source) in caught.value.message


def test_a_missing_stack_file_is_one_sentence(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(StackFileError, match=r"Pulumi\.nope\.yaml: No such file"):
        workspace.write_config(tmp_path / "Pulumi.nope.yaml", {})


def test_a_path_through_a_scalar_is_refused(workspace: Workspace, source: Path) -> None:
    with pytest.raises(StackFileError, match=r"name\.first: name is 'x', not a mapping"):
        workspace.write_config(source, {"name.first": 1})
