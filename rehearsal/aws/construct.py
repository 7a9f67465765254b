"""The double of the `eks` provider: its component `Cluster`, registered with the engine as the real one does it."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc

from rehearsal.aws import component
from rehearsal.aws.plugin import MAX_MESSAGE_BYTES, Plugin
from rehearsal.aws.values import UNKNOWN, message, plain

Values = Mapping[str, Any]
Sources = Mapping[str, Sequence[str]]


class EksProvider(Plugin):
    """Constructs clusters.

    Attributes:
        profile: value of AWS_PROFILE in the engine's environment, which the real provider is started in.
    """

    version = version("pulumi-eks")

    def __init__(self, region: str) -> None:
        self._region = region
        self.profile: str | None = None

    def Construct(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Register the component and its children, and return its outputs."""
        if request.type != "eks:index:Cluster":
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the double of eks does not know {request.type}")
        inputs = plain(request.inputs)
        try:
            component.check(inputs)
        except ValueError as error:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, str(error))
        options = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)]
        with grpc.insecure_channel(request.monitorEndpoint, options=options) as channel:
            monitor = resource_pb2_grpc.ResourceMonitorStub(channel)
            return _Cluster(monitor, request, inputs, self._region, self.profile).construct()


class _Cluster:
    """One component on its way."""

    def __init__(self, monitor: Any, request: Any, inputs: Values, region: str, profile: str | None) -> None:
        self._monitor, self._request, self._inputs, self._region = monitor, request, inputs, region
        self._profile = None if "providerCredentialOpts" in inputs else profile
        self._aws = dict(request.providers).get("aws", "")
        self._of_inputs = {name: list(one.urns) for name, one in request.inputDependencies.items()}

    def construct(self) -> Any:
        request, name = self._request, self._request.name
        self._urn = self._component(
            request.type,
            name,
            request.parent,
            sorted({*request.dependencies, *(urn for urns in self._of_inputs.values() for urn in urns)}),
        )
        role_urn, role_arn, attachment = self._role()
        plane = component.control_plane(name, self._inputs, role_arn)
        sources = {
            key: self._of_inputs.get(source, [])
            for key, source in (("name", "name"), ("version", "version"), ("vpcConfig", "privateSubnetIds"))
        } | {"roleArn": [role_urn]}
        made = self._custom(
            "aws:eks/cluster:Cluster",
            f"{name}-eksCluster",
            self._urn,
            plane,
            sources,
            more=[role_urn, attachment],
            ignore=component.IGNORED_CHANGES,
        )
        outputs = plain(made.object)
        cluster = outputs.get("name", UNKNOWN)
        self._kubernetes(made.urn, outputs)
        self._entries(made.urn, cluster)
        config = self._kubeconfig(outputs, None)
        group = (outputs.get("vpcConfig") or {}).get("clusterSecurityGroupId", UNKNOWN)
        found = {
            "kubeconfig": config,
            "kubeconfigJson": config if config == UNKNOWN else json.dumps(config, separators=(",", ":")),
            "clusterSecurityGroupId": group,
            "nodeSecurityGroupId": group,
        }
        self._monitor.RegisterResourceOutputs(
            resource_pb2.RegisterResourceOutputsRequest(urn=self._urn, outputs=message(found))
        )
        depends = {key: proto.ConstructResponse.PropertyDependencies(urns=[made.urn]) for key in found}
        return proto.ConstructResponse(urn=self._urn, state=message(found), stateDependencies=depends)

    def _role(self) -> tuple[str, str, str]:
        name = f"{self._request.name}-eksRole"
        above = self._component("eks:index:ServiceRole", name, self._urn, [])
        tags = {"tags": self._of_inputs.get("tags", [])}
        role = self._custom("aws:iam/role:Role", f"{name}-role", above, component.role(self._inputs), tags)
        outputs = plain(role.object)
        attachment = self._custom(
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            f"{name}-{component.attachment_suffix()}",
            above,
            {"policyArn": f"arn:aws:iam::aws:policy/{component.POLICY}", "role": outputs.get("name", UNKNOWN)},
            {"role": [role.urn]},
        )
        self._monitor.RegisterResourceOutputs(
            resource_pb2.RegisterResourceOutputsRequest(urn=above, outputs=message({}))
        )
        return role.urn, outputs.get("arn", UNKNOWN), attachment.urn

    def _kubernetes(self, plane: str, outputs: Values) -> None:
        config = self._kubeconfig(outputs, self._profile)
        text = config if config == UNKNOWN else json.dumps(config, separators=(",", ":"))
        self._custom(
            "pulumi:providers:kubernetes",
            f"{self._request.name}-eks-k8s",
            self._urn,
            {"kubeconfig": text},
            {"kubeconfig": [plane]},
            version_=version("pulumi-kubernetes"),
        )

    def _kubeconfig(self, outputs: Values, profile: str | None) -> Any:
        endpoint, authority = outputs.get("endpoint", UNKNOWN), outputs.get("certificateAuthority", UNKNOWN)
        if UNKNOWN in (endpoint, authority):
            return UNKNOWN
        return component.kubeconfig(outputs["name"], endpoint, authority["data"], self._region, profile)

    def _entries(self, plane: str, cluster: str) -> None:
        for entry in component.entries(self._inputs, cluster):
            name = f"{self._request.name}-{entry.suffix}"
            made = self._custom(
                "aws:eks/accessEntry:AccessEntry", name, self._urn, entry.inputs, {"clusterName": [plane]}, more=[plane]
            )
            for suffix, policy in entry.policies.items():
                self._custom(
                    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
                    f"{name}-{suffix}",
                    made.urn,
                    policy,
                    {"clusterName": [plane]},
                    more=[made.urn],
                )

    def _component(self, type_: str, name: str, parent: str, dependencies: Sequence[str]) -> str:
        made = self._monitor.RegisterResource(
            resource_pb2.RegisterResourceRequest(
                type=type_,
                name=name,
                parent=parent,
                custom=False,
                dependencies=dependencies,
                providers=dict(self._request.providers),
                acceptSecrets=True,
                acceptResources=True,
            )
        )
        return str(made.urn)

    def _custom(
        self,
        type_: str,
        name: str,
        parent: str,
        inputs: Values,
        sources: Sources,
        *,
        more: Sequence[str] = (),
        ignore: Sequence[str] = (),
        version_: str = "",
    ) -> Any:
        by_property = {key: list(sources.get(key, [])) for key in inputs}
        urns = sorted({*more, *(urn for one in by_property.values() for urn in one)})
        return self._monitor.RegisterResource(
            resource_pb2.RegisterResourceRequest(
                type=type_,
                name=name,
                parent=parent,
                custom=True,
                object=message(inputs),
                dependencies=urns,
                propertyDependencies={
                    key: resource_pb2.RegisterResourceRequest.PropertyDependencies(urns=one)
                    for key, one in by_property.items()
                },
                provider=self._aws if type_.startswith("aws:") else "",
                version=version_,
                ignoreChanges=ignore,
                acceptSecrets=True,
                acceptResources=True,
                supportsPartialValues=True,
            )
        )
