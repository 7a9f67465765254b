import json
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from scripts.main import app
from tests.benchmark.records import REAL, WHEN, failure, repeat, session
from tests.report.verdict.test_reading import LIMITED, write


def export(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        app(["export", *map(str, arguments)])
    code = ended.value.code
    assert isinstance(code, int)
    return code


@pytest.fixture
def results(tmp_path: Path) -> Path:
    directory = write(
        tmp_path / "results",
        repeat(1, engine=REAL),
        repeat(2, failure("it broke"), engine=REAL),
        repeat(3, engine=REAL, verdict=LIMITED),
        repeat(4, engine=REAL, disturbed=("a pod was lost",)),
    )
    (directory / "session.json").write_text(session().to_json())
    return directory


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_repeats_are_written_as_reports_and_tables(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(results, "--to", tmp_path / "out") == 0
    report = "benchmark_report_v0.2,_1_0123456789ab_one-user-1.yaml"
    assert names(tmp_path / "out") == [report, "pods.csv", "repeats.csv", "requests.csv"]
    assert yaml.safe_load((tmp_path / "out" / report).read_text())["version"] == "0.2"
    said = capsys.readouterr()
    assert "1 repeats: 4 files written" in said.out
    for why in ("it broke", "the client was the limit", "a pod was lost"):
        assert why in said.err


def test_all_of_them_are_marked(results: Path, tmp_path: Path) -> None:
    assert export(results, "--all", "--format", "llm-d", "--to", tmp_path) == 0
    keywords = {
        path.name[-6]: set(yaml.safe_load(path.read_text())["run"]["keywords"]) for path in tmp_path.glob("*.yaml")
    }
    assert keywords == {
        "1": {"one-user"},
        "2": {"one-user", "failed"},
        "3": {"one-user", "client-limited"},
        "4": {"one-user", "disturbed"},
    }


def test_tries_of_one_repeat_do_not_write_over_each_other(tmp_path: Path) -> None:
    results = write(tmp_path / "r", repeat(1), repeat(1, failure(), started_at=WHEN + timedelta(hours=1)))
    assert export(results, "--all", "--format", "llm-d", "--to", tmp_path / "out") == 0
    assert len(names(tmp_path / "out")) == 2


def test_a_dry_run_writes_nothing(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(results, "--dry-run", "--json", "--format", "parquet", "--to", tmp_path / "out") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["written"], told["repeats"]) == (False, 1)
    assert told["files"] == ["repeats.parquet", "requests.parquet", "pods.parquet"]
    assert len(told["left_out"]) == 3
    assert not (tmp_path / "out").exists()


def test_nothing_to_export_is_refused_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert export(write(tmp_path, repeat(1, failure("it broke")))) == 2
    assert "it broke" in capsys.readouterr().err
    assert export(tmp_path / "nowhere") == 2
    assert "no such file" in capsys.readouterr().err


def test_typed_results_have_no_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = Path(__file__).parents[1] / "report" / "verdict" / "data" / "post-1b-single.json"
    assert export(typed, "--to", tmp_path) == 2
    assert "typed off a source" in capsys.readouterr().err
