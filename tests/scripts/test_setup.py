"""What `make setup` leaves in place."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
(COMPILE,) = [line for line in (ROOT / "scripts" / "setup.sh").read_text().splitlines() if "compileall" in line]


def packages() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names: list[str] = project["tool"]["uv"]["build-backend"]["module-name"]
    return names


def test_what_every_command_imports_is_compiled_whatever_python_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    for place in (*packages(), ".venv/lib/python3/site-packages/installed"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "module.py").write_text("ANSWER = 42\n")
    (tmp_path / "experiment" / "template.py").write_text("{{ no python }}\n")
    command = COMPILE.replace(".venv/bin/python", sys.executable)
    done = subprocess.run(["sh", "-euc", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    compiled = {str(path.parent.parent.relative_to(tmp_path)) for path in tmp_path.rglob("module.*.pyc")}
    assert compiled == {*packages(), ".venv/lib/python3/site-packages/installed"}
