"""The double of pulumi-eks's component, as an engine gets to hear from it."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import provider_pb2_grpc, resource_pb2, resource_pb2_grpc

from rehearsal.aws.construct import EksProvider
from rehearsal.aws.plugin import Server
from rehearsal.aws.values import UNKNOWN, message, plain

SEEN = json.loads((Path(__file__).parent / "eks-registrations.json").read_text())
"""What the real component registered on the engine, of the parts that we leave in."""

SUBNET = "urn:pulumi:test::splitbed::aws:ec2/subnet:Subnet::s0"
INPUTS = {
    "name": "exp",
    "version": "1.34",
    "vpcId": "vpc-1",
    "privateSubnetIds": ["subnet-1"],
    "authenticationMode": "API",
    "enabledClusterLogTypes": ["api"],
    "bootstrapSelfManagedAddons": True,
    "skipDefaultNodeGroup": True,
    "skipDefaultSecurityGroups": True,
    "createOidcProvider": False,
    "useDefaultVpcCni": True,
    "kubeProxyAddonOptions": {"enabled": False},
    "corednsAddonOptions": {"enabled": False},
    "tags": {"end-date": "2026-12-05", "experiment": "x"},
    "accessEntries": {
        "ops": {
            "principalArn": "arn:aws:iam::123456789012:role/ops",
            "accessPolicies": {"admin": {"policyArn": "arn:p", "accessScope": {"type": "cluster"}}},
        }
    },
}


class Monitor(resource_pb2_grpc.ResourceMonitorServicer):
    """An engine's ear: everything comes to be at once, or is not known in a preview."""

    def __init__(self) -> None:
        self.known = True
        self.registered: list[Any] = []
        self.outputs: dict[str, Any] = {}

    def RegisterResource(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.registered.append(request)
        given = plain(request.object)
        made = {
            "arn": f"arn:{request.name}",
            "name": given.get("name", f"{request.name}-1"),
            "endpoint": "https://127.0.0.1:6443",
            "certificateAuthority": {"data": "Q0E="},
            "vpcConfig": {"clusterSecurityGroupId": "sg-1"},
        }
        outputs = given | (made if self.known else dict.fromkeys(made, UNKNOWN) | {"vpcConfig": {}})
        urn = f"{request.parent}|{request.type} {request.name}"
        return resource_pb2.RegisterResourceResponse(urn=urn, id=request.name, object=message(outputs))

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.outputs[request.urn] = plain(request.outputs)
        return empty_pb2.Empty()


@pytest.fixture
def monitor() -> Monitor:
    return Monitor()


@pytest.fixture
def eks() -> EksProvider:
    return EksProvider("us-east-1")


@pytest.fixture
def constructed(monitor: Monitor, eks: EksProvider) -> Iterator[Any]:
    server = grpc.server(ThreadPoolExecutor(4))
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(monitor, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with Server(eks) as provider, grpc.insecure_channel(f"127.0.0.1:{provider.port}") as channel:
        stub = provider_pb2_grpc.ResourceProviderStub(channel)

        def construct(**changes: Any) -> Any:
            request = proto.ConstructRequest(
                type="eks:index:Cluster",
                name="c",
                parent="stack",
                monitorEndpoint=f"127.0.0.1:{port}",
                inputs=message({**INPUTS, **changes}),
                inputDependencies={"privateSubnetIds": proto.ConstructRequest.PropertyDependencies(urns=[SUBNET])},
                providers={"aws": "provider::id"},
                dependencies=["log"],
            )
            return stub.Construct(request)

        yield construct
    server.stop(grace=None).wait()


def test_it_registers_what_the_real_component_was_seen_to(constructed: Any, monitor: Monitor) -> None:
    constructed()
    found = {(one.type, one.name): one for one in monitor.registered}
    for seen in SEEN:
        one = found.pop((seen["type"], seen["name"]))
        assert one.parent.rpartition("|")[2] == seen["parent"]
        assert one.custom is not seen["component"]
        assert one.provider == ("provider::id" if seen["type"].startswith("aws:") else "")
        assert {urn.rpartition("|")[2] for urn in one.dependencies} == set(seen["dependencies"])
        assert {key: plain(one.object).get(key) for key in seen["inputs"]} == seen["inputs"]
    assert {type_ for type_, _ in found} == {
        "eks:index:Cluster",
        "pulumi:providers:kubernetes",
        "aws:eks/accessEntry:AccessEntry",
        "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    }


def test_its_kubeconfig_names_the_cluster_and_nobody(constructed: Any) -> None:
    made = constructed()
    config = json.loads(plain(made.state)["kubeconfigJson"])
    assert config["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"
    assert "--profile" not in config["users"][0]["user"]["exec"]["args"]
    assert list(made.stateDependencies["kubeconfigJson"].urns) == [
        "stack|eks:index:Cluster c|aws:eks/cluster:Cluster c-eksCluster"
    ]


@pytest.mark.parametrize(("given", "named"), [({}, True), ({"providerCredentialOpts": {}}, False)])
def test_its_own_provider_names_the_profile_unless_told_otherwise(
    constructed: Any, monitor: Monitor, eks: EksProvider, given: Mapping[str, Any], named: bool
) -> None:
    eks.profile = "mine"
    constructed(**given)
    (provider,) = [one for one in monitor.registered if one.type == "pulumi:providers:kubernetes"]
    assert ("mine" in plain(provider.object)["kubeconfig"]) == named


def test_in_a_preview_nothing_of_it_is_known(constructed: Any, monitor: Monitor) -> None:
    monitor.known = False
    made = plain(constructed().state)
    assert (made["kubeconfigJson"], made["clusterSecurityGroupId"]) == (UNKNOWN, UNKNOWN)


@pytest.mark.parametrize("more", [{"fargate": True}, {"useDefaultVpcCni": False}, {"corednsAddonOptions": {}}])
def test_arguments_of_which_it_knows_nothing_are_refused(constructed: Any, more: Mapping[str, Any]) -> None:
    with pytest.raises(grpc.RpcError, match="does not know"):
        constructed(**more)
