"""`splitbed sweep`: what an experiment has left behind in AWS, and its deletion."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from cloud import sweep as sweeping
from cloud.account import Account
from cloud.clock import Clock, WallClock
from cloud.thing import Thing
from scripts import stack as stacks

LEFT = 1


def sweep(
    stack: Annotated[
        str, typer.Argument(help="A stack of stacks/, the path of its file, or with --region an experiment's name.")
    ],
    region: Annotated[
        list[str] | None, typer.Option("--region", help="Look there instead of in the stack's region; may be repeated.")
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is found; without it nothing is.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before deleting.")] = False,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print what is found as JSON.")] = False,
) -> None:
    """List what an experiment has left behind in AWS after `pulumi destroy`; delete it only with --delete.

    Only what carries the experiment's tag is found, and what AWS itself has tagged as a part of its cluster. Ends with
    0 if nothing is left, with 1 if something is.
    """
    if region:
        experiment, regions = stack, region
        if "/" in stack or stack in stacks.known():
            experiment = stacks.read(stack).settings.name
    else:
        found = stacks.read(stack)
        experiment, regions = found.settings.name, [found.cluster.region]
    account = Account(profile)
    left = sweeping.look(account, experiment, regions)
    if not delete or not left.leftovers:
        _tell(experiment, left, json_output=json_output)
        raise typer.Exit(LEFT if left.leftovers else 0)
    if not yes:
        _tell(experiment, left, json_output=False)
        typer.confirm(f"Delete these {len(left.leftovers)} things?", abort=True)
    swept = run(account, experiment, regions, WallClock(), quiet=json_output)
    if json_output:
        typer.echo(
            json.dumps(
                {
                    "experiment": experiment,
                    "deleted": [_plain(thing) for thing in swept.deleted],
                    "remaining": [{**_plain(thing), "why": why} for thing, why in swept.remaining],
                },
                indent=2,
            )
        )
    else:
        typer.echo(f"Deleted {len(swept.deleted)} things: {sweeping.counted(swept.deleted)}.")
        for thing, why in swept.remaining:
            typer.echo(f"still there: {thing}. {why}")
    raise typer.Exit(LEFT if swept.remaining else 0)


def run(account: Account, experiment: str, regions: list[str], clock: Clock, *, quiet: bool) -> sweeping.Swept:
    """Delete, and tell of each thing unless `quiet`."""
    return sweeping.delete(
        account, experiment, regions, clock, (lambda _: None) if quiet else lambda what: typer.echo(f"deleting {what}")
    )


def _tell(experiment: str, left: sweeping.Leftovers, *, json_output: bool) -> None:
    if json_output:
        found = {
            "experiment": experiment,
            "leftovers": [_plain(thing) for thing in left.leftovers],
            "kept": [_plain(thing) for thing in left.kept],
        }
        typer.echo(json.dumps(found, indent=2))
        return
    for thing in left.leftovers:
        typer.echo(str(thing))
    for thing in left.kept:
        typer.echo(f"kept on purpose: {thing}")
    if not left.leftovers:
        typer.echo(f"Nothing of {experiment} is left.")
        return
    typer.echo(f"{len(left.leftovers)} things of {experiment}: {sweeping.counted(left.leftovers)}.")
    if any(thing.kind == "cluster" for thing in left.leftovers):
        typer.echo("Its cluster is there: if the stack has not been taken down yet, `pulumi destroy` comes first.")
    typer.echo("They are deleted only with --delete.")


def _plain(thing: Thing) -> dict[str, object]:
    found = asdict(thing)
    return {key: found[key] for key in ("kind", "id", "region", "tags")}
