"""Verbs are modules, imported when they are called."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.core import TyperCommand

from scripts.main import app
from scripts.verbs import VERBS, command

SCRIPTS = Path(__file__).parents[2] / "scripts"


def test_every_verb_has_a_module_and_stands_in_the_list_once() -> None:
    listed = re.findall(r'^    "([a-z]+)": "', (SCRIPTS / "verbs.py").read_text(), re.MULTILINE)

    assert listed == list(VERBS)
    for verb in VERBS:
        assert (SCRIPTS / f"{verb}.py").is_file() or (SCRIPTS / verb / "__init__.py").is_file()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_for_a_person(verb: str) -> None:
    found = command(verb)

    assert found.name == verb
    assert found.help
    assert "Raises:" not in found.help, "what is for readers of the source is printed to those of --help"


@pytest.mark.parametrize("verb", VERBS)
def test_who_stops_a_verb_is_told_in_a_line_how_to_go_on(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped_by_hand() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("scripts.verbs.command", lambda verb: TyperCommand(verb, callback=stopped_by_hand))
    with pytest.raises(SystemExit) as ended:
        app([verb])
    assert ended.value.code == 130
    assert re.fullmatch(r"\nStopped\. .*\.\n", capsys.readouterr().err)


def test_help_imports_no_verb() -> None:
    program = """
import sys
from scripts.main import app
try:
    app(["--help"])
except SystemExit:
    print(sorted({name.partition(".")[0] for name in sys.modules} & {"rehearsal", "kubernetes", "pulumi", "aiohttp"}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


def test_the_readme_lists_every_verb_in_its_own_words() -> None:
    rows = re.findall(r"^\| `([a-z]+)` \| (.*) \|$", (SCRIPTS.parent / "README.md").read_text(), re.MULTILINE)
    listed = {verb: line for verb, line in rows if verb in VERBS}
    assert listed == {verb: line.removesuffix(".") for verb, line in VERBS.items()}
