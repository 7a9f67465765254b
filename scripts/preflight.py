"""`splitbed preflight`: what would otherwise be found out ten minutes into `up`."""

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

import typer

from cloud import web
from cloud.account import Account
from cloud.preflight import capacity, machine, reach, standing
from cloud.preflight.check import Check, checked
from experiment import pins
from experiment.pins import Pins
from experiment.settings import before_up
from scripts import stack as stacks
from scripts.pin import LOCK
from scripts.stack import Stack
from stackfiles.stackfile import mapping

REFUSED = 1
_VERSION_TIMEOUT_S = 60


def preflight(
    stack: Annotated[str, typer.Argument(help="A stack of stacks/, or the path of its file.")],
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check, before `up`, programs, account, region, quotas, instance types, images, model and secrets of a stack.

    Nothing is made or changed. Ends with 0 if nothing was refused, else with 1.
    """
    known = stacks.read(stack)
    refused = 0
    found = []
    for check in checks(known, Account(profile), web.get):
        refused += not check.ok
        found.append(check)
        if not json_output:
            typer.echo(f"{'ok     ' if check.ok else 'refused'} {check.name}: {check.said}")
            if not check.ok and check.remedy:
                typer.echo(f"        {check.remedy}")
    if json_output:
        typer.echo(
            json.dumps([{**asdict(check), "remedy": "" if check.ok else check.remedy} for check in found], indent=2)
        )
    elif refused:
        typer.echo(f"{refused} of {len(found)} refused.")
    raise typer.Exit(REFUSED if refused else 0)


def checks(known: Stack, account: Account, get: web.Get) -> Iterator[Check]:
    """Check everything, one after the other; what cannot be asked is refused, and the rest goes on."""
    settings, cluster = known.settings, known.cluster
    lock = pins.load(LOCK.read_text(encoding="utf-8"), str(LOCK)) if LOCK.is_file() else Pins()
    applied = pins.apply(settings, lock)
    environment = os.environ
    yield from machine.programs(output)
    yield from _settings(known, lock)
    yield from checked("identity", lambda: standing.identity(account, cluster, environment))
    yield from checked("region", lambda: standing.region(account, cluster))
    yield from checked("quotas", lambda: capacity.quotas(account, settings, cluster))
    yield from checked("instance types", lambda: capacity.offerings(account, settings, cluster))
    yield from reach.images(applied, lock, get)
    yield from checked("model", lambda: reach.model(applied, get, environment))
    yield from checked("secrets", lambda: machine.secrets(account, mapping(known.path), environment))


def output(command: Sequence[str]) -> str | None:
    """Return what a program printed, none if it is not there or failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_VERSION_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 and done.stdout.strip() else None


def _settings(known: Stack, lock: Pins) -> Iterator[Check]:
    unsaid = before_up(known.settings)
    past = known.settings.end_date is not None and known.settings.end_date <= datetime.now(UTC)
    yield Check(
        "end_date",
        ok=not unsaid and not past,
        said=unsaid[0].why if unsaid else f"{known.settings.end_date}" + (", which has passed" if past else ""),
        remedy=f"splitbed extend {known.name} DATE",
    )
    missing = pins.missing(pins.apply(known.settings, lock), lock)
    yield Check(
        "pins",
        ok=not missing,
        said=f"{len(missing)} things are not pinned, the first of them {missing[0]}" if missing else "all is pinned",
        remedy="splitbed pin",
    )
