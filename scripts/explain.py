"""`splitbed explain`: what may stand in a stack file."""

import json
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from experiment.keys import Key, find, keys
from experiment.settings import Settings
from scripts.consoles import wide_console

_NARROWEST, _PIPED = 80, 160


def explain(
    key: Annotated[str | None, typer.Argument(metavar="[KEY]", help="Dotted path, as engine.kv_cache.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show what a setting means, its type, unit and default, and the keys below it; all settings without KEY."""
    known = keys(Settings)
    found = find(known, key) if key else known
    if as_json:
        typer.echo(json.dumps([asdict(one) for one in found], indent=2))
        return
    console = wide_console(_NARROWEST, _PIPED)
    asked = [one for one in found if one.path == key]
    for one in asked:
        console.print(_described(one))
    if below := [one for one in found if one.path != key]:
        console.print(_table(below, key or "", {when for one in asked for when in one.when}))


def _described(key: Key) -> Text:
    lines = Text()
    lines.append(key.path, style="bold")
    lines.append(f": {key.description}\n")
    for word, text in (
        ("only where", " and ".join(key.when)),
        ("type", f"{key.type} ({key.unit})" if key.unit else key.type),
        ("default", "none: it must be given" if key.required else key.default),
    ):
        if text:
            lines.append(f"  {word:<10} {text}\n", style="dim" if word == "only where" else "")
    return lines


def _table(found: list[Key], above: str, said: AbstractSet[str]) -> Table:
    table = Table(box=None, pad_edge=False, expand=False)
    table.add_column("key", no_wrap=True)
    for title in ("type", "default", "meaning"):
        table.add_column(title, overflow="fold")
    for key in found:
        name = key.path.removeprefix(f"{above}.") if above else key.path
        kind = f"{key.type} ({key.unit})" if key.unit else key.type
        when = [condition for condition in key.when if condition not in said]
        only = f" [where {' and '.join(when)}]" if when else ""
        default = Text("required", style="bold") if key.required else Text(key.default)
        table.add_row(Text(name, style="bold"), Text(kind), default, Text(f"{key.description}{only}"))
    return table
