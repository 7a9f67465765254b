"""Rehearsals assembled: on a cluster that is started here, or on one that was given."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from experiment import fetching, machines
from experiment.benchmark import Benchmark
from experiment.errors import SplitbedError
from experiment.nodes import Group, GroupName, Nodes
from experiment.settings import Settings
from rehearsal import cluster as clusters
from rehearsal import weightsroom
from rehearsal.images import Image, collector_image, lws_manager_image, pause_image
from rehearsal.leftovers import Listing, diff, mark_command
from rehearsal.life import Outcome, Rehearsal, RehearsalError, Turns
from rehearsal.locks import locked
from rehearsal.logroom import require_room
from rehearsal.observer import Observer
from rehearsal.packages import ensure_packages
from rehearsal.podengine import ENGINES, PodEngine
from rehearsal.progress import Progress
from rehearsal.pulumi_cli import PulumiCli
from rehearsal.target import Target
from rehearsal.toolchain import Toolchain
from stackfiles.atomic import write_atomically
from stackfiles.stackfile import StackFile

CLUSTER = "rehearsal"
_ENGINE_TOOLS = ("pulumi", "pulumi-resource-kubernetes")
CLUSTER_TOOLS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kube-proxy",
    "kubelet",
    "coredns",
    "lws-manager",
    "pause",
)
# Settings that would lead Pulumi and us to different clusters, or to different Jobs.
_DECIDED = ("cluster", "benchmark.run", "benchmark.attempt")


@dataclass(frozen=True)
class Started:
    """A running cluster of our own, the images on its nodes, and the objects it had before any stack."""

    cluster: clusters.Cluster
    lws_manager: Image
    engine: PodEngine
    baseline: frozenset[str]


def cluster_of(engine: str) -> str:
    """Return the name of the cluster that rehearses with this engine: its nodes show what that engine needs."""
    return CLUSTER if engine == "standin" else f"{CLUSTER}-{engine}"


def start(home: Path, name: str, progress: Progress, engine: str = "standin") -> Started:
    """Return the running cluster of this name, started if need be, with the rehearsal's images on its nodes.

    Raises:
        SplitbedError: this machine cannot run one, or something could not be built.
    """
    clusters.check_user()
    ensure_packages(["nodes"], progress)
    clusters.check()
    tools = Toolchain(home, progress).ensure(*CLUSTER_TOOLS)
    pause = pause_image(tools["pause"], home, progress)
    manager = lws_manager_image(tools["lws-manager"], home, progress)
    ready = ENGINES[engine](home, progress)
    cluster = clusters.find(name)
    if cluster is None:
        clusters.down(name, progress)  # what a killed command may have left of it
        progress.step(f"cluster {name}: starting (about half a minute)")
        cluster = clusters.up(clusters.ClusterSpec(name, ready.nodes()), tools, [pause, manager, ready.image], progress)
    else:
        progress.step(f"cluster {name}: it runs already")
        cluster.import_images([manager, ready.image], progress)
    return Started(cluster, manager, ready, _baseline(cluster))


def _baseline(cluster: clusters.Cluster) -> frozenset[str]:
    """The objects of the cluster when it was new; kept with it, so that a later command knows them too."""
    path = cluster.directory / "baseline.json"
    if not path.exists():
        write_atomically(path, json.dumps(sorted(Observer(cluster.kubeconfig).objects())))
    return frozenset(json.loads(path.read_text()))


def on_local_cluster(
    home: Path,
    stacks: Sequence[str],
    progress: Progress,
    settings: Mapping[str, Any],
    *,
    keep: bool,
    engine: str = "standin",
    turns: Turns | None = None,
) -> list[Outcome]:
    """Rehearse the stacks on a cluster of our own; without `keep` it is taken down, and that is proven.

    `turns` are taken by the last stack once it was measured.

    Raises:
        SplitbedError: this machine cannot run a cluster, something could not be built, or the rehearsal failed.
    """

    def live(rehearsal: Rehearsal) -> list[Outcome]:
        made = replace(rehearsal, turns=turns)
        outcomes = [made.stack(stack, last=stack == stacks[-1]) for stack in stacks]
        for outcome in outcomes:
            (outcome.results / "about.txt").write_text("\n".join([*rehearsal.about, ""]))
        return outcomes

    return _locally(home, _tracked(stacks), progress, settings, live, keep=keep, engine=engine)


def campaign_on_local_cluster(
    home: Path,
    stack: str,
    file: StackFile,
    progress: Progress,
    settings: Mapping[str, Any],
    turns: Turns,
    *,
    keep: bool,
    engine: str = "standin",
) -> None:
    """Let the topologies of one stack take turns on a cluster of our own; raises as `on_local_cluster`."""

    def live(rehearsal: Rehearsal) -> list[Outcome]:
        rehearsal.campaign(stack, file, turns)
        return []

    _locally(home, [(stack, file)], progress, settings, live, keep=keep, engine=engine)


def _locally(
    home: Path,
    files: Sequence[tuple[str, StackFile]],
    progress: Progress,
    settings: Mapping[str, Any],
    live: Callable[[Rehearsal], list[Outcome]],
    *,
    keep: bool,
    engine: str,
) -> list[Outcome]:
    for path in settings:
        if path == "benchmark.results" or path.startswith("benchmark.results."):
            raise SplitbedError(
                f"--set {path}: on a cluster of our own, records are written below {home / 'rehearsals'} at once.",
                "Leave it out; with --kubeconfig it decides where that cluster keeps them.",
            )
    checked = _check(files, settings)
    ships = any(found.logs.kind != "none" for found in checked)
    clusters.check_user()
    name = cluster_of(engine)
    with locked(home / "locks" / f"rehearsal-{name}", progress.note):
        clean = clusters.find(name) is None
        if clean:
            clusters.down(name, progress)
        mark_command()
        before = Listing.take()
        toolchain = Toolchain(home, progress)
        tools = toolchain.ensure(*_ENGINE_TOOLS)
        started = start(home, name, progress, engine)
        if any(fetching.kept_at(found.model) == machines.WEIGHTS for found in checked):
            for node in started.cluster.spec.nodes:
                weightsroom.make(started.cluster.layout, node.name)
        shipper = {"logs.image": _collector(toolchain, started.cluster, home, progress)} if ships else {}
        target = Target(
            name="local" if engine == "standin" else f"local-{engine}",
            kubeconfig=started.cluster.kubeconfig,
            context=None,
            settings={
                **started.engine.settings,
                "lws.image": started.lws_manager.reference,
                "lws.chart": str(toolchain.lws_chart()),
                **settings,
                **shipper,  # last: `logs` may be replaced as a whole, and there is no other image
            },
            baseline=started.baseline,
            exclusive=True,
        )
        rehearsal = Rehearsal(
            target=target,
            pulumi=partial(PulumiCli.of, tools),
            home=home,
            progress=progress,
            keep=keep,
            about=started.engine.about,
        )
        outcomes = live(rehearsal)
        if keep:
            progress.step("the cluster stays up; to look around, and to end it:")
            progress.note(f"export KUBECONFIG={started.cluster.kubeconfig}; kubectl get pods --all-namespaces")
            progress.note(f"splitbed cluster status --name {name}; splitbed cluster down --name {name}")
            return outcomes
        progress.step(f"cluster {name}: down")
        clusters.down(name, progress)
        if not clean:
            progress.note(
                "the cluster was there before this command, so what it left cannot be told from what was there"
            )
            return outcomes
        if left := diff(before, Listing.take()):
            raise RehearsalError(
                "The cluster is down, and this is left on the machine:\n" + "\n".join(left),
                "This is a fault in Splitbed; please report it with this list.",
            )
        progress.note("the machine is as it was before")
        return outcomes


def _collector(toolchain: Toolchain, cluster: clusters.Cluster, home: Path, progress: Progress) -> str:
    """Bring the log shipper's image to the nodes, its program built if need be; return the reference."""
    image = collector_image(toolchain.ensure("otelcol")["otelcol"], home, progress)
    cluster.import_images([image], progress)
    return image.reference


