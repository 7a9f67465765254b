import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from components import archive


def write(root: Path, files: dict[str, str], mtime: float) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (mtime, mtime))


FILES = {
    "benchmark/__init__.py": "",
    "benchmark/__main__.py": "print('hello')",
    "benchmark/deeper/x.py": "",
    "benchmark/data.bin": "not code",
    **{f"experiment/{module}.py": "" for module in archive.DOMAIN},
    **{f"experiment/{name}": "{}" for name in archive.DATA},
    "experiment/settings.py": "not for the Job",
}


def test_the_same_code_is_the_same_zip(tmp_path: Path) -> None:
    write(tmp_path / "a", FILES, 1_000_000_000)
    write(tmp_path / "b", dict(reversed(FILES.items())), 1_700_000_000)
    (tmp_path / "b" / "benchmark" / "__main__.py").chmod(0o700)
    assert archive.benchmark_zip(tmp_path / "a") == archive.benchmark_zip(tmp_path / "b")


def test_other_code_is_another_zip(tmp_path: Path) -> None:
    write(tmp_path / "a", FILES, 1)
    write(tmp_path / "b", {**FILES, "benchmark/__main__.py": "print('bye')"}, 1)
    assert archive.benchmark_zip(tmp_path / "a") != archive.benchmark_zip(tmp_path / "b")


def test_it_holds_the_client_and_its_part_of_the_domain_only(tmp_path: Path) -> None:
    write(tmp_path, FILES, 1)
    with zipfile.ZipFile(io.BytesIO(archive.benchmark_zip(tmp_path))) as packed:
        assert packed.namelist() == sorted(
            ["benchmark/__init__.py", "benchmark/__main__.py", "benchmark/deeper/x.py"]
            + [f"experiment/{module}.py" for module in archive.DOMAIN]
            + [f"experiment/{name}" for name in archive.DATA]
        )


def test_it_fits_a_config_map() -> None:
    assert len(archive.benchmark_zip()) < 700_000, "a ConfigMap holds 1 MiB, in base64"


def test_the_real_client_runs_from_the_zip_alone(tmp_path: Path) -> None:
    packed = tmp_path / "benchmark.zip"
    packed.write_bytes(archive.benchmark_zip())
    ran = subprocess.run(
        [sys.executable, "-m", "benchmark", "run", "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(packed), "PATH": os.environ["PATH"], "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    for option in ("--plan", "--url", "--results"):
        assert option in ran.stdout
    modules = subprocess.run(
        [sys.executable, "-c", "import benchmark, experiment; print(benchmark.__file__, experiment.__file__)"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(packed), "PATH": os.environ["PATH"], "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert modules.stdout.count(str(packed)) == 2, "it must not have run from the source tree"


def test_what_fetches_weights_runs_from_its_zip_alone(tmp_path: Path) -> None:
    packed = tmp_path / "weights.zip"
    packed.write_bytes(archive.weights_zip())
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "components.pod.weights", "--help"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(packed), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--token-arn" in ran.stdout
    assert len(packed.read_bytes()) < 100_000
