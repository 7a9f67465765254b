"""`splitbed new`: what is written, what stays behind, and what is refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.main import app
from stackfiles import stackfile
from stackfiles.stackfile import StackFile

SOURCE = "gemma-12b-split"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stacks of our own, of which there is one."""
    shutil.copy(stackfile.STACKS / f"Pulumi.{SOURCE}.yaml", tmp_path)
    monkeypatch.setattr(stackfile, "STACKS", tmp_path)
    return tmp_path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            app(["new", *arguments])
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return run


def test_a_file_of_ones_own_is_the_other_one_but_for_what_was_named(run: Run, stacks: Path) -> None:
    code, out, _ = run("mine", "--from", SOURCE, "--set", "owner=me", "--set", "benchmark.tests=[{kind: idle}]")
    assert code == 0
    written, source = StackFile.of("mine"), StackFile.of(SOURCE)
    assert written == source.replaced({"name": "mine", "owner": "me", "benchmark.tests": [{"kind": "idle"}]})
    assert (stacks / "Pulumi.mine.yaml").read_text().splitlines()[1] == (
        f"# From {SOURCE}; it differs by name, owner, benchmark.tests."
    )
    assert "is written. Its plan: fits." in out
    assert f"purpose: it is still that of {SOURCE}." in out
    assert "owner" not in out
    assert "before `pulumi up`: end_date: it is missing" in out
    assert "then pulumi stack init mine and pulumi up" in out


def test_it_says_so_as_json_and_where_the_plan_stops(run: Run) -> None:
    code, out, _ = run("mine", "--from", SOURCE, "--set", "engine.max_model_len=4096", "--json")
    told = json.loads(out)
    assert (code, told["goes"], told["verdict"]) == (0, False, "refused")
    assert "which says why" in run("ours", "--from", SOURCE, "--set", "engine.max_model_len=4096")[1]


def test_a_name_is_said_once(run: Run, stacks: Path) -> None:
    assert run("mine", "--from", SOURCE, "--set", "name=other")[0] == 2
    assert not (stacks / "Pulumi.mine.yaml").exists()


def test_nothing_is_written_over(run: Run, stacks: Path) -> None:
    (stacks / "Pulumi.mine.yaml").write_text("# precious")
    code, _, err = run("mine", "--from", SOURCE)
    assert (code, "Pulumi.mine.yaml is there already." in err) == (2, True)
    assert (stacks / "Pulumi.mine.yaml").read_text() == "# precious"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("Mine Own", "--from", SOURCE), 'name: found "Mine Own"'),
        (("../mine", "--from", SOURCE), 'name: found "../mine"'),
        (("mine", "--from", SOURCE, "--set", "toplogy=1"), "Did you mean topology?"),
        (("mine", "--from", "gemma-12b-spilt"), f"Did you mean {SOURCE}?"),
        (("mine", "--from", SOURCE, "--set", "engine"), "this is not PATH=VALUE"),
        (("mine", "--from", SOURCE, "--set", "nodes.engine.instance=m7g.nope"), "m7g.nope"),
    ],
)
def test_what_could_not_be_planned_is_not_written(
    arguments: tuple[str, ...], says: str, run: Run, stacks: Path
) -> None:
    code, _, err = run(*arguments)
    assert (code, says in err) == (2, True)
    assert len(list(stacks.iterdir())) == 1


def test_a_dry_run_prints_the_file_and_writes_none(run: Run, stacks: Path) -> None:
    code, out, _ = run("mine", "--from", SOURCE, "--dry-run")
    assert code == 0
    assert len(list(stacks.iterdir())) == 1
    (stacks / "Pulumi.mine.yaml").write_text(out)
    assert StackFile.of("mine") == StackFile.of(SOURCE).replaced({"name": "mine"})


def test_what_belongs_to_the_other_stack_alone_stays_behind(run: Run, stacks: Path) -> None:
    text = (stacks / f"Pulumi.{SOURCE}.yaml").read_text()
    hidden = "  splitbed:hub:\n    secure: djE6c2VjcmV0\n  aws:defaultTags:\n    tags: {team: ours}\n"
    ended = text.replace("    purpose:", '    end_date: "2020-01-01T00:00:00Z"\n    purpose:')
    path = stacks / "theirs.yaml"
    path.write_text(f"encryptionsalt: v1:abc=\n{ended}{hidden}")
    code, out, err = run("mine", "--from", str(path))
    assert code == 0, err
    written = (stacks / "Pulumi.mine.yaml").read_text()
    assert all(word not in written for word in ("encryptionsalt", "djE6c2VjcmV0", "2020-01-01"))
    assert "team: ours" in written
    assert "splitbed:hub: secrets belong to one stack." in out
