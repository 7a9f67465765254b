"""The whole program under a monitor that records what a real engine would be asked for; nothing is made."""

import asyncio
import importlib
import json
import logging
import runpy
import warnings
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf import empty_pb2
from pulumi.runtime import mocks, rpc, set_all_config
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.settings import configure
from pulumi.runtime.stack import run_in_stack

with warnings.catch_warnings():
    # The SDKs say at their import which of their own names are old; that we use one is still said later.
    warnings.simplefilter("ignore", DeprecationWarning)
    import pulumi_eks  # noqa: F401

    for _part in ("autoscaling", "cloudwatch", "ec2", "eks", "iam", "s3", "scheduler", "sqs", "vpc"):
        hasattr(importlib.import_module(f"pulumi_aws.{_part}"), "any")  # read when something of it is asked for

_SAID = logging.getLogger("splitbed.recording")
_SAID.addHandler(logging.NullHandler())  # what a program tells the engine is for whoever listens to this
PROGRAM = Path(__file__).resolve().parent.parent / "__main__.py"


@dataclass(frozen=True)
class Registered:
    """One registration as the engine gets it.

    Attributes:
        sources: by input, URNs of the resources of whose outputs it is made.
        before_create: names of the hooks that run before it is made.
    """

    type: str
    name: str
    parent: str
    custom: bool
    remote: bool
    provider: str
    providers: Mapping[str, str]
    protect: bool
    retained: bool
    deleted_with: str
    dependencies: tuple[str, ...]
    sources: Mapping[str, Sequence[str]]
    replace_on_changes: tuple[str, ...]
    ignore_changes: tuple[str, ...]
    delete_before_replace: bool
    before_create: tuple[str, ...]
    on_error: tuple[str, ...]
    inputs: Mapping[str, Any]
    urn: str

    @property
    def label(self) -> str:
        """Type and name, to tell it by."""
        return f"{self.type} {self.name}"


@dataclass
class Recording:
    """What a program registered, in its order, and its stack's outputs."""

    resources: list[Registered] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)

    def of_type(self, token: str) -> list[Registered]:
        """Return the resources of a type."""
        return [resource for resource in self.resources if resource.type == token]

    def one(self, token: str) -> Registered:
        """Return the one resource of a type; it is an error if there is another, or none."""
        (resource,) = self.of_type(token)
        return resource

    def by_name(self) -> dict[str, Registered]:
        """Return all resources by their names."""
        return {resource.name: resource for resource in self.resources}


