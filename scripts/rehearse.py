"""`splitbed rehearse`: stacks through their whole life on this machine."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from experiment.errors import SplitbedError
from rehearsal.home import home
from rehearsal.life import Outcome
from rehearsal.local import on_given_cluster, on_local_cluster
from rehearsal.progress import ConsoleProgress
from report.summary import read
from report.table import as_json, as_table
from scripts.replacements import parsed

STACKS = ("rehearsal-split", "rehearsal-single")


def rehearse(
    stack: Annotated[
        list[str] | None,
        typer.Option(help="A stack of stacks/ to rehearse; may be given again. Default: split, then single."),
    ] = None,
    engine: Annotated[
        Literal["standin", "vllm"],
        typer.Option(help="What the pods run; vllm is installed if need be: 6.4 GiB, about 4 minutes."),
    ] = "standin",
    keep: Annotated[bool, typer.Option("--keep", help="Leave the last stack and the cluster up.")] = False,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(help="Use this cluster (kind, k3d, ...) instead of building one.", exists=True),
    ] = None,
    context: Annotated[str | None, typer.Option(help="Context of the kubeconfig.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Replace a setting, as in --set topology.kind=single."),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Bring stacks up on a real Kubernetes on this machine, measure, destroy, and prove that nothing is left."""
    progress = ConsoleProgress(Console(stderr=True))
    stacks = tuple(stack or STACKS)
    replaced = parsed(settings or [])
    outcomes: list[Outcome]
    if kubeconfig is None:
        outcomes = on_local_cluster(home(), stacks, progress, replaced, keep=keep, engine=engine)
    else:
        if engine != "standin":
            raise SplitbedError(
                f"--engine {engine} needs a cluster of our own, whose nodes show it to the pods.",
                "Leave out --kubeconfig, or name an image with --set engine.image=REFERENCE.",
            )
        outcomes = on_given_cluster(home(), stacks, progress, kubeconfig, context, replaced, keep=keep)
    summaries = [
        read(
            outcome.results,
            label=outcome.topology,
            nodes=[f"{p.role} {p.pod} on {p.node}" for p in outcome.places],
            about=outcome.about,
        )
        for outcome in outcomes
    ]
    if json_output:
        typer.echo(json.dumps(as_json(summaries), indent=2))
    else:
        Console().print(as_table(summaries))