def on_given_cluster(
    home: Path,
    stacks: Sequence[str],
    progress: Progress,
    kubeconfig: Path,
    context: str | None,
    settings: Mapping[str, Any],
    *,
    keep: bool,
    turns: Turns | None = None,
) -> list[Outcome]:
    """Rehearse the stacks on a cluster that somebody else runs; nothing but Pulumi is looked for or built.

    Raises:
        SplitbedError: the cluster cannot be reached, lacks labelled nodes or storage, or has a controller of somebody
            else's; the engine image is not named, or the rehearsal failed.
    """
    if "engine.image" not in settings:
        raise SplitbedError(
            "A given cluster must have the engine's image already, and nothing says which it is.",
            "Write it with `splitbed image FILE`, load it (kind load image-archive FILE), "
            "and pass --set engine.image=REFERENCE.",
        )
    # Its nodes' disks are not ours to read: the records come through the log.
    settings = {"benchmark.results": {"kind": "claim"}, **settings}
    checked = _check(_tracked(stacks), settings)
    kubeconfig = kubeconfig.absolute()  # the program runs in a directory of its own
    observer = Observer(kubeconfig, context)
    version = observer.check()
    progress.step(f"given cluster: Kubernetes {version}")
    for stack, found in zip(stacks, checked, strict=True):
        if found.benchmark is not None:
            require_room(stack, found.benchmark)
        _require_nodes(observer, found.nodes)
        _require_storage(observer, found.benchmark)
    _require_no_other_controller(observer, checked)
    name = f"given-{observer.identity()[:8]}"
    with locked(home / "locks" / f"rehearsal-{name}", progress.note):
        tools = Toolchain(home, progress).ensure(*_ENGINE_TOOLS)
        target = Target(
            name=name,
            kubeconfig=kubeconfig,
            context=context,
            settings=settings,
            baseline=frozenset(observer.objects()),
            exclusive=False,
        )
        rehearsal = Rehearsal(
            target=target, pulumi=partial(PulumiCli.of, tools), home=home, progress=progress, keep=keep, turns=turns
        )
        return [rehearsal.stack(stack, last=stack == stacks[-1]) for stack in stacks]


