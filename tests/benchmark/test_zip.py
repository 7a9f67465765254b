"""The Job runs the client from a zip on PYTHONPATH; this is that, with nothing of the tree within reach."""

import ast
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from components.archive import DATA, DOMAIN
from tests.benchmark.server import Server
from tests.benchmark.test_main import ALL, Bench, make_plan

ROOT = Path(__file__).parents[2]


def needed() -> list[Path]:
    """The client's modules and, transitively, the modules of `experiment` that they import, with their packages."""
    wanted = sorted((ROOT / "benchmark").rglob("*.py"))
    found: dict[Path, None] = dict.fromkeys([ROOT / "experiment" / "__init__.py"])
    while wanted:
        path = wanted.pop()
        if path in found:
            continue
        found[path] = None
        if path.parent != ROOT and (package := path.parent / "__init__.py") not in found:
            wanted.append(package)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("experiment."):
                wanted.append(ROOT / f"{(node.module or '').replace('.', '/')}.py")
    return sorted(found)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "benchmark.zip"
    with zipfile.ZipFile(path, "w") as file:
        for module in needed():
            file.write(module, module.relative_to(ROOT))
        for name in DATA:
            file.write(ROOT / "experiment" / name, f"experiment/{name}")
    return path


def test_the_zip_has_the_modules_of_the_domain_that_the_client_needs_and_no_others() -> None:
    domain = ROOT / "experiment"
    names = {path.relative_to(domain).with_suffix("").as_posix() for path in needed() if domain in path.parents}
    assert names == set(DOMAIN)


@pytest.mark.thorough
def test_the_client_runs_from_a_zip(archive: Path, server: Server, tmp_path: Path) -> None:
    bench = Bench(server, tmp_path, make_plan(calibrate=True))
    environment = {"PYTHONPATH": str(archive), "PATH": "/usr/bin:/bin"}
    where = "import benchmark, experiment.record; print(benchmark.__file__, experiment.record.__file__)"
    places = subprocess.run(
        [sys.executable, "-c", where], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert places.stdout.split() == [f"{archive}/benchmark/__init__.py", f"{archive}/experiment/record.py"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmark", *bench.argv],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(bench.finished()) == ALL


def test_the_client_imports_only_what_the_engines_image_has() -> None:
    imported = set()
    for path in needed():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])
            elif isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
    foreign = imported - sys.stdlib_module_names - {"benchmark", "experiment"}
    assert foreign <= {"pydantic", "pydantic_core", "httptools", "aiohttp", "numpy"}
