"""What was looked up on a person's machine and then stays: digests, versions, revisions.

Nothing here is known from memory: `splitbed pin` asks the registries and AWS, and writes what they said with its date
into a file beside the stacks. A reference or version that a stack file pins itself needs no entry.
"""

from collections.abc import Iterator
from datetime import date
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from experiment import machines, versions
from experiment.benchmark import S3Results
from experiment.cluster import EksCluster
from experiment.engine import Model
from experiment.errors import SplitbedError
from experiment.explain import problems
from experiment.images import REHEARSED, ArchitectureImages
from experiment.lws import InstallLws
from experiment.nodes import InstanceGroup, architecture, gpus
from experiment.settings import Settings
from experiment.strict import Strict

ADDONS_BEFORE_NODES = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
"""EKS add-ons without which a node is not ready, or its first pods have no rights; they outlive the nodes."""

ADDONS_AFTER_NODES = ("coredns", "metrics-server")
"""EKS add-ons that are ready only when a node runs them."""

Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
AddonVersion = Annotated[str, StringConstraints(pattern=r"^v\d+\.\d+\.\d+-eksbuild\.\d+$")]
Release = Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+-\d{8}$")]


class Pins(Strict):
    """The lock file; one that is empty pins nothing."""

    day: date | None = Field(None, description="the day on which they were looked up")
    images: dict[str, Digest] = Field(default_factory=dict, description="digest by image reference")
    revisions: dict[str, Commit] = Field(default_factory=dict, description="commit by model")
    addons: dict[str, dict[str, AddonVersion]] = Field(
        default_factory=dict, description="version by EKS add-on, by version of Kubernetes"
    )
    releases: dict[str, dict[str, Release]] = Field(
        default_factory=dict, description="release of the node image by its type, by version of Kubernetes"
    )

    def addon(self, kubernetes: str, name: str) -> str | None:
        """Return the version of an add-on; none if it was never looked up."""
        return self.addons.get(kubernetes, {}).get(name)

    def release(self, kubernetes: str, ami_type: str) -> str | None:
        """Return the release of a node image; none if it was never looked up."""
        return self.releases.get(kubernetes, {}).get(ami_type)

    def image(self, reference: str) -> str:
        """Return the reference with its digest where that is known."""
        digest = self.images.get(reference)
        return f"{reference}@{digest}" if digest and "@" not in reference else reference


def load(text: str, name: str) -> Pins:
    """Read a lock file.

    Args:
        text: its contents.
        name: how to call it in an error.

    Raises:
        SplitbedError: it is not what `splitbed pin` writes.
    """
    try:
        return Pins.model_validate_json(text)
    except ValidationError as error:
        found = "\n".join(f"  {problem}" for problem in problems(Pins, error))
        raise SplitbedError(f"{name} cannot be used:\n{found}", "Write it anew with `splitbed pin`.") from None


def apply(settings: Settings, pins: Pins) -> Settings:
    """Return the settings with every image and revision that the lock knows, pinned by it.

    Those of a cluster that was given stay as they are: there the lock says nothing, and a rehearsal has its own images.
    """
    if not isinstance(settings.cluster, EksCluster):
        return settings
    image = settings.engine.image
    if isinstance(image, ArchitectureImages):
        pinned = {name: pins.image(one) for name, one in image if one is not None}
        engine = settings.engine.model_copy(update={"image": image.model_copy(update=pinned)})
    else:
        engine = settings.engine.model_copy(update={"image": pins.image(image)})
    lws = settings.lws
    if isinstance(lws, InstallLws):
        lws = lws.model_copy(update={"image": pins.image(lws.image)})
    logs = settings.logs.model_copy(update={"image": pins.image(settings.logs.image)})
    return settings.model_copy(
        update={"engine": engine, "lws": lws, "logs": logs, "model": _revised(settings.model, pins)}
    )


def missing(settings: Settings, pins: Pins) -> list[str]:
    """Name what a cluster of our own would take in whatever version is newest on the day.

    On a cluster that was given this is nothing: its versions are somebody else's, and images by their tags will do.

    Args:
        settings: as `apply` left them.
        pins: what is known.
    """
    if not isinstance(settings.cluster, EksCluster):
        return []
    return sorted(set(_missing(settings, settings.cluster, pins)))


def _missing(settings: Settings, cluster: EksCluster, pins: Pins) -> Iterator[str]:
    for addon in (*ADDONS_BEFORE_NODES, *ADDONS_AFTER_NODES):
        if pins.addon(cluster.version, addon) is None:
            yield f"version of the add-on {addon} for Kubernetes {cluster.version}"
    for group in (settings.nodes.system, settings.nodes.engine):
        known = architecture(group)
        if known is not None and pins.release(cluster.version, machines.ami_type(known, gpus(group))) is None:
            yield f"release of the node image {machines.ami_type(known, gpus(group))} for Kubernetes {cluster.version}"
    for reference in images(settings):
        if "@" not in pins.image(reference):
            yield f"digest of the image {reference}"
    if settings.model.weights.source == "hub" and settings.model.revision is None:
        yield f"revision of the model {settings.model.name}"


def images(settings: Settings) -> Iterator[str]:
    """Return the images that a cluster of our own pulls, as they are referred to here; those of add-ons are AWS's.

    A rehearsal's are pulled from nowhere, and named by their contents.
    """
    yield from (image for image in _images(settings) if not image.startswith(f"{REHEARSED}/"))


def _images(settings: Settings) -> Iterator[str]:
    yield settings.engine_image
    if isinstance(settings.lws, InstallLws):
        yield settings.lws.image
    if settings.benchmark is not None and isinstance(settings.benchmark.results, S3Results):
        yield settings.benchmark.results.image
    if settings.device == "gpu":
        yield versions.DEVICE_PLUGIN_IMAGE
    if isinstance(settings.nodes.engine, InstanceGroup) and settings.nodes.engine.efa:
        yield versions.EFA_PLUGIN_IMAGE
    if settings.observe.dcgm:
        yield versions.DCGM_EXPORTER_IMAGE
    if settings.logs.kind != "none":
        yield settings.logs.image


def _revised(model: Model, pins: Pins) -> Model:
    if model.revision is not None or model.weights.source != "hub":
        return model
    return model.model_copy(update={"revision": pins.revisions.get(model.name)})
