"""Containers of the benchmark's pod that bring its records from and to a bucket, by the official AWS CLI."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import pulumi
from pulumi_kubernetes.core.v1 import ContainerArgs, EnvVarArgs, ResourceRequirementsArgs, VolumeMountArgs

from components import security
from components.records import MOUNT, VOLUME
from experiment import upload


@dataclass(frozen=True, kw_only=True)
class CarrierArgs:
    """From where to where."""

    image: str
    region: str
    bucket: pulumi.Input[str]
    prefix: str
    run: str
    """The directory of the run below the volume."""


def containers(args: CarrierArgs) -> Sequence[ContainerArgs]:
    """Return the init containers: one fetches and ends; the other, a sidecar, carries until the client has ended."""
    place = pulumi.Output.concat("s3://", args.bucket, f"/{args.prefix}")
    directory = f"{MOUNT}/{args.run}"
    carried: list[pulumi.Input[str]] = [
        directory,
        place,
        str(upload.PERIOD_S),
        str(upload.GRACE_S - 2 * upload.PERIOD_S),
    ]
    return [
        _container("fetch", args, "fetch.sh", [directory, place]),
        _container("carry", args, "carry.sh", carried, restart_policy="Always"),
    ]


def _container(
    name: str,
    args: CarrierArgs,
    script: str,
    given: Sequence[pulumi.Input[str]],
    restart_policy: str | None = None,
) -> ContainerArgs:
    quantities = upload.RESOURCES.quantities()
    text = files("components.pod").joinpath(script).read_text()
    return ContainerArgs(
        name=name,
        image=args.image,
        image_pull_policy="IfNotPresent",
        command=["/bin/sh", "-c", text, name],
        args=list(given),
        restart_policy=restart_policy,
        env=[
            EnvVarArgs(name="AWS_REGION", value=args.region),
            EnvVarArgs(name="AWS_EC2_METADATA_DISABLED", value="true"),  # never the node's own rights
            EnvVarArgs(name="HOME", value="/tmp"),  # noqa: S108  the pod's own
        ],
        resources=ResourceRequirementsArgs(requests=quantities, limits=quantities),
        security_context=security.container(),
        termination_message_policy="FallbackToLogsOnError",
        volume_mounts=[security.scratch()[1], VolumeMountArgs(name=VOLUME, mount_path=MOUNT)],
    )
