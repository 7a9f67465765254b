"""The doubles together: an account in one region, whose parts a test or a rehearsal can reach into."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from moto.backends import get_backend
from moto.core.base_backend import BackendDict
from moto.core.model_instances import reset_model_data

from rehearsal.aws import bucketpolicy, managed
from rehearsal.aws.construct import EksProvider
from rehearsal.aws.enforcer import Clock, Enforcer
from rehearsal.aws.estate import Estate
from rehearsal.aws.front import Front, Serving
from rehearsal.aws.kubernetes import Kubernetes
from rehearsal.aws.pace import Pace
from rehearsal.aws.parts import Parts
from rehearsal.aws.plugin import Server
from rehearsal.aws.podidentity import PodIdentity
from rehearsal.aws.provider import AwsProvider
from rehearsal.aws.requests import ACCOUNT
from rehearsal.aws.services import CREDENTIALS, Services

BIN = Path(__file__).parent / "bin"
"""Where the double of the `aws` program is, which goes on PATH."""


@dataclass(frozen=True)
class World:
    """An account.

    Attributes:
        address: of all services, as AWS_ENDPOINT_URL has it.
        front: what answers there.
        services: to look around by, and to let requests fail.
        estate: what AWS does around clusters.
        parts: of clusters, which moto does not play.
        identity: of pods, and what they may do with it.
        enforcer: schedules, and the clock by which they run.
        aws: the provider, with the calls that it got.
        eks: the component provider.
        providers: for the engine, as PULUMI_DEBUG_PROVIDERS has them.
    """

    address: str
    front: Front
    services: Services
    estate: Estate
    parts: Parts
    identity: PodIdentity
    enforcer: Enforcer
    aws: AwsProvider
    eks: EksProvider
    providers: str

    def environment(self) -> dict[str, str]:
        """Return what commands and programs need to be in this world."""
        return {
            **CREDENTIALS,
            "AWS_ENDPOINT_URL": self.address,
            "AWS_REGION": self.services.region,
            "AWS_DEFAULT_REGION": self.services.region,
            "AWS_EC2_METADATA_DISABLED": "true",
            "PULUMI_DEBUG_PROVIDERS": self.providers,
        }


@contextmanager
def world(kubernetes: Kubernetes, region: str = "us-east-1", pace: Pace = Pace()) -> Iterator[World]:  # noqa: B008
    """Let there be an empty account until the end of the block; one at a time in a process, as moto has one only.

    Args:
        kubernetes: what is behind its clusters.
        region: where all of it is.
        pace: how fast its time passes.
    """
    BackendDict.reset()
    reset_model_data()
    managed.load()
    with ExitStack() as stack:
        stack.enter_context(bucketpolicy.over_tls())
        parts = Parts(region, lambda: set(get_backend("eks")[ACCOUNT][region].clusters))
        estates: list[Estate] = []
        identities: list[PodIdentity] = []
        front = Front(
            lambda where: parts if where == region else Parts(where, set),
            lambda *told: estates[0].done(*told),
            lambda: identities[0],
            lambda: services,
        )
        serving = stack.enter_context(Serving(front))
        services = Services(serving.address, region)
        identities.append(PodIdentity(services, parts, kubernetes))
        stack.enter_context(kubernetes.opened(front))
        estate = Estate(services, parts, kubernetes)
        estates.append(estate)
        aws, eks = AwsProvider(services, pace), EksProvider(region)
        servers = [stack.enter_context(Server(one)) for one in (aws, eks)]
        try:
            yield World(
                address=serving.address,
                front=front,
                services=services,
                estate=estate,
                parts=parts,
                identity=identities[0],
                enforcer=Enforcer(services, Clock()),
                aws=aws,
                eks=eks,
                providers=f"aws:{servers[0].port},eks:{servers[1].port}",
            )
        finally:
            for cluster in sorted(parts.clusters()):
                kubernetes.down(cluster)
