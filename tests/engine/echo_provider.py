"""A provider that makes whatever it is asked for, of whatever type: the engine has nothing else to ask in a preview.

Run by the launcher that `launcher` writes, as the plugin of one package.
"""

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, resource_pb2, resource_pb2_grpc

from tests.recording import ROOT


def launcher(directory: Path, package: str) -> Path:
    """Write the program that the engine looks for on PATH; return its path."""
    path = directory / f"pulumi-resource-{package}"
    path.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tests.engine.echo_provider "$@"\n')
    path.chmod(0o755)
    return path


class Echo(provider_pb2_grpc.ResourceProviderServicer):
    """What it makes has its inputs as outputs; a component has no child."""

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True, accept_outputs=True)

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        return plugin_pb2.PluginInfo(version="0.0.1")

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        return provider_pb2.DiffResponse(changes=provider_pb2.DiffResponse.DIFF_NONE)

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, acceptResources=True, acceptOutputs=True
        )

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        return provider_pb2.CheckResponse(inputs=request.news)

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        return provider_pb2.CreateResponse(id="" if request.preview else "made", properties=request.properties)

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()

    def Construct(self, request: Any, context: Any) -> Any:  # noqa: N802
        with grpc.insecure_channel(request.monitorEndpoint) as channel:
            monitor = resource_pb2_grpc.ResourceMonitorStub(channel)
            registered = monitor.RegisterResource(
                resource_pb2.RegisterResourceRequest(
                    type=request.type, name=request.name, parent=request.parent, object=request.inputs
                )
            )
            monitor.RegisterResourceOutputs(
                resource_pb2.RegisterResourceOutputsRequest(urn=registered.urn, outputs=request.inputs)
            )
        return provider_pb2.ConstructResponse(urn=registered.urn, state=request.inputs)

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()


def main() -> None:
    server = grpc.server(ThreadPoolExecutor(8))
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Echo(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    signal.sigwait([signal.SIGINT, signal.SIGTERM])
    server.stop(grace=1).wait()


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    main()
