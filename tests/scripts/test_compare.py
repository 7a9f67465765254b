import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from report.verdict.verdict import Verdict
from scripts.main import app
from tests.benchmark.records import REAL, repeat, reply
from tests.report.verdict.standin import SINGLE, SPLIT

POSTS = Path(__file__).parents[1] / "report" / "verdict" / "data"
GPU = [str(POSTS / "post-gpu-tp4x1.json"), str(POSTS / "post-gpu-tp2x2.json")]


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["compare", *arguments])


def test_the_terminal_has_the_answer_first() -> None:
    found = call(*GPU)
    assert found.exit_code == 0
    assert found.stdout.startswith("TP=2 x 2 against TP=4 x 1: described, not judged: one run of a topology")
    for said in ("cross between 4 and 16", "Which to choose", "What was run", "100 % more"):
        assert said in found.stdout


def test_json_reads_back() -> None:
    found = call(*GPU, "--json", "--hourly", "TP=2 x 2=20.88")
    verdict = Verdict.model_validate_json(found.stdout)
    assert verdict.money[0].usd_per_hour == 20.88
    assert json.loads(found.stdout)["crossovers"][0]["brackets"][0]["high"] == 16
    assert verdict.prices[-1].usd_per_million == pytest.approx(1.0)


def test_markdown_shows_tables_and_obeys_no_record(tmp_path: Path) -> None:
    evil = REAL.model_copy(update={"version": "<b>x</b>\x1b[31m|@all"})
    for name, topology in (("a", SINGLE), ("b", SPLIT)):
        (tmp_path / name).mkdir()
        for number in (1, 2):
            record = repeat(number, reply(), topology=topology, engine=evil, run=name)
            (tmp_path / name / f"{number}.json").write_text(record.to_json())
    shown = call(str(tmp_path / "a"), str(tmp_path / "b"), "--markdown")
    assert shown.exit_code == 0
    assert "## Comparisons" in shown.stdout
    assert "<b>" not in shown.stdout
    assert "@all" not in shown.stdout
    for output in (shown.stdout, call(str(tmp_path / "a"), str(tmp_path / "b")).stdout):
        assert "\x1b[31m" not in output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "no such file"),
        ([GPU[0]], "two topologies"),
        ([*GPU, "--looks", "four"], "no numbers of runs"),
        ([*GPU, "--hourly", "TP=8=1"], "none of the topologies"),
        ([*GPU, "--hourly", "TP=4 x 1=-1"], "no amount"),
        ([*GPU, "--hourly", "TP=4 x 1=nan"], "no amount"),
        ([*GPU, "--plan", f"TP=4 x 1={GPU[0]}"], "no plan"),
        ([*GPU, "--plan", "TP=4 x 1=nowhere"], "No such file"),
    ],
)
def test_mistakes_are_explained(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app(["compare", *arguments])
    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_plan_gives_the_price_of_an_hour(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    from scripts.plan import planned

    plan = planned("gemma-1b-single", [], datetime(2026, 12, 1, tzinfo=UTC))
    assert plan.money is not None
    (tmp_path / "plan.json").write_text(plan.to_json())
    found = call(*GPU, "--json", "--plan", f"TP=4 x 1={tmp_path / 'plan.json'}")
    (money,) = Verdict.model_validate_json(found.stdout).money
    assert money.usd_per_hour == pytest.approx(plan.money.hour_usd)
    assert "gemma-1b-single" in money.source


@pytest.mark.thorough
def test_a_page_is_written_and_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        app(["compare", *GPU, "--html", str(tmp_path / "deep" / "page.html")])
    assert ended.value.code == 0
    said = capsys.readouterr()
    assert said.out.startswith("TP=2 x 2 against TP=4 x 1")
    assert said.err == f"report: {tmp_path}/deep/page.html\n"
    text = (tmp_path / "deep" / "page.html").read_text()
    (address,) = set(re.findall(r'href="([^"]*post-gpu-tp4x1.json)"', text))
    assert (tmp_path / "deep" / address).resolve() == Path(GPU[0]).resolve()
    assert f"splitbed compare {GPU[0]} {GPU[1]}" in text
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["page.html"]


@pytest.mark.thorough
def test_a_report_takes_its_own_place_again_and_nobody_elses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*GPU, "--report", str(tmp_path / "report")).exit_code == 0
    stale = tmp_path / "report" / "figures" / "stale.svg"
    stale.write_text("of results that are gone")
    assert call(*GPU, "--report", str(tmp_path / "report")).exit_code == 0
    assert not stale.exists()
    assert (tmp_path / "report" / "report.md").read_text().startswith("# TP=4 x 1 against TP=2 x 2")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("dear diary")
    for place in ("mine", "mine/diary.txt"):
        with pytest.raises(SystemExit):
            app(["compare", *GPU, "--report", str(tmp_path / place)])
        assert "something is there already" in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["diary.txt"]
