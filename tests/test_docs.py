"""What README.md and docs/ tell a reader to click, type or set is there. Nothing is run."""

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from experiment.keys import keys
from experiment.settings import Settings
from scripts import stack
from scripts.verbs import VERBS, command
from tests.recording import ROOT
from tests.test_tables import DOTTED, FREE

DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
TAUGHT = (ROOT, DOCS / "how-to")
"""Where a word like `engine.threads` is a setting, and not a part of a record or a module."""

MEANT_WRONG = {"README.md": ("toplogy.kind is no setting",)}
"""Mistakes that a page shows on purpose, with what is said of them."""

FENCE = re.compile(r"^(?P<marks>```+)(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=marks)$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
LINK = re.compile(r"\[[^][]*(?:\[[^][]*\])?[^][]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
COMMAND = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\S*/)?(splitbed|make) (?=\S)")
PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9_/.-]*")
TARGET = re.compile(r"^([a-z][\w-]*):", re.MULTILINE)
UNHYPHENED = re.compile(r"[^\w\- ]")


def prose(text: str) -> str:
    """Return a page without its code, in which a link is no link and a heading no heading."""
    return INLINE.sub("", FENCE.sub("", text))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    found: list[str] = []
    for heading in HEADING.findall(FENCE.sub("", page.read_text())):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        anchor = UNHYPHENED.sub("", shown.lower()).replace(" ", "-")
        again = found.count(anchor)
        found.append(f"{anchor}-{again}" if again else anchor)
    return frozenset(found)


def dead_links(page: Path, text: str) -> Iterator[str]:
    """Yield the relative links that lead nowhere."""
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        if not there.exists():
            yield f"{target} leads to no file"
        elif anchor and anchor not in anchors(there):
            yield f"{target} leads to no heading"


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command line of ours, in code blocks and between backticks, as its program and its arguments."""
    blocks = [found["text"] for found in FENCE.finditer(text) if found["language"] not in ("yaml", "json", "python")]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += [code.replace("\n", " ") for code in INLINE.findall(text)]
    for line in lines:
        if found := COMMAND.match(line):
            try:
                words = shlex.split(line[found.end() :], comments=True)
            except ValueError:
                words = line[found.end() :].split()
            yield found[1], [word for word in words if word not in ("...", "…")]


@cache
def targets() -> frozenset[str]:
    return frozenset(TARGET.findall((ROOT / "Makefile").read_text()))


def no_targets(words: list[str]) -> Iterator[str]:
    """Yield the targets that the Makefile has not."""
    for word in words:
        if "=" not in word and not PLACEHOLDER.fullmatch(word) and word not in targets():
            yield f"make {word} is no target"


def mistyped(words: list[str], made: frozenset[str]) -> Iterator[str]:
    """Yield what a command line names and has not: verb, option, stack, setting.

    Args:
        words: what follows `splitbed`.
        made: stacks that the page itself has made by `splitbed new`.
    """
    verb, *rest = words
    if PLACEHOLDER.fullmatch(verb) or verb in ("--help", "--version"):
        return
    if verb not in VERBS:
        yield f"splitbed {verb} is no verb"
        return
    named: Any = command(verb)
    context: Any = typer.Context(named)
    while hasattr(named, "commands") and rest and not rest[0].startswith("-"):
        verb, named = f"{verb} {rest[0]}", named.commands.get(rest[0])
        if named is None:
            yield f"splitbed {verb} is no verb"
            return
        context, rest = typer.Context(named), rest[1:]
    try:
        given, _, _ = named.make_parser(context).parse_args(list(rest))
    except Exception as error:  # Typer's own errors of usage, whose classes it does not make public
        if not str(error).endswith("requires an argument."):  # the option is there, and only named
            yield f"splitbed {verb}: {error}"
        return
    yield from unknown_values(verb, given, made)


def unknown_values(verb: str, given: Mapping[str, Any], made: frozenset[str]) -> Iterator[str]:
    """Yield the stacks and settings among the values of a command that are not there."""
    for name in ("stack", "files", *(["source"] if verb == "new" else [])):
        value = given.get(name)
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, str) and not is_stack(one, made):
                yield f"splitbed {verb}: there is no stack {one}"
    key = given.get("key")
    wanted = [str(setting).partition("=")[0] for setting in given.get("settings") or ()]
    for path in (*wanted, *([key] if verb == "explain" and isinstance(key, str) else ())):
        if not (PLACEHOLDER.fullmatch(path) or is_setting(path)):
            yield f"{path} is no setting"


@cache
def settings() -> frozenset[str]:
    return frozenset(key.path for key in keys(Settings))


def is_setting(path: str) -> bool:
    return path in settings() or path.startswith(FREE)


def is_stack(name: str, made: frozenset[str]) -> bool:
    known = (*stack.known(), *made)
    return bool(PLACEHOLDER.fullmatch(name)) or name in known or (ROOT / name).is_file()


def paths(value: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the dotted path of every key of a mapping, lists and free mappings aside."""
    for key, below in value.items():
        path = f"{above}{key}"
        yield path
        if isinstance(below, dict) and f"{path}." not in FREE and path not in ("tags", "model.geometry.weight_gib"):
            yield from paths(below, f"{path}.") if not path.endswith(".selector") else ()


