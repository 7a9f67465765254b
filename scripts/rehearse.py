"""`splitbed rehearse`: stacks through their whole life on this machine."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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

if TYPE_CHECKING:
    from scripts.turns import Turns

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
    campaign: Annotated[
        bool, typer.Option("--campaign", help="Let single and split take turns on the last stack before it goes.")
    ] = False,
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
    turns = _turns(stacks[-1], replaced, progress) if campaign else None
    begun = time.monotonic()
    outcomes: list[Outcome]
    if kubeconfig is None:
        outcomes = on_local_cluster(home(), stacks, progress, replaced, keep=keep, engine=engine, turns=turns)
    else:
        if engine != "standin":
            raise SplitbedError(
                f"--engine {engine} needs a cluster of our own, whose nodes show it to the pods.",
                "Leave out --kubeconfig, or name an image with --set engine.image=REFERENCE.",
            )
        outcomes = on_given_cluster(home(), stacks, progress, kubeconfig, context, replaced, keep=keep, turns=turns)
    if turns is not None:
        lives_s = time.monotonic() - begun - turns.seconds
        progress.step(f"without the campaign it took {lives_s:.1f} s, the campaign {turns.seconds:.1f} s")
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
        said: object = as_json(summaries)
        if turns is not None:
            said = {"stacks": said, "campaign": turns.as_json()}
        typer.echo(json.dumps(said, indent=2))
        return
    Console().print(as_table(summaries))
    if turns is not None:
        turns.print_verdict()


def _turns(stack: str, replaced: Mapping[str, Any], progress: ConsoleProgress) -> "Turns":
    # Imported here: a campaign judges with scipy, and a rehearsal without one need not wait for it.
    from scripts.turns import Turns

    return Turns(stack, replaced, progress)