class _Echo(mocks.Mocks):
    """A provider that makes what it is asked for, with the outputs that the program reads."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        raise AssertionError(f"the program looks something up: {args.token}")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        return f"{args.name}-id", {**args.inputs, **_outputs(args)}


ARNS = {
    "aws:cloudwatch/logGroup:LogGroup": "arn:aws:logs:us-east-1:123456789012:log-group:{}",
    "aws:iam/role:Role": "arn:aws:iam::123456789012:role/{}",
    "aws:scheduler/scheduleGroup:ScheduleGroup": "arn:aws:scheduler:us-east-1:123456789012:schedule-group/{}",
    "aws:sqs/queue:Queue": "arn:aws:sqs:us-east-1:123456789012:{}",
}
"""Of resources whose ARN the program hands on."""


def _outputs(args: mocks.MockResourceArgs) -> dict[str, Any]:
    match args.typ:
        case "eks:index:Cluster":
            return {"kubeconfigJson": json.dumps({"clusters": []}), "clusterSecurityGroupId": "sg-0123456789abcdef0"}
        case "aws:eks/nodeGroup:NodeGroup":
            return {"resources": [{"autoscalingGroups": [{"name": f"eks-{args.inputs['nodeGroupName']}-0"}]}]}
        case "aws:ec2/launchTemplate:LaunchTemplate":
            return {"latestVersion": 1}
        case "aws:ec2/eip:Eip":
            return {"allocationId": "eipalloc-0123456789abcdef0"}
        case "aws:s3/bucket:Bucket":
            name = f"{args.inputs['bucketPrefix']}0123456789"
            return {"bucket": name, "arn": f"arn:aws:s3:::{name}"}
        case _ if args.typ.startswith("aws:"):
            name = _name(args)
            return {"arn": ARNS.get(args.typ, "arn:aws:other:::{}").format(name), "name": name}
        case _:
            return {}


def _name(args: mocks.MockResourceArgs) -> str:
    """The name as given, or as Pulumi makes one."""
    return str(args.inputs.get("name") or f"{args.name}-0123456")


class Monitor(mocks.MockMonitor):
    """Keeps what the mock monitor drops: parents, providers, options; URNs with all parents' types, as the engine's."""

    def __init__(self) -> None:
        super().__init__(_Echo())
        self.recording = Recording()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Return a resource's URN."""
        qualified = type_
        if parent:
            above = parent.split("::")[2]
            qualified = type_ if above == "pulumi:pulumi:Stack" else f"{above}${type_}"
        return f"urn:pulumi:test::splitbed::{qualified}::{name}"

    def RegisterResource(self, request: resource_pb2.RegisterResourceRequest) -> Any:  # noqa: N802  gRPC's name
        """Take a resource down, and answer as if it had been made."""
        response = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        if request.type != "pulumi:pulumi:Stack":
            inputs = rpc.deserialize_properties(request.object)
            self.recording.resources.append(
                Registered(
                    type=request.type,
                    name=request.name,
                    parent=request.parent,
                    custom=request.custom,
                    remote=request.remote,
                    provider=request.provider,
                    providers=dict(request.providers),
                    protect=request.protect,
                    retained=request.retainOnDelete,
                    deleted_with=request.deletedWith,
                    dependencies=tuple(request.dependencies),
                    sources={name: tuple(one.urns) for name, one in request.propertyDependencies.items()},
                    replace_on_changes=tuple(request.replaceOnChanges),
                    ignore_changes=tuple(request.ignoreChanges),
                    delete_before_replace=request.deleteBeforeReplace,
                    before_create=tuple(request.hooks.before_create),
                    on_error=tuple(request.hooks.on_error),
                    inputs=inputs,
                    urn=response.urn,
                )
            )
        return response

    def RegisterResourceOutputs(self, request: resource_pb2.RegisterResourceOutputsRequest) -> Any:  # noqa: N802
        """Take the stack's outputs down."""
        if "pulumi:pulumi:Stack" in request.urn:
            self.recording.outputs = rpc.deserialize_properties(request.outputs)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]


def run(
    settings: Mapping[str, Any] | str,
    *,
    pins: Path | None = None,
    preview: bool = False,
    config: Mapping[str, str] | None = None,
    encrypted: Collection[str] = (),
) -> Recording:
    """Run `__main__.py` to its end.

    Args:
        settings: the value of `splitbed:experiment`, or its JSON text.
        pins: the lock file, if it is not that beside the stacks.
        preview: whether the program is told that nothing will be made.
        config: further keys of the stack's configuration.
        encrypted: those of them that are encrypted in the stack file.

    Raises:
        pulumi.RunError: the program refused the settings.
    """
    text = settings if isinstance(settings, str) else json.dumps(settings, default=str)
    monitor = Monitor()
    features = set(monitor.GetDeploymentInfo(empty_pb2.Empty()).supportedFeatures)  # type: ignore[no-untyped-call]
    configure(
        mocks.MockSettings(  # type: ignore[no-untyped-call]
            monitor=monitor,
            monitor_features=features,
            engine=mocks.MockEngine(_SAID),
            project="splitbed",
            stack="test",
            dry_run=preview,
            organization=None,
            callbacks=None,
        )
    )
    pinned = {} if pins is None else {"splitbed:pins": str(pins)}
    set_all_config({"splitbed:experiment": text, **pinned, **(config or {})}, list(encrypted))
    # One thread answers all requests, and closes the event loop that the mocks use in it.
    with asyncio.Runner() as runner, ThreadPoolExecutor(1, initializer=_open_loop) as answering:
        runner.get_loop().set_default_executor(answering)
        try:
            runner.run(run_in_stack(_program))
        finally:
            answering.submit(_close_loop).result()
    return monitor.recording


def _open_loop() -> None:
    asyncio.set_event_loop(asyncio.new_event_loop())


def _close_loop() -> None:
    asyncio.get_event_loop_policy().get_event_loop().close()
    asyncio.set_event_loop(None)


def _program() -> None:
    runpy.run_path(str(PROGRAM), run_name="__main__")
