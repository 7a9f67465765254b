"""`splitbed post` as it is typed, on a double of GitHub."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from experiment.errors import SplitbedError
from forge import network
from scripts.verbs import command
from tests.forge.github import TOKEN, Repository

BODY = "<!-- splitbed review -->\nwhat it does"


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Repository:
    found = Repository()
    monkeypatch.setattr(network, "send", found)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("GITHUB_REPOSITORY", found.name)
    monkeypatch.setenv("GITHUB_API_URL", "https://api.example")
    found.thread(pull=True, login="somebody", body="please")
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "review.md"
    path.write_text(BODY)
    return path


def run(*arguments: str | Path) -> Any:
    return CliRunner().invoke(command("post"), [str(one) for one in arguments], catch_exceptions=False)


def test_a_comment_is_posted_and_put_in_its_place(repository: Repository, file: Path) -> None:
    made = run("comment", "--pull", "1", "--file", file, "--json")
    assert json.loads(made.stdout)["done"] == "made"
    file.write_text(BODY + ", anew")
    assert run("comment", "--pull", "1", "--file", file).stdout.startswith("changed https://")
    assert [one["body"] for one in repository.comments] == [BODY + ", anew"]


def test_an_issue_is_opened_and_closed(repository: Repository, file: Path) -> None:
    assert run("issue", "--file", file).stdout.startswith("made ")
    assert run("issue", "--file", file, "--settled").stdout.startswith("closed ")
    assert run("issue", "--file", file, "--settled").stdout.strip() == "nothing"


def test_a_dry_run_sends_nothing_and_needs_no_token(
    repository: Repository, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    for arguments in (("comment", "--pull", "1"), ("issue",), ("issue", "--settled")):
        assert run(*arguments, "--file", file, "--dry-run").stdout.startswith("would ")
    assert repository.requests == []


def test_a_tokens_line_end_is_not_sent(repository: Repository, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", f"{TOKEN}\n")
    assert run("comment", "--pull", "1", "--file", file).stdout.startswith("made ")


def test_a_file_that_cannot_be_read_is_said(repository: Repository, file: Path, tmp_path: Path) -> None:
    file.write_bytes(BODY.encode() + b"\xff")
    with pytest.raises(SplitbedError, match="no text in UTF-8: byte 38"):
        run("comment", "--pull", "1", "--file", file)
    with pytest.raises(SplitbedError, match=r"other.md: No such file.*splitbed review --out"):
        run("comment", "--pull", "1", "--file", tmp_path / "other.md")
    assert repository.requests == []


@pytest.mark.parametrize(
    ("environment", "text", "said"),
    [
        ({"GITHUB_TOKEN": ""}, BODY, "GITHUB_TOKEN is not set"),
        ({"GITHUB_REPOSITORY": "octo"}, BODY, "this is not OWNER/NAME"),
        ({"GITHUB_REPOSITORY": "octo/../other"}, BODY, "this is not OWNER/NAME"),
        ({}, "hello", "its first line is no mark of ours"),
        ({}, BODY + "x" * 66_000, "GitHub takes 65536"),
    ],
)
def test_what_cannot_be_posted_is_said(
    repository: Repository,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    text: str,
    said: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file.write_text(text)
    with pytest.raises(SplitbedError, match=said) as refusal:
        run("comment", "--pull", "1", "--file", file)
    assert TOKEN not in str(refusal.value)
    assert repository.requests == []
