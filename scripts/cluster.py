"""`splitbed cluster`: the rehearsal's Kubernetes by itself."""

from typing import Annotated

import typer
from rich.console import Console

from experiment.catalogue.allocatable import allocatable
from experiment.catalogue.instances import instance_type
from experiment.errors import SplitbedError
from rehearsal import cluster as clusters
from rehearsal.home import home
from rehearsal.local import CLUSTER, start
from rehearsal.progress import ConsoleProgress
from rehearsal.toolchain import Toolchain

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
    clusters.check_user()  # nobody else can see its processes
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


@app.command()
def kwok(
    instance: Annotated[str, typer.Option("--type", help="An EC2 instance type.")] = "m7g.2xlarge",
    count: Annotated[int, typer.Option(min=1, max=50)] = 1,
    name: Name = CLUSTER,
) -> None:
    """Add nodes of true size that only pretend to run pods; kwok is built for it if need be (2.5 minutes)."""
    machine = instance_type(instance)
    size = allocatable(machine)
    cluster = clusters.find(name)
    if cluster is None:
        raise SplitbedError(f"No cluster {name} runs here.", "Start it with `splitbed cluster up`.")
    progress = ConsoleProgress(Console(stderr=True))
    binary = Toolchain(home(), progress).ensure("kwok")["kwok"]
    nodes = [
        clusters.KwokNode(
            f"kwok-{instance.replace('.', '-')}-{number}",
            cpu=f"{size.cpu_millicores}m",
            memory=f"{size.memory_mib}Mi",
            pods=size.pods,
            labels={"kubernetes.io/arch": machine.architecture},
            instance_type=instance,
        )
        for number in range(count)
    ]
    cluster.add_kwok_nodes(nodes, binary, progress)
    for node in nodes:
        typer.echo(node.name)
