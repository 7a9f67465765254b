"""The reference of all settings, generated from the models."""

from collections.abc import Iterator

from experiment.keys import Key, keys
from experiment.settings import KEY, Settings

_HEAD = f"""# Settings

Everything that a stack file says about its experiment is one mapping, `{KEY}` below `config`. This page is
generated from the models (`splitbed schema`); `splitbed explain KEY` shows the same in a terminal. A key without a
default must be given where it may be. An editor that knows YAML schemas completes a file that begins with

```yaml
# yaml-language-server: $schema=../docs/reference/splitbed-experiment.schema.json
```
"""


def page() -> str:
    """Return the page, in Markdown."""
    return "\n".join([_HEAD, *_sections(keys(Settings))]) + "\n"


def _sections(known: tuple[Key, ...]) -> Iterator[str]:
    top = [key for key in known if "." not in key.path]
    yield "## The experiment\n"
    yield from _table([key for key in top if not key.children])
    for key in top:
        if key.children:
            yield f"\n## {key.path}\n"
            yield f"{_sentence(key)}\n"
            yield from _table([other for other in known if other.path.startswith(f"{key.path}.")])


def _table(rows: list[Key]) -> Iterator[str]:
    yield "| key | type | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for key in rows:
        kind = f"{key.type} ({key.unit})" if key.unit else key.type
        only = f" *Where {' and '.join(f'`{when}`' for when in key.when)}.*" if key.when else ""
        default = f"`{key.default}`" if key.default else ""
        yield f"| `{key.path}` | {_cell(kind)} | {_cell(default)} | {_cell(_meaning(key))}.{only} |"


def _sentence(key: Key) -> str:
    default = f" If not given: `{key.default}`." if key.default else ""
    return f"{_meaning(key)}.{default}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _meaning(key: Key) -> str:
    """Return the description with a capital letter, unless it begins with a value, which is to be written as it is."""
    text = key.description
    begins_with_value = text.replace(",", " ").split(" ", 1)[0] in key.type.split(" | ")
    return text if begins_with_value else text[:1].upper() + text[1:]
