"""`splitbed plan`: exit codes, outputs, and what it does without."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.main import app
from stackfiles.stackfile import STACKS, stacks

ROOT = Path(__file__).parents[2]


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        app(["plan", *arguments])
    captured = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, captured.out, captured.err


@pytest.mark.parametrize("stack", stacks())
def test_every_stack_can_be_planned(stack: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(stack, capsys=capsys)
    assert (code, err) == (0, "")
    assert stack in out.splitlines()[1]


def test_the_issues_own_question_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Issue 5: non-zero exit, 0.68 GiB needed, 0.37 GiB available, 2048 proposed."""
    code, out, _ = run("gemma-12b-split", "--set", "engine.max_model_len=4096", "--json", capsys=capsys)
    cache = json.loads(out)["cache"]
    assert code == 1
    assert (cache["needed_gib"], cache["available_gib"], cache["proposed_len"]) == (0.68, 0.37, 2048)


def test_a_mistake_that_is_not_accepted_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("gemma-1b-split", capsys=capsys)[0] == 0
    code, out, _ = run("gemma-1b-split", "--set", "accept=[]", capsys=capsys)
    assert code == 1
    assert "stops: split-fits-one-pod" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "No stack is named"),
        (("nope",), "There is no stack nope"),
        (("stacks/nope.yaml",), "No such file"),
        (("gemma-12b-split", "--set", "x"), "this is not PATH=VALUE"),
        (("gemma-12b-split", "--set", "engine.max_model_len=many"), "engine.max_model_len: found"),
        (("gemma-12b-split", "--set", "nodes.engine.instance=m7g.nope"), "m7g.nope"),
        (("gemma-12b-split", "--json", "--markdown"), "--markdown has a form of its own"),
        (("gemma-12b-split", "--chain", "--markdown"), "--markdown has a form of its own"),
        (("gemma-12b-split", "--pages", "/nowhere"), "the plans of all stacks"),
        (("--pages", "/nowhere", "--set", "topology.kind=single"), "the plans of all stacks"),
        (("--pages", "/nowhere", "--json"), "the plans of all stacks"),
    ],
)
def test_what_cannot_be_read_ends_with_2_and_a_sentence(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(*arguments, capsys=capsys)
    assert (code, out) == (2, "")
    assert err.startswith("error:")
    assert says in err
    assert "Traceback" not in err


def test_flags_that_the_engine_would_not_take_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("gemma-12b-split", "--set", "engine.flags={max-num-seqs: [1]}", capsys=capsys)
    assert code == 1
    assert "layout-refused" in out


def test_a_past_end_date_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run("gemma-12b-split", "--set", 'end_date="2020-01-01T00:00:00Z"', capsys=capsys)
    assert code == 1
    assert "end_date" in err


def test_a_stack_is_a_name_or_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    by_name = json.loads(run("gemma-12b-split", "--json", capsys=capsys)[1])
    by_path = json.loads(run(str(STACKS / "Pulumi.gemma-12b-split.yaml"), "--json", capsys=capsys)[1])
    assert {**by_name, "now": ""} == {**by_path, "now": ""}


def test_markdown_is_for_a_comment(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("gemma-12b-split", "--markdown", capsys=capsys)[1].startswith(
        "<!-- splitbed plan: gemma-12b-split -->\n"
    )


def test_pages_are_written_where_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--pages", str(tmp_path / "plans"), capsys=capsys)[0] == 0
    assert {path.name for path in (tmp_path / "plans").iterdir()} == {
        path.name for path in (ROOT / "docs" / "plans").iterdir()
    }


def test_a_plan_needs_no_cloud_no_engine_and_no_network() -> None:
    """Issue 5: the plan module imports neither Pulumi nor boto3; nor does the command, nor anything else heavy."""
    program = """
import socket, sys
def refused(*_, **__): raise AssertionError("the plan uses the network")
socket.socket.connect = socket.create_connection = refused
from scripts.main import app
try:
    app(["plan", "gemma-12b-split", "--json"])
except SystemExit as ended:
    assert ended.code == 0, ended.code
foreign = {"pulumi", "pulumi_aws", "pulumi_kubernetes", "boto3", "botocore", "kubernetes", "aiohttp", "grpc", "numpy",
           "scipy", "matplotlib", "jinja2", "rehearsal", "components", "benchmark"}
print(sorted({name.partition(".")[0] for name in sys.modules} & foreign), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stderr.strip() == "[]"
    assert json.loads(done.stdout)["subject"]["name"] == "gemma-12b-split"


def test_the_chain_is_for_people_and_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run("gemma-1b-split", "--chain", capsys=capsys)
    assert (code, err) == (0, "")
    assert "pulumi up: 16 min" in out
    assert "pulumi destroy: 10 min" in out
    code, out, _ = run("gemma-1b-split", "--chain", "--json", capsys=capsys)
    found = json.loads(out)
    assert code == 0
    assert 1 <= found["ratio"] <= 1.05
    for span in ("up", "unavoidable", "destroy"):
        last = found[span]["chain"][-1]
        assert last["began_s"] + last["seconds"] == pytest.approx(found[span]["seconds"])


def test_a_stack_that_makes_no_cluster_has_no_chain(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run("rehearsal-split", "--chain", capsys=capsys)
    assert code == 2
    assert "makes no cluster" in err


def test_a_plan_that_stops_is_shown_in_place_of_its_chain(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run("gemma-12b-split", "--set", "engine.max_model_len=4096", "--chain", capsys=capsys)
    assert code == 1
    assert "kv-cache-refused" in out
