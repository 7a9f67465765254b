"""The double of the `kubernetes` provider: objects on paper, compared as the real provider compares them.

For previews where no cluster can be asked. What a change replaces is written down after pulumi-kubernetes 4's
`provider/pkg/provider/diff.go`, for the kinds that our stacks have. A chart is a component without children.
"""

import hashlib
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc

from rehearsal.aws.changes import at, changed_keys
from rehearsal.aws.plugin import MAX_MESSAGE_BYTES, Plugin
from rehearsal.aws.values import message, plain

CHART = "kubernetes:helm.sh/v4:Chart"

_ALWAYS = ("apiVersion", "kind", "metadata.name", "metadata.namespace")
_VOLUME_SOURCES = ("csi", "hostPath", "local", "nfs")
_FIXED: dict[str, tuple[str, ...]] = {
    "kubernetes:apps/v1:DaemonSet": ("spec.selector",),
    "kubernetes:apps/v1:Deployment": ("spec.selector",),
    "kubernetes:batch/v1:Job": ("spec.completions", "spec.parallelism", "spec.selector", "spec.template"),
    # Immutable unless the provider is told otherwise, and ours say so themselves.
    "kubernetes:core/v1:ConfigMap": ("binaryData", "data"),
    "kubernetes:core/v1:PersistentVolume": tuple(f"spec.{source}" for source in _VOLUME_SOURCES),
    "kubernetes:core/v1:PersistentVolumeClaim": (
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeName",
    ),
    "kubernetes:core/v1:Secret": ("data", "stringData", "type"),
    "kubernetes:core/v1:Service": ("spec.clusterIP",),
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": ("roleRef",),
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": ("roleRef",),
}
"""Inputs of which another value is another object, by type."""


class KubernetesProvider(Plugin):
    """Takes every object, and keeps none: the engine's state is all there is."""

    version = version("pulumi-kubernetes")

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Give an object without a name one that stays."""
        news, olds = plain(request.news), plain(request.olds)
        metadata = dict(news.get("metadata") or {})
        if "name" not in metadata:
            suffix = hashlib.sha256(request.randomSeed + request.urn.encode()).hexdigest()[:8]
            metadata["name"] = at(olds, "metadata.name") or f"{request.urn.rpartition('::')[2]}-{suffix}"
        return proto.CheckResponse(inputs=message(news | {"metadata": metadata}))

    def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Say what changes, and whether that needs another object."""
        type_ = request.urn.split("::")[2].rpartition("$")[2]
        olds, news = plain(request.old_inputs), plain(request.news)
        changed = changed_keys(olds, news)
        replaces = [path for path in (*_ALWAYS, *_FIXED.get(type_, ())) if at(olds, path) != at(news, path)]
        same_place = all(at(olds, path) == at(news, path) for path in _ALWAYS)
        return proto.DiffResponse(
            changes=proto.DiffResponse.DIFF_SOME if changed else proto.DiffResponse.DIFF_NONE,
            diffs=sorted(changed),
            replaces=replaces,
            deleteBeforeReplace=bool(replaces) and same_place,
        )

    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Make an object: what it is asked to be."""
        inputs = plain(request.properties)
        place = [at(inputs, "metadata.namespace"), at(inputs, "metadata.name")]
        return proto.CreateResponse(
            id="" if request.preview else "/".join(part for part in place if part), properties=message(inputs)
        )

    def Update(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Make of an object what it is asked to be."""
        return proto.UpdateResponse(properties=request.news)

    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Find an object as it is in the state."""
        return proto.ReadResponse(id=request.id, properties=request.properties, inputs=request.inputs)

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Forget an object."""
        return empty_pb2.Empty()

    def Construct(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Register a chart by its values alone: to render it takes the chart, which need not be here."""
        if request.type != CHART:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the double of kubernetes does not know {request.type}")
        options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)]
        with grpc.insecure_channel(request.monitorEndpoint, options=options) as channel:
            monitor = resource_pb2_grpc.ResourceMonitorStub(channel)
            made = monitor.RegisterResource(
                resource_pb2.RegisterResourceRequest(
                    type=request.type,
                    name=request.name,
                    parent=request.parent,
                    custom=False,
                    object=request.inputs,
                    dependencies=sorted(_sources(request)),
                    providers=dict(request.providers),
                    acceptSecrets=True,
                    acceptResources=True,
                )
            )
            state = message({"resources": []})
            monitor.RegisterResourceOutputs(resource_pb2.RegisterResourceOutputsRequest(urn=made.urn, outputs=state))
        return proto.ConstructResponse(urn=made.urn, state=state)


def _sources(request: Any) -> Iterator[str]:
    yield from request.dependencies
    found: Mapping[str, Any] = request.inputDependencies
    for one in found.values():
        yield from one.urns
