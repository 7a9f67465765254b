"""What every provider answers the engine, whatever it provides, and the server that it does so by."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from rehearsal.aws.values import plain

MAX_MESSAGE_BYTES = 400 * 1024 * 1024  # the engine's own limit
_THREADS = 64


class Plugin(provider_pb2_grpc.ResourceProviderServicer):
    """A provider that the engine attaches to; the methods are named by the protocol."""

    version = ""

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Tell the version, which the SDK's must be."""
        return plugin_pb2.PluginInfo(version=self.version)

    def Attach(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Take note that an engine is there."""
        return empty_pb2.Empty()

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Say what it understands."""
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True, accept_outputs=False)

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Take the configuration as it is."""
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Say which parts of the configuration changed."""
        olds, news = plain(request.olds), plain(request.news)
        changed = sorted(key for key in {*olds, *news} if olds.get(key) != news.get(key))
        return provider_pb2.DiffResponse(changes=_changes(changed), diffs=changed)

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Take the configuration."""
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True, acceptResources=True)

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Let what runs come to its end: nothing here takes long."""
        return empty_pb2.Empty()


def _changes(changed: list[str]) -> Any:
    return provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE


class Server:
    """A plugin on a loopback port, for as long as the block lasts."""

    def __init__(self, plugin: Plugin) -> None:
        self._server = grpc.server(
            ThreadPoolExecutor(_THREADS),
            options=[
                ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
                ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ],
        )
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(plugin, self._server)
        self.port: int = self._server.add_insecure_port("127.0.0.1:0")

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(grace=None).wait()
