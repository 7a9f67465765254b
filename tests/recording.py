"""The whole program under a monitor that records what a real engine would be asked for."""

import asyncio
import json
import runpy
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from google.protobuf import empty_pb2
from pulumi.runtime import mocks, rpc, set_all_config
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.settings import configure
from pulumi.runtime.stack import run_in_stack

ROOT = Path(__file__).resolve().parent.parent
STACKS = tuple(sorted(path.stem.removeprefix("Pulumi.") for path in (ROOT / "stacks").glob("Pulumi.*.yaml")))


@dataclass(frozen=True)
class Registered:
    """One registration as the engine gets it."""

    type: str
    name: str
    parent: str
    custom: bool
    provider: str
    protect: bool
    retained: bool
    dependencies: tuple[str, ...]
    replace_on_changes: tuple[str, ...]
    ignore_changes: tuple[str, ...]
    delete_before_replace: bool
    before_create: tuple[str, ...]
    inputs: Mapping[str, Any]
    urn: str

    @property
    def label(self) -> str:
        return f"{self.type} {self.name}"


@dataclass
class Recording:
    """What a program registered, in its order, and its stack's outputs."""

    resources: list[Registered] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)

    def of_type(self, token: str) -> list[Registered]:
        return [resource for resource in self.resources if resource.type == token]

    def one(self, token: str) -> Registered:
        (resource,) = self.of_type(token)
        return resource

    def by_name(self) -> dict[str, Registered]:
        return {resource.name: resource for resource in self.resources}


class _Echo(mocks.Mocks):
    """A provider that makes what it is asked for."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        raise AssertionError(f"the program looks something up: {args.token}")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        return f"{args.name}-id", dict(args.inputs)


class Monitor(mocks.MockMonitor):
    """Keeps what the mock monitor drops: parents, providers, options; URNs with all parents' types, as the engine's."""

    def __init__(self) -> None:
        super().__init__(_Echo())
        self.recording = Recording()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        qualified = type_
        if parent:
            above = parent.split("::")[2]
            qualified = type_ if above == "pulumi:pulumi:Stack" else f"{above}${type_}"
        return f"urn:pulumi:test::splitbed::{qualified}::{name}"

    def RegisterResource(self, request: resource_pb2.RegisterResourceRequest) -> Any:  # noqa: N802  gRPC's name
        response = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        if request.type != "pulumi:pulumi:Stack":
            inputs = self.resources[response.urn].state
            self.recording.resources.append(
                Registered(
                    type=request.type,
                    name=request.name,
                    parent=request.parent,
                    custom=request.custom,
                    provider=request.provider or dict(request.providers).get("kubernetes", ""),
                    protect=request.protect,
                    retained=request.retainOnDelete,
                    dependencies=tuple(request.dependencies),
                    replace_on_changes=tuple(request.replaceOnChanges),
                    ignore_changes=tuple(request.ignoreChanges),
                    delete_before_replace=request.deleteBeforeReplace,
                    before_create=tuple(request.hooks.before_create),
                    inputs=inputs,
                    urn=response.urn,
                )
            )
        return response

    def RegisterResourceOutputs(self, request: resource_pb2.RegisterResourceOutputsRequest) -> Any:  # noqa: N802
        if "pulumi:pulumi:Stack" in request.urn:
            self.recording.outputs = rpc.deserialize_properties(request.outputs)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]


def stack_settings(stack: str) -> dict[str, Any]:
    """Return the settings in a tracked stack file, as data of our own, with a kubeconfig or an end date that is there."""
    document = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())
    settings: dict[str, Any] = document["config"]["splitbed:experiment"]
    if settings["cluster"]["kind"] == "kubeconfig":
        settings["cluster"] = {**settings["cluster"], "kubeconfig": str(ROOT / "tests" / "data" / "kubeconfig.yaml")}
    else:
        settings["end_date"] = "2200-01-01T00:00:00Z"
    return settings


def run(settings: Mapping[str, Any] | str) -> Recording:
    """Run `__main__.py` to its end.

    Args:
        settings: the value of `splitbed:experiment`, or its JSON text.

    Raises:
        pulumi.RunError: the program refused the settings.
    """
    text = settings if isinstance(settings, str) else json.dumps(settings)
    monitor = Monitor()
    features = set(monitor.GetDeploymentInfo(empty_pb2.Empty()).supportedFeatures)  # type: ignore[no-untyped-call]
    configure(
        mocks.MockSettings(  # type: ignore[no-untyped-call]
            monitor=monitor,
            monitor_features=features,
            engine=mocks.MockEngine(None),
            project="splitbed",
            stack="test",
            dry_run=False,
            organization=None,
            callbacks=None,
        )
    )
    set_all_config({"splitbed:experiment": text})
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
    runpy.run_path(str(ROOT / "__main__.py"), run_name="__main__")
