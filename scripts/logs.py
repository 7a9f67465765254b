"""`splitbed logs`: what a stack's pods wrote, also those that are gone."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer

from cloud.account import Account
from cloud.clock import Clock, WallClock
from cloud.logs import PodLog
from experiment import names, shipping
from experiment.cluster import KubeconfigCluster
from experiment.errors import SplitbedError
from experiment.logline import Line, once
from experiment.printable import printable
from rehearsal.nodefiles import NodeFiles
from scripts import stack as stacks

_BETWEEN_S = 2.0
_SHORT = 8  # characters of a uid that tell the lives of a pod apart

Look = Callable[[], Iterator[Sequence[Line]]]
"""Returns what is there, and at each further call what came since; some of it again."""


def logs(
    stack: Annotated[str, typer.Argument(help="A stack of stacks/, or the path of its file.")],
    pod: Annotated[
        str | None, typer.Option(help="Only pods of this name, in which * stands for anything; all lives of each.")
    ] = None,
    container: Annotated[str | None, typer.Option(help="Only this container, as in engine.")] = None,
    run: Annotated[str | None, typer.Option(help="Only what the benchmark wrote in this run.")] = None,
    since: Annotated[
        float | None, typer.Option(metavar="HOURS", help="Only what was written in the last hours.", min=0)
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Go on with what comes, until interrupted.")] = False,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print a JSON object for each line.")] = False,
) -> None:
    """Print the lines that the log shipper has brought away, in the order of their times, each once.

    A pod that is made anew under its name is told apart by the first characters of its uid, and a container that is
    started again by their count. Nothing is asked of the pods: what was shipped is there when they are gone.
    """
    found = stacks.read(stack)
    clock = WallClock()
    start = clock.now() - timedelta(hours=since) if since is not None else None
    look = _look(found, start, profile)

    def wanted(line: Line) -> bool:
        return (
            (pod is None or fnmatchcase(line.pod, pod))
            and (container is None or line.container == container)
            and (run is None or line.run == run)
            and (start is None or line.time_ns >= start.timestamp() * 1e9)
        )

    said = _json if json_output else _text
    for line in read(look, clock, follow=follow):
        if wanted(line):
            typer.echo(said(line))


def read(look: Look, clock: Clock, *, follow: bool) -> Iterator[Line]:
    """Return each line once; all that is there in order, and then, if told to follow, what comes."""
    seen: set[tuple[object, ...]] = set()
    while True:
        lines = [line for some in look() for line in once(some, seen)]
        yield from sorted(lines, key=lambda line: line.time_ns)
        if not follow:
            return
        clock.sleep(_BETWEEN_S)


def _look(found: stacks.Stack, start: datetime | None, profile: str | None) -> Look:
    settings = found.settings
    if settings.logs.kind == "none":
        raise SplitbedError(
            f"{found.name} ships no logs: its logs.kind is none.",
            "Set it to cloudwatch or files for the next experiment; of pods that run, `kubectl logs` shows them.",
        )
    if settings.logs.kind == "cloudwatch":
        region = found.cluster.region
        log = PodLog(Account(profile), region, shipping.group_name(settings.name), shipping.STREAM)
        since_ms = round(start.timestamp() * 1000) if start else 0
        return lambda: log.lines(since_ms)
    cluster = settings.cluster
    if not isinstance(cluster, KubeconfigCluster):
        raise SplitbedError(
            f"{found.name} keeps its logs in files of nodes that AWS takes away with its cluster.",
            "Take logs.kind cloudwatch on EKS.",
        )
    files = NodeFiles(Path(cluster.kubeconfig).expanduser(), cluster.context, names.object_name(settings.name))
    selectors = [settings.nodes.placing(group).selector for group in ("system", "engine")]
    return lambda: files.lines(selectors)


def _json(line: Line) -> str:
    return json.dumps(asdict(line))


def _text(line: Line) -> str:
    again = f" (restart {line.restart})" if line.restart not in ("", "0") else ""
    where = f"{line.pod}/{line.container} {line.uid[:_SHORT]}{again}" if line.pod else ""
    return printable(f"{line.moment} {where}: {line.text}")
