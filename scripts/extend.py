"""`splitbed extend`: another end date for a stack: its file, what AWS does at that moment, and all tags."""

import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from cloud import audit, livetags
from cloud.account import Account
from cloud.survey import Owned, owned, survey
from experiment import ownership
from experiment.errors import SplitbedError
from experiment.identity import Moment
from scripts import stack as stacks
from scripts.stack import Stack
from stackfiles.atomic import write_atomically
from stackfiles.edited import with_end_date
from stackfiles.stackfile import STACKS


def extend(
    stack: Annotated[str, typer.Argument(help="A stack of stacks/, or the path of its file.")],
    date: Annotated[str, typer.Argument(help="The new end, as 2026-12-31T18:00:00+01:00.")],
    up: Annotated[bool, typer.Option("--up", help="Run the Pulumi commands too, not only name them.")] = False,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Move the end date of a stack: change its file, have `pulumi up` move it inside AWS, tag what lives anew.

    No node is replaced. On a stack that has expired the state is refreshed first, so that the same `pulumi up` brings
    its nodes back.
    """
    now = datetime.now(UTC)
    end = parsed(date, now)
    known = stacks.read(stack)
    region = known.cluster.region
    account = Account(profile)
    found = owned(survey(account, [region]), known.settings.name)
    commands = steps(known, expired(known, found, now))
    write(known, end)
    if up:
        for command in commands:
            run(command, profile)
        found = owned(survey(account, [region]), known.settings.name)
    moved = stacks.read(stack)
    tagged = livetags.put_right(account, found, ownership.tags(moved.settings))
    if json_output:
        done = {
            "stack": known.name,
            "file": str(known.path),
            "end_date": end.isoformat(),
            "commands": [list(command) for command in commands],
            "ran": up,
            "tagged": [str(thing) for thing in tagged],
        }
        typer.echo(json.dumps(done, indent=2))
        return
    typer.echo(f"{known.path}: end_date is {end.isoformat()} now. Commit that.")
    for thing in tagged:
        typer.echo(f"tagged: {thing}")
    if not up:
        typer.echo("AWS still ends it at the old moment, until you run:")
        for command in commands:
            typer.echo(f"  {shlex.join(command)}")
        typer.echo(f"  splitbed audit {stack} --region {region} --fix")


def parsed(date: str, now: datetime) -> datetime:
    """Return the new end.

    Raises:
        SplitbedError: it is no moment with a time zone, or it has passed.
    """
    try:
        end: datetime = TypeAdapter(Moment).validate_python(date)
    except ValidationError as error:
        detail = error.errors()[0]
        remedy = detail.get("ctx", {}).get("remedy", "")
        raise SplitbedError(f"{date}: {detail['msg']}.", remedy) from None
    if end <= now:
        raise SplitbedError(
            f"{date} has passed (now it is {now:%Y-%m-%d %H:%M} UTC).",
            "Name a later moment, or end it now by `pulumi destroy`.",
        )
    return end


def expired(known: Stack, found: Sequence[Owned], now: datetime) -> bool:
    """Return whether its nodes are, or may be, gone: by the old date of its file, or by what lives in AWS."""
    ends = [known.settings.end_date, *(audit.ended(one.thing.tags) for one in found)]
    return any(end is not None and end <= now for end in ends)


def steps(known: Stack, has_expired: bool) -> list[list[str]]:
    """Return the commands by which AWS learns of the new date."""
    stack = ["--stack", known.name, *([] if known.path.parent == STACKS else ["--config-file", str(known.path)])]
    # At the end date AWS set the groups to zero, of which the state knows nothing until it is refreshed.
    refresh = [["pulumi", "refresh", "--yes", *stack]] if has_expired else []
    return [*refresh, ["pulumi", "up", *stack]]


def write(known: Stack, end: datetime) -> None:
    """Change the date in the stack's file, and nothing else; raises as `with_end_date`."""
    text = known.path.read_text(encoding="utf-8")
    mode = known.path.stat().st_mode
    write_atomically(known.path, with_end_date(text, end.isoformat(), str(known.path)))
    known.path.chmod(mode)


def run(command: Sequence[str], profile: str | None) -> None:
    """Run a command in this terminal and in the project's directory, with the same profile of AWS.

    Raises:
        SplitbedError: it is not there, or it failed.
    """
    try:
        environment = {**os.environ, **({"AWS_PROFILE": profile} if profile else {})}
        done = subprocess.run(command, check=False, cwd=STACKS.parent, env=environment)
    except FileNotFoundError:
        raise SplitbedError(f"{command[0]} is not on PATH.", "Install it, or run the commands elsewhere.") from None
    if done.returncode:
        raise SplitbedError(f"{shlex.join(command)} failed.", "Mend what it says, and run the same `extend` again.")
