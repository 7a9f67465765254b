"""`splitbed cluster`: the rehearsal's Kubernetes by itself."""

from typing import Annotated

import typer
from rich.console import Console

from rehearsal import cluster as clusters
from rehearsal.home import home
from rehearsal.local import CLUSTER, start
from rehearsal.progress import ConsoleProgress

app = typer.Typer(help="A real Kubernetes on this machine, in namespaces of its own.", no_args_is_help=True)

Name = Annotated[str, typer.Option("--name", help="Clusters of different names run side by side.")]


@app.command()
def up(name: Name = CLUSTER) -> None:
    """Start a cluster of three nodes, or find the one that runs (about half a minute once built)."""
    cluster = start(home(), name, ConsoleProgress(Console(stderr=True))).cluster
    typer.echo(f"export KUBECONFIG={cluster.kubeconfig}")


@app.command()
def status(name: Name = CLUSTER) -> None:
    """Say whether the cluster runs, and what its parts are."""
    cluster = clusters.find(name)
    if cluster is None:
        typer.echo(f"No cluster {name} runs here.")
        raise typer.Exit(1)
    for part, pid in sorted(cluster.pids().items()):
        typer.echo(f"{pid:>8}  {part}")
    typer.echo(f"export KUBECONFIG={cluster.kubeconfig}")


@app.command()
def down(name: Name = CLUSTER) -> None:
    """Take a cluster down, whatever is left of it."""
    clusters.down(name, ConsoleProgress(Console(stderr=True)))
