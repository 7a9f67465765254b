"""What the tables of docs/ name is there: tests, settings, modules and what is in them, flags of the engine."""

import ast
import importlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from experiment import versions
from experiment.keys import UnknownKeyError, find, keys
from experiment.settings import Settings
from tests.recording import ROOT

TABLES = ("pitfalls.md", "posts.md")
PACKAGES = ("benchmark", "campaign", "cloud", "components", "experiment", "policies", "rehearsal", "report", "scripts")
FOLDERS = (*PACKAGES, "docs", "stacks", "tests")
FREE = ("engine.flags.", "engine.env.")
"""Settings below which any key may stand."""

LEGEND = re.compile(r"`([A-Z])`\s+(?:stands\s+)?for\s+`([^`]+)`")
NAMED = re.compile(r"\b([A-Z])(?= `test_)|`([^`]+)`")
FILE = re.compile(r"(?:[\w-]+/)*[\w.-]+\.(?:py|yaml|md|json)")
DOTTED = re.compile(r"[a-z_]+(?:\.[A-Za-z_][\w-]*)+")
FLAG = re.compile(r"--([a-z][a-z-]*)(?:=.*)?")


@cache
def defined_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


@cache
def files_by_name() -> dict[str, tuple[Path, ...]]:
    """All files of tests, by their names."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return {name: tuple(path for path in paths if path.name == name) for name in {path.name for path in paths}}


def rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield the cells of every row, each with the row's first one."""
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("|---"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            yield from ((cells[0].strip("| "), cell) for cell in cells)


def file_of(name: str) -> tuple[Path, ...]:
    """Return the file of a path, or the tests of a file's mere name."""
    if "/" in name:
        return (ROOT / name,) if (ROOT / name).is_file() else ()
    return files_by_name().get(name, ())


def wrong(text: str) -> Iterator[str]:
    """Yield what is named and not there."""
    legend = {letter: ROOT / path for letter, path in LEGEND.findall(text)}
    yield from (f"legend: {path} is not there" for path in legend.values() if not path.is_file())
    for row, cell in rows(text):
        places: tuple[Path, ...] = ()
        for letter, name in NAMED.findall(cell):
            if letter:
                if letter not in legend:
                    yield f"{row}: nobody says what {letter} stands for"
                places = (legend[letter],) if letter in legend else ()
            elif re.fullmatch(r"test_\w+", name):
                known = places or tuple(path for paths in files_by_name().values() for path in paths)
                if not any(name in defined_in(path) for path in known if path.is_file()):
                    yield f"{row}: {name} is no test{f' of {places[0].name}' if places else ''}"
            elif FILE.fullmatch(name) and ("/" not in name or name.partition("/")[0] in FOLDERS):
                found = file_of(name)
                if "/" in name or name.startswith("test_"):
                    if not found:
                        yield f"{row}: {name} is not there"
                    places = tuple(path for path in found if path.suffix == ".py")
            elif problem := unknown(name):
                yield f"{row}: {problem}"


def unknown(name: str) -> str:
    """Say what is wrong with a setting, a part of a module or a flag; nothing of what is none of these."""
    if flag := FLAG.fullmatch(name):
        return "" if flag[1].removeprefix("no-") in flags() else f"vLLM has no {name}"
    if not DOTTED.fullmatch(name):
        return ""
    first = name.partition(".")[0]
    if first in Settings.model_fields and (name.startswith(FREE) or is_setting(name)):
        return ""
    if first in PACKAGES and is_importable(name):
        return ""
    return f"there is no {name}" if first in PACKAGES or first in Settings.model_fields else ""


@cache
def flags() -> frozenset[str]:
    recorded = json.loads((ROOT / f"experiment/data/vllm-{versions.VLLM_VERSION}-serve-flags.json").read_text())
    return frozenset(re.findall(r"--([a-z][a-z-]*)", json.dumps(recorded)))


@cache
def is_setting(path: str) -> bool:
    try:
        return bool(find(keys(Settings), path))
    except UnknownKeyError:
        return False


def is_importable(name: str) -> bool:
    module, _, last = name.rpartition(".")
    try:
        return hasattr(importlib.import_module(module), last) or bool(importlib.import_module(name))
    except ImportError:
        return False


@pytest.mark.parametrize("table", TABLES)
def test_all_that_a_table_names_is_there(table: str) -> None:
    assert list(wrong((ROOT / "docs" / table).read_text())) == []


def test_no_row_of_the_posts_is_left_without_a_word() -> None:
    for line in (ROOT / "docs" / "posts.md").read_text().splitlines():
        if line.startswith("| ") and not line.startswith("|---"):
            cells = [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split(" | ")]
            assert len(cells) == 3, line
            assert all(cells), line
            if cells[0] != "the post":
                words = ("`test", "`tests/", "not ", "other experiments", "another checkpoint", "the benchmark is")
                assert any(word in cells[2] for word in words), f"neither shown nor said why not: {line}"


def test_what_is_named_and_not_there_is_found() -> None:
    text = """
`G` stands for `tests/test_tables.py`, `S` for `tests/test_nothing.py`.
| a | `engine.kv_cache`, `engine.kv_cash`, `engine.flags.anything` | G `test_no_such` |
| b | `report.prose.speed.one_user`, `report.prose.speed.two_users` | Q `test_tables` |
| c | `experiment/efa.py`, `experiment/efb.py` | `tests/test_stacks.py` `test_no_urn_is_used_twice` |
| d | `--max-num-seqs=8`, `--no-async-scheduling`, `--max-num-cats` | `test_no_urn_is_used_twice` |
| e | `/metrics`, `ttft_s`, `kind: bytes` | `test_stacks.py` `test_all_that_a_table_names_is_there` |
"""
    assert list(wrong(text)) == [
        f"legend: {ROOT / 'tests/test_nothing.py'} is not there",
        "a: there is no engine.kv_cash",
        "a: test_no_such is no test of test_tables.py",
        "b: there is no report.prose.speed.two_users",
        "b: nobody says what Q stands for",
        "b: test_tables is no test",
        "c: experiment/efb.py is not there",
        "d: vLLM has no --max-num-cats",
        "e: test_all_that_a_table_names_is_there is no test of test_stacks.py",
    ]
