"""`splitbed expiry`: what in AWS has outlived its end date, as the issue that is opened for it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cloud.account import Account
from cloud.audit import Finding, audit
from cloud.survey import owned, survey
from cloud.thing import GLOBAL
from experiment import ownership
from experiment.errors import SplitbedError
from report.markdown import table
from report.plan_markdown import plain
from scripts import stack as stacks

LATE = 1
MARK = "<!-- splitbed expiry -->"
_NEAR = "us-east-1"
_MOST_ROWS = 25


def expiry(
    region: Annotated[
        list[str] | None, typer.Option("--region", help="Look only there; may be repeated. Else in all that are on.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the issue's text into this file instead of printing it.")
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print what is found as JSON.")] = False,
) -> None:
    """List what should be gone, by experiment, with the commands that end it; nothing is changed.

    Ends with 0 if nothing is past its date, with 1 if something is.
    """
    account = Account(profile)
    regions = region or account.regions(account.default_region or _NEAR)
    now = datetime.now(UTC)
    found = late(audit(owned(survey(account, regions), None), now))
    known = files()
    if out is not None:
        out.write_text("\n".join(lines(found, known, regions)) + "\n", encoding="utf-8")
    if json_output:
        typer.echo(json.dumps(_plain(found, known, regions), indent=2))
    elif out is None:
        typer.echo("\n".join(lines(found, known, regions)))
    raise typer.Exit(LATE if found else 0)


def late(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return what is past its date, by experiment."""
    found: dict[str, list[Finding]] = {}
    for one in findings:
        if one.what == "past its end date":
            found.setdefault(one.owned.experiment, []).append(one)
    return dict(sorted(found.items()))


def files() -> dict[str, str]:
    """Return the tracked stack of each experiment, by the experiment's name."""
    found = {}
    for name in stacks.known():
        try:
            found[stacks.read(name).settings.name] = name
        except SplitbedError:  # a file that is wrong has no stack that could be destroyed by it
            continue
    return found


def lines(found: Mapping[str, Sequence[Finding]], known: Mapping[str, str], regions: Sequence[str]) -> Iterator[str]:
    """Return the issue's text."""
    yield MARK
    where = f"{len(regions)} region{'s' if len(regions) > 1 else ''}"
    if not found:
        yield f"Nothing in {where} is past its end date."
        return
    yield f"In {where}, {_count(found)} past the end date."
    for experiment, findings in found.items():
        yield ""
        yield f"### {plain(experiment)}"
        yield ""
        rows = [
            [plain(one.owned.thing.kind), plain(one.owned.thing.id), one.owned.thing.region, plain(_due(one))]
            for one in findings[:_MOST_ROWS]
        ]
        yield from table(["kind", "id", "region", "should have gone"], rows)
        if len(findings) > _MOST_ROWS:
            yield f"And {len(findings) - _MOST_ROWS} more."
            yield ""
        yield _remedy(experiment, known.get(experiment), _places(findings) or regions[:1])


def _due(finding: Finding) -> str:
    return finding.owned.thing.tags.get(ownership.END_DATE, "")


def _places(findings: Sequence[Finding]) -> list[str]:
    """Return the regions of things; what has none is looked for with any."""
    return sorted({one.owned.thing.region for one in findings} - {GLOBAL})


def _count(found: Mapping[str, Sequence[Finding]]) -> str:
    things = sum(map(len, found.values()))
    experiments = len(found)
    return (
        f"{things} thing{'s' if things > 1 else ''} of {experiments} experiment{'s' if experiments > 1 else ''} "
        f"{'are' if things > 1 else 'is'}"
    )


def _remedy(experiment: str, stack: str | None, regions: Sequence[str]) -> str:
    if stack is not None:
        return (
            f"To end it, approve the `destroy` job of this run, or `pulumi destroy --stack {stack}`, then "
            f"`splitbed sweep {stack}`. To go on, `splitbed extend {stack} DATE`."
        )
    where = " ".join(f"--region {region}" for region in regions)
    look = f"`splitbed sweep {experiment} {where}`"
    return f"No stack file here is of it. Look with {look}; `--delete` deletes what it lists."


def _plain(
    found: Mapping[str, Sequence[Finding]], known: Mapping[str, str], regions: Sequence[str]
) -> dict[str, object]:
    return {
        "regions": list(regions),
        "stacks": [known[one] for one in found if one in known],
        "experiments": {
            experiment: [
                {
                    "kind": one.owned.thing.kind,
                    "id": one.owned.thing.id,
                    "region": one.owned.thing.region,
                    "end_date": one.owned.thing.tags.get(ownership.END_DATE),
                }
                for one in findings
            ]
            for experiment, findings in found.items()
        },
    }
