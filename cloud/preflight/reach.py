"""Whether images, the controller's chart and the model are to be had."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial

from cloud import hub, registry
from cloud.preflight.check import Check, checked
from cloud.web import Get
from experiment import names, pins, token
from experiment.cluster import EksCluster
from experiment.lws import InstallLws
from experiment.nodes import Architecture, architecture
from experiment.pins import Pins
from experiment.settings import Settings
from experiment.token import ConfiguredToken

_OCI = "oci://"


def images(settings: Settings, known: Pins, get: Get) -> Iterator[Check]:
    """Check that every image is there, for the nodes' architecture as far as its registry says."""
    groups = (settings.nodes.system, settings.nodes.engine)
    wanted = {found for group in groups if (found := architecture(group)) is not None}
    for reference in pins.images(settings):
        yield from checked(reference, partial(_image, known.image(reference), wanted, get))
    lws = settings.lws
    if isinstance(lws, InstallLws) and lws.chart.startswith(_OCI):
        chart = f"{lws.chart.removeprefix(_OCI)}:{lws.version}"
        yield from checked(f"chart {chart}", partial(_chart, chart, get))


def model(settings: Settings, get: Get, environment: Mapping[str, str]) -> Iterator[Check]:
    """Check that the model's files may be read by this machine's token; the token itself is never shown.

    The pods have theirs from `model.token_secret`; whether that one is as good, only they find out.
    """
    if settings.model.weights.source != "hub":
        return
    name, address, bearer = settings.model.name, hub.address(environment), hub.token(environment)
    found = hub.look_up(name, get, address, bearer)
    why = hub.readable(name, settings.model.revision or found.revision, get, address, bearer)
    said = f"{name} at {(settings.model.revision or found.revision)[:12]} can be read"
    yield Check(
        "model",
        ok=why is None,
        said=f"{name}: {why}" if why else said + (" by this machine's token" if bearer else " by anybody"),
        remedy=f"Accept its licence at {address}/{name}, and set HF_TOKEN to a token of who did."
        if found.gated
        else "Set HF_TOKEN to a token that may read it, or mend model.revision.",
    )
    if found.gated:
        yield Check(
            "model.token_secret",
            ok=settings.model.token_secret is not None,
            said=f"pods have their token from {_kept(settings, settings.model.token_secret)}"
            if settings.model.token_secret
            else f"{name} is given only with a token, and the pods have none",
            remedy="Name what holds one: a Kubernetes Secret, or a secret of Secrets Manager.",
        )


def _kept(settings: Settings, secret: str | ConfiguredToken) -> str:
    """Say where the token is; a namespace of a new cluster is there only when `up` has made it."""
    if not isinstance(settings.cluster, EksCluster) or token.is_arn(secret) or isinstance(secret, ConfiguredToken):
        return token.said(secret)
    namespace = names.object_name(settings.name)
    return f"{token.said(secret)}, to be put into namespace {namespace} when `up` has made that and waits for it"


def _image(reference: str, wanted: AbstractSet[Architecture], get: Get) -> Iterator[Check]:
    found = registry.resolve(reference, get)
    lacking = sorted(wanted - found.architectures) if found.architectures else []
    made_for = ", ".join(sorted(found.architectures)) or "an architecture that only its configuration names"
    yield Check(
        reference.partition("@")[0],
        ok=not lacking,
        said=f"made for {made_for}, not for {', '.join(lacking)}" if lacking else f"there, for {made_for}",
        remedy="Name an image for that architecture (engine.image).",
    )


def _chart(chart: str, get: Get) -> Iterator[Check]:
    yield Check(f"chart {chart}", ok=True, said=f"there, {registry.resolve(chart, get).digest[:19]}")
