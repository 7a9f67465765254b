"""`splitbed audit`: whether all that an experiment has in AWS says whose it is and when it ends."""

import json
from datetime import UTC, datetime
from typing import Annotated

import typer

from cloud import livetags
from cloud.account import Account
from cloud.audit import Finding
from cloud.audit import audit as judged
from cloud.survey import Owned, owned, survey
from experiment import ownership
from experiment.errors import SplitbedError
from scripts import stack as stacks

WRONG = 1


def audit(
    stack: Annotated[
        str | None, typer.Argument(help="A stack of stacks/, or the path of its file; all experiments if not given.")
    ] = None,
    region: Annotated[
        list[str] | None, typer.Option("--region", help="Look only there; may be repeated. Else in all that are on.")
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Put right the tags of instances, volumes, interfaces and scaling groups.")
    ] = False,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print what is found as JSON.")] = False,
) -> None:
    """Check that every live thing has its tags and its end date, in all regions, and that none is past it.

    With a stack, tags must be those of its file; without, all that has a tag of ours is looked at. Ends with 0 if all
    is right, with 1 if something is not.
    """
    if fix and stack is None:
        raise SplitbedError("--fix needs the tags of a stack's file, and none is named.", "Name the stack.")
    known = stacks.read(stack) if stack is not None else None
    account = Account(profile)
    near = known.cluster.region if known else account.default_region or "us-east-1"
    regions = region or account.regions(near)
    expected = ownership.tags(known.settings) if known else None
    experiment = known.settings.name if known else None
    found = owned(survey(account, regions), experiment)
    fixed = []
    if fix and expected:
        if ownership.END_DATE not in expected:
            raise SplitbedError(
                f"{known.path if known else ''} has no end date, so no tag can say it.",
                "Set one: splitbed extend STACK DATE.",
            )
        fixed = livetags.put_right(account, found, expected)
        found = owned(survey(account, regions), experiment)
    findings = judged(found, datetime.now(UTC), expected)
    if json_output:
        typer.echo(json.dumps(_plain(regions, found, findings, [str(thing) for thing in fixed]), indent=2))
    else:
        for thing in fixed:
            typer.echo(f"put right: {thing}")
        for finding in findings:
            typer.echo(f"{finding.what}: {finding.owned.thing} of {finding.owned.experiment}: {finding.said}.")
            typer.echo(f"  {finding.remedy} puts that right.")
        where = f"{len(regions)} region{'s' if len(regions) > 1 else ''}"
        wrong = len({finding.owned.thing.id for finding in findings})
        typer.echo(f"{len(found)} things in {where}, {wrong} of them not as they should be.")
    raise typer.Exit(WRONG if findings else 0)


def _plain(regions: list[str], found: list[Owned], findings: list[Finding], fixed: list[str]) -> dict[str, object]:
    return {
        "regions": regions,
        "things": len(found),
        "fixed": fixed,
        "findings": [
            {
                "kind": finding.owned.thing.kind,
                "id": finding.owned.thing.id,
                "region": finding.owned.thing.region,
                "experiment": finding.owned.experiment,
                "what": finding.what,
                "said": finding.said,
                "remedy": finding.remedy,
            }
            for finding in findings
        ],
    }