def _tracked(stacks: Sequence[str]) -> list[tuple[str, StackFile]]:
    return [(stack, StackFile.of(stack)) for stack in stacks]


def _check(files: Sequence[tuple[str, StackFile]], settings: Mapping[str, Any]) -> list[Settings]:
    """Refuse a wrong stack before anything is built or started for it; return what the stacks say."""
    for path in settings:
        if any(path == decided or path.startswith(f"{decided}.") for decided in _DECIDED):
            raise SplitbedError(f"--set {path}: a rehearsal decides this itself.", "Leave it out.")
    checked = []
    for stack, file in files:
        found = file.replaced(settings).check(datetime.now(UTC))
        if found.benchmark is None or not found.topology.groups:
            lack = "no benchmark is set" if found.topology.groups else "nothing is served"
            raise SplitbedError(
                f"Stack {stack} measures nothing: {lack}.",
                "Set benchmark and a topology other than none, or bring it up with plain `pulumi up`.",
            )
        if found.cluster.kind != "kubeconfig":
            raise SplitbedError(
                f"Stack {stack}: cluster.kind is {found.cluster.kind}, and a rehearsal has a cluster already.",
                "Bring it up with plain `pulumi up`, or rehearse a stack for a given cluster.",
            )
        checked.append(found)
    return checked


def _require_nodes(observer: Observer, nodes: Nodes) -> None:
    """Refuse a cluster where pods would wait for nodes that nobody has labelled."""
    groups: tuple[tuple[GroupName, Group], ...] = (("system", nodes.system), ("engine", nodes.engine))
    for name, group in groups:
        selector = nodes.placing(name).selector
        there = observer.nodes_labelled(selector)
        if there < group.count:
            labels = " ".join(f"{key}={value}" for key, value in selector.items())
            raise SplitbedError(
                f"nodes.{name}: the stack counts on {group.count} node(s) labelled {labels}; the cluster has {there}.",
                f"Label them with `kubectl label node NODE {labels}`, or choose others with "
                f"--set nodes.{name}.selector='{{KEY: VALUE}}' --set nodes.{name}.count=N.",
            )


def _require_no_other_controller(observer: Observer, checked: Sequence[Settings]) -> None:
    """Refuse a cluster with a controller of somebody else's: Pulumi would apply over it, and destroy it in the end."""
    owner = observer.controller_owner()
    ours = {found.name for found in checked}  # of an earlier command that was killed
    if owner is not None and owner not in ours and any(found.lws.mode == "install" for found in checked):
        raise SplitbedError(
            f"The given cluster has a LeaderWorkerSet controller{f' of experiment {owner}' if owner else ''} already.",
            "Use it with --set lws='{mode: existing}'; it is then neither changed nor removed.",
        )


def _require_storage(observer: Observer, benchmark: Benchmark | None) -> None:
    """Refuse a cluster whose records could not come here, or where nothing provides a volume for them."""
    if benchmark is None:
        return
    if benchmark.results.kind != "claim":
        raise SplitbedError(
            "benchmark.results: a directory of a given cluster's node cannot be read from here.",
            "Leave it out: the records are kept on a claim and come through the benchmark's log.",
        )
    if benchmark.results.storage_class is None and not observer.has_default_storage_class():
        raise SplitbedError(
            "The given cluster has no default storage class, so nothing provides a volume for the records.",
            "Name a class with --set benchmark.results.storage_class=CLASS.",
        )
