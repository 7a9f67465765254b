from pathlib import Path

import pytest

from scripts.stack import read
from stackfiles.stackfile import StackFile


@pytest.mark.parametrize("name", ["Pulumi.mine.yaml", "Pulumi.mine.yml", "mine.yaml"])
def test_a_stack_is_called_as_its_file(tmp_path: Path, name: str) -> None:
    StackFile.of("rehearsal-split").write(tmp_path / name)
    assert read(str(tmp_path / name)).name == "mine"
