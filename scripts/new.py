"""`splitbed new`: a stack file of one's own, from one that is there."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from experiment.errors import SplitbedError
from experiment.plan import words
from experiment.plan.plan import make
from experiment.settings import KEY, before_up
from scripts import stack as stacks
from scripts.replacements import parsed
from stackfiles import stackfile
from stackfiles.stackfile import StackFile
from stackfiles.yamltext import write

_SCHEMA = "# yaml-language-server: $schema=../docs/reference/splitbed-experiment.schema.json"
_OWN = ("owner", "purpose")
"""What nobody else's file can say."""


class ExistsError(SplitbedError):
    """There is such a stack."""


def new(
    name: Annotated[str, typer.Argument(help="Of the experiment and of its stack.")],
    source: Annotated[str, typer.Option("--from", metavar="STACK", help="A stack of stacks/, or a file's path.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="What is to differ, as in --set topology.kind=single."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the file instead; nothing is written.")] = False,
    json_output: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Write a stack file of your own: that of another stack, under its own name, with what is to differ.

    Nothing is written over, and nothing is written that could not be planned. Comments of the other file stay behind,
    as they are about that; so do an end date and secrets.
    """
    origin, _, begun = stacks.located(source)
    replaced = parsed(settings or [])
    if "name" in replaced:
        raise typer.BadParameter("the name is what stands first, not one of --set")
    file, left = derived(begun, name, replaced)
    now = datetime.now(UTC)
    checked = file.check(now)
    plan = make(checked, now)
    path = stackfile.STACKS / f"Pulumi.{name}.yaml"
    if path.exists():
        raise ExistsError(f"{path} is there already.", "Take another name, or edit that file.")
    text = f"{_SCHEMA}\n# From {origin}; it differs by {', '.join({'name': name, **replaced})}.\n{write(file.document)}"
    if dry_run:
        typer.echo(text, nl=False)
        return
    with path.open("x", encoding="utf-8") as opened:
        opened.write(text)
    todo = [str(problem) for problem in before_up(checked)]
    todo += [f"{key}: it is still that of {origin}. Say your own." for key in _OWN if key not in replaced]
    todo += [f"{key}: secrets belong to one stack. Set it anew by `pulumi config set --secret`." for key in left]
    if json_output:
        told = {"stack": name, "file": str(path), "goes": plan.goes, "verdict": words.verdict(plan), "before_up": todo}
        typer.echo(json.dumps(told, indent=2))
        return
    typer.echo(f"{path} is written. Its plan: {words.verdict(plan)}.")
    for line in todo:
        typer.echo(f"  before `pulumi up`: {line}")
    if plan.goes:
        typer.echo(f"Next: splitbed plan {name}, then pulumi stack init {name} and pulumi up.")
    else:
        typer.echo(f"Next: splitbed plan {name}, which says why `up` would stop and what to change.")


def derived(file: StackFile, name: str, replaced: Mapping[str, Any]) -> tuple[StackFile, tuple[str, ...]]:
    """Return another stack's file under its own name, and the keys of secrets that stay behind."""
    config = file.document["config"]
    secrets = tuple(key for key, value in config.items() if isinstance(value, Mapping) and "secure" in value)
    kept = {key: value for key, value in config.items() if key not in secrets}
    kept[KEY] = {key: value for key, value in config[KEY].items() if key != "end_date"}
    # What is beside `config` belongs to the other stack's own backend.
    return StackFile({"config": kept}).replaced({**replaced, "name": name}), secrets
