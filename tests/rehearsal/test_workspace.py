"""The private directory of a rehearsed stack."""

from pathlib import Path

import pytest

from rehearsal.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace(root=tmp_path / "private", stack="x")
    workspace.create()
    return workspace


def test_a_forgotten_state_takes_its_salt_along_and_leaves_results(workspace: Workspace) -> None:
    workspace.config_file.write_text("encryptionsalt: v1:abc")
    (workspace.backend / "state").write_text("x")
    (workspace.results / "record").write_text("x")
    passphrase = workspace.passphrase_file.read_text()

    workspace.forget_state()

    assert not workspace.config_file.exists()
    assert list(workspace.backend.iterdir()) == []
    assert (workspace.results / "record").exists()
    assert workspace.passphrase_file.read_text() == passphrase


def test_what_is_private_is_readable_by_its_owner_only(workspace: Workspace) -> None:
    for path in (workspace.root, workspace.backend, workspace.passphrase_file):
        assert path.stat().st_mode & 0o077 == 0, path
