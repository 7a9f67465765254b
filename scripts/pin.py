"""`splitbed pin`: look up what stacks take from outside, and write it down with its date."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cloud import lookup, web
from cloud.account import Account
from experiment.cluster import EksCluster
from experiment.errors import SplitbedError
from scripts import stack as stacks
from stackfiles.atomic import write_atomically
from stackfiles.stackfile import STACKS

LOCK = STACKS / "pins.lock.json"
STALE = 1


def pin(
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[STACK]...", help="Stacks to pin besides all of stacks/.")
    ] = None,
    lock: Annotated[Path, typer.Option(help="The file to write.")] = LOCK,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; end with 1 if what is there is no longer what is found.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before writing.")] = False,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the lock file as JSON; implies --yes.")] = False,
) -> None:
    """Look up digests of images, commits of models, versions of EKS add-ons and node images; show what changes.

    What a stack's file pins itself is left as it is. All stacks share one file, so that arms of a comparison do not
    drift apart; it is written as a whole, or not at all.
    """
    settings = [stacks.read(name).settings for name in [*stacks.known(), *(files or [])]]
    what = lookup.wanted(settings)
    if not any(isinstance(one.cluster, EksCluster) for one in settings):
        raise SplitbedError("No stack has an EKS cluster, so there is nothing to pin.", "Name one.")
    say = (lambda _: None) if json_output else lambda asked: typer.echo(f"asking for {asked}", err=True)
    found = lookup.look_up(what, Account(profile), web.get, datetime.now(UTC).date(), say)
    before = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    after = lookup.text(found)
    changes = [line for line in lookup.difference(before, after, lock.name) if '"day"' not in line]
    changed = any(line[:1] in "+-" and not line.startswith(("+++", "---")) for line in changes)
    if not json_output:
        typer.echo("\n".join(changes) if changed else f"{lock} is up to date.")
    if check:
        if json_output:
            typer.echo(json.dumps({"changed": changed, "difference": changes}, indent=2))
        raise typer.Exit(STALE if changed else 0)
    if changed and not (yes or json_output):
        typer.confirm(f"Write {lock}?", abort=True)
    if changed:
        write_atomically(lock, after)
        lock.chmod(0o644)
    if json_output:
        typer.echo(after, nl=False)
