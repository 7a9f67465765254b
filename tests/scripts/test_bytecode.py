"""What set-up compiles."""

import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from scripts.bytecode import compile_all

ROOT = Path(__file__).resolve().parents[2]


def packages() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names: list[str] = project["tool"]["uv"]["build-backend"]["module-name"]
    return names


def module(directory: Path, text: str = "ANSWER = 42\n") -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "module.py").write_text(text)


def test_what_every_command_imports_is_compiled_whatever_python_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in packages():
        module(tmp_path / package)
    module(tmp_path / "components" / "aws", "import pulumi_aws as aws\n\nVPC = aws.ec2.Vpc\n")
    module(tmp_path / "experiment" / "odd", "{{ no python }}\n")
    site = tmp_path / "site"
    for place in ("installed", "pulumi_aws", "pulumi_aws/ec2", "pulumi_aws/wafv2"):
        module(site / place)

    compile_all(tmp_path, site)

    compiled = {str(path.parent.parent.relative_to(tmp_path)) for path in tmp_path.rglob("module.*.pyc")}
    named = {"site/installed", "site/pulumi_aws", "site/pulumi_aws/ec2"}
    assert compiled == {*packages(), "components/aws", *named}