def unknown_keys(text: str) -> Iterator[str]:
    """Yield the keys that no setting has, of the blocks of YAML that are parts of a stack file."""
    for found in FENCE.finditer(text):
        if found["language"] == "yaml":
            block = yaml.safe_load(found["text"])
            if isinstance(block, dict) and set(block) <= set(Settings.model_fields):
                yield from (f"{path} is no setting" for path in paths(block) if not is_setting(path))


def wrong(page: Path, text: str) -> Iterator[str]:
    """Yield all that a page names and that is not there."""
    yield from dead_links(page, text)
    lines = list(commands(text))
    news = [words for program, words in lines if program == "splitbed" and words[:1] == ["new"]]
    made = frozenset(words[1] for words in news if words[1:])
    for program, words in lines:
        if words:
            yield from no_targets(words) if program == "make" else mistyped(words, made)
    yield from unknown_keys(text)
    if page.parent in TAUGHT:
        named = (code for code in INLINE.findall(FENCE.sub("", text)) if DOTTED.fullmatch(code))
        ours = (code for code in named if code.partition(".")[0] in Settings.model_fields)
        yield from (f"{code} is no setting" for code in ours if not is_setting(code))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_all_that_a_page_names_is_there(page: Path) -> None:
    expected = MEANT_WRONG.get(str(page.relative_to(ROOT)), ())
    assert tuple(wrong(page, page.read_text())) == expected


def linked(page: Path) -> set[Path]:
    targets = LINK.findall(FENCE.sub("", page.read_text()))
    return {(page.parent / target.partition("#")[0]).resolve() for target in targets}


def test_every_page_is_found_from_the_index() -> None:
    found = linked(DOCS / "README.md")
    folders = {path if path.is_dir() else path.parent for path in found if path.is_dir() or path.name == "README.md"}
    pages = {page for page in PAGES if page.parent != ROOT and page != DOCS / "README.md"}
    assert sorted(page for page in pages - found if page.parent not in folders) == []
    assert DOCS / "README.md" in linked(ROOT / "README.md")


def test_what_is_named_and_not_there_is_found() -> None:
    text = """
# A page, with `code`
[there](../method.md#nowhere), [here](../method.md#intervals), [a file](nothing.md), [the makefile](../../Makefile),
[web](https://example.org)
```
$ .venv/bin/splitbed plan gemma-1b-splt --set engine.kv_cash.gib=4 --set engine.flags.anything=1 \\
    --set topology.kind=single
$ splitbed plan STACK --jsn
$ splitbed new mine --from gemma-1b-split
$ splitbed plan mine --json     # a comment, it's said
$ splitbed cluster sideways
make reherse ENGINE=vllm
```
`splitbed plam`, `splitbed VERB --help`,
 `make plans`, `splitbed explain engine.thread`, `engine.thread`, `engine.threads`
```yaml
engine: {flags: {anything: 1}, colour: red}
```
"""
    assert list(wrong(DOCS / "how-to" / "page.md", text)) == [
        "../method.md#nowhere leads to no heading",
        "nothing.md leads to no file",
        "splitbed plan: there is no stack gemma-1b-splt",
        "engine.kv_cash.gib is no setting",
        "splitbed plan: No such option: --jsn",
        "splitbed cluster sideways is no verb",
        "make reherse is no target",
        "splitbed plam is no verb",
        "engine.thread is no setting",
        "engine.colour is no setting",
        "engine.thread is no setting",
    ]
