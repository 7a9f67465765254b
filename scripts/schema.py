"""`splitbed schema`: what is generated from the models of settings and records."""

import json
from typing import Annotated

import typer

from experiment import record
from experiment.errors import SplitbedError
from experiment.reference import page
from experiment.schema import of_stack_file
from stackfiles.stackfile import STACKS

SCHEMA, PAGE = "splitbed-experiment.schema.json", "settings.md"
RECORD = "splitbed-record.schema.json"
REFERENCE = STACKS.parent / "docs" / "reference"


def generated() -> dict[str, str]:
    """Return what the files in `docs/reference` are to hold, by their name."""
    return {SCHEMA: _json(of_stack_file()), PAGE: page(), RECORD: _json(record.schema())}


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def stale() -> list[str]:
    """Return the names of those files that hold something else."""
    return [
        name
        for name, text in generated().items()
        if not (REFERENCE / name).is_file() or (REFERENCE / name).read_text(encoding="utf-8") != text
    ]


def schema(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a file is not up to date.")] = False,
) -> None:
    """Write the JSON Schemas of stack files and records and the reference page of the settings into docs/reference."""
    if check:
        if names := stale():
            raise SplitbedError(f"docs/reference: not up to date: {', '.join(names)}.", "Run `splitbed schema`.")
        return
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in generated().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
        typer.echo(f"docs/reference/{name}")
