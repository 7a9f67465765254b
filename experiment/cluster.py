"""Where the experiment runs: on a Kubernetes that is there, or on an EKS cluster of its own."""

import ipaddress
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from experiment import versions
from experiment.catalogue.regions import regions
from experiment.cidr import is_nearly_the_world
from experiment.logs import RetentionDays
from experiment.strict import Strict

Region = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,}(-[a-z]+)+-\d{1,2}$", max_length=32)]
Zone = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,}(-[a-z]+)+-\d{1,2}[a-z]$", max_length=33)]
Account = Annotated[str, StringConstraints(pattern=r"^\d{12}$")]
KubernetesVersion = Annotated[str, StringConstraints(pattern=r"^1\.\d{2}$")]
VpcId = Annotated[str, StringConstraints(pattern=r"^vpc-[0-9a-f]{8,17}$")]
SubnetId = Annotated[str, StringConstraints(pattern=r"^subnet-[0-9a-f]{8,17}$")]
PrincipalArn = Annotated[
    str, StringConstraints(pattern=r"^arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+$", max_length=2048)
]
TopicArn = Annotated[str, StringConstraints(pattern=r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}$")]

_LARGEST, _SMALLEST = 16, 20


def _network(text: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(text)
    except ValueError:
        raise PydanticCustomError(
            "cidr",
            "it is no range of IPv4 addresses",
            {"remedy": "Write its first address and its length, as in 203.0.113.0/24."},
        ) from None


def _not_the_world(text: str) -> str:
    if is_nearly_the_world(str(_network(text))):
        raise PydanticCustomError(
            "open_endpoint",
            "that lets (nearly) the whole world at the cluster's API",
            {"remedy": "Name the range you work from, for example your own address with /32, or take kind: private."},
        )
    return text


def _a_vpcs(text: str) -> str:
    network = _network(text)
    if not (_LARGEST <= network.prefixlen <= _SMALLEST and network.is_private):
        raise PydanticCustomError(
            "vpc_cidr",
            f"a network for this is private and between /{_LARGEST} and /{_SMALLEST}",
            {"remedy": "Take for example 10.42.0.0/16."},
        )
    return text


def _zones_remedy(region: str, zone: str) -> str:
    if region not in regions() and zone[:-1] in regions():
        return f"Did you mean region: {zone[:-1]}?"
    return f"Name zones as {region}a."


class KubeconfigCluster(Strict):
    """A Kubernetes cluster that is there already, named by a kubeconfig file."""

    kind: Literal["kubeconfig"] = Field(description="kubeconfig (a cluster that is there) or eks (one of its own)")
    kubeconfig: str = Field(
        min_length=1, description="path of a kubeconfig file; never its contents, which would enter the state"
    )
    context: str | None = Field(None, min_length=1, description="context in that file; its current one if not given")


class PrivateEndpoint(Strict):
    """The cluster's API answers inside its network only."""

    kind: Literal["private"] = Field(description="private or public")


class PublicEndpoint(Strict):
    """The cluster's API answers some ranges of addresses, and inside its network."""

    kind: Literal["public"] = Field(description="private or public")
    cidrs: tuple[Annotated[str, AfterValidator(_not_the_world)], ...] = Field(
        min_length=1, max_length=40, description="ranges of IPv4 addresses that may call, as 203.0.113.0/24"
    )


Endpoint = Annotated[PrivateEndpoint | PublicEndpoint, Field(discriminator="kind")]


class NewNetwork(Strict):
    """A VPC of the experiment's own, with a private subnet in each zone."""

    kind: Literal["new"] = Field(description="new or existing")
    cidr: Annotated[str, AfterValidator(_a_vpcs)] = Field(
        "10.42.0.0/16", description="range of its IPv4 addresses, /16 to /20"
    )
    egress: Literal["nat", "endpoints"] = Field(
        "nat",
        description="how nodes reach what is outside: nat (a gateway to the internet) or endpoints (AWS's own services "
        "only, so image and weights must come from there)",
    )


class ExistingNetwork(Strict):
    """A VPC that is there; nothing in it is changed."""

    kind: Literal["existing"] = Field(description="new or existing")
    vpc: VpcId = Field(description="the VPC, as vpc-0123456789abcdef0")
    subnets: tuple[SubnetId, ...] = Field(
        min_length=2, max_length=16, description="its private subnets, one in each of cluster.zones and in their order"
    )


Network = Annotated[NewNetwork | ExistingNetwork, Field(discriminator="kind")]


class EksCluster(Strict):
    """An EKS cluster, made for this experiment and taken down with it."""

    kind: Literal["eks"] = Field(description="kubeconfig (a cluster that is there) or eks (one of its own)")
    region: Region = Field(description="AWS region, for example us-east-1")
    zones: tuple[Zone, ...] = Field(
        min_length=2,
        max_length=6,
        description="availability zones of the subnets, two or more because EKS asks for two; nodes are in the first "
        "one unless their group is spread",
    )
    version: KubernetesVersion = Field(versions.KUBERNETES_VERSION, description="version of Kubernetes, in quotes")
    account: Account | None = Field(
        None, description="the AWS account it belongs in, in quotes; no other is touched. Not checked if not given"
    )
    endpoint: Endpoint = Field(
        default_factory=lambda: PrivateEndpoint(kind="private"), description="who may call the cluster's API"
    )
    network: Network = Field(default_factory=lambda: NewNetwork(kind="new"), description="its VPC")
    admins: tuple[PrincipalArn, ...] = Field(
        (), max_length=20, description="IAM roles and users that may administer it besides the one that makes it"
    )
    log_retention_days: RetentionDays = Field(30, description="days for which the control plane's logs are kept")
    warn_topic: TopicArn | None = Field(
        None, description="ARN of an SNS topic that is told a day before the end date; nobody is told if not given"
    )

    @model_validator(mode="after")
    def _zones_of_the_region(self) -> Self:
        for zone in self.zones:
            if zone[:-1] != self.region:
                raise PydanticCustomError(
                    "zone_elsewhere",
                    "zone {zone} is not in {region}",
                    {"zone": zone, "region": self.region, "remedy": _zones_remedy(self.region, zone)},
                )
        if len(set(self.zones)) < len(self.zones):
            raise PydanticCustomError(
                "zone_twice", "a zone is named twice", {"remedy": "Name two different zones or more."}
            )
        if isinstance(self.network, ExistingNetwork) and len(self.network.subnets) != len(self.zones):
            raise PydanticCustomError(
                "subnets_and_zones",
                "there are {subnets} subnets and {zones} zones",
                {
                    "subnets": len(self.network.subnets),
                    "zones": len(self.zones),
                    "remedy": "Name one subnet for each zone, in the same order.",
                },
            )
        return self


Cluster = Annotated[KubeconfigCluster | EksCluster, Field(discriminator="kind")]
