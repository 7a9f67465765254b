"""`splitbed tools`: the programs a rehearsal runs."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from rehearsal.home import home
from rehearsal.progress import ConsoleProgress
from rehearsal.toolchain import ON_REQUEST, PROGRAMS, Toolchain

app = typer.Typer(help="The programs a rehearsal runs: find or build them.", no_args_is_help=True)


@app.command()
def build(
    programs: Annotated[
        list[str] | None, typer.Argument(help="Which ones; all but kwok, otelcol and actionlint by default.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print names and paths as JSON.")] = False,
) -> None:
    """Find the programs on this machine, or build them from pinned Go modules (about 25 minutes for all)."""
    console = Console(stderr=True)
    found = Toolchain(home(), ConsoleProgress(console)).ensure(
        *(programs or [name for name in PROGRAMS if name not in ON_REQUEST])
    )
    if as_json:
        typer.echo(json.dumps({name: str(path) for name, path in found.items()}, indent=2))
        return
    table = Table("program", "path")
    for name, path in found.items():
        table.add_row(name, str(path))
    Console().print(table)
