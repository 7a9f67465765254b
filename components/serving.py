"""The model, served: a LeaderWorkerSet for every topology, and a Service before its leaders."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import (
    ClientIPConfigArgs,
    ConfigMap,
    Service,
    ServiceAccount,
    ServicePortArgs,
    ServiceSpecArgs,
    SessionAffinityConfigArgs,
)
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import engine_pods, labels
from components.engine_pods import EnginePodsArgs, template
from components.weights import FetchedWeights
from experiment import fetching, names
from experiment.arguments import HTTP_PORT
from experiment.engine import Engine, Model
from experiment.lws import RestartPolicy
from experiment.nodes import Placing
from experiment.service import Service as ServiceSettings
from experiment.topology import Topology

ACCOUNT = "engine"
"""The service account of its pods."""

# Above the pods' own budget: pulling the image, and groups that are created anew once or twice.
_SLACK_S = 900


@dataclass(frozen=True, kw_only=True)
class ServingArgs:
    """What is served, by what, where; all of it decides the shape and is plain."""

    experiment: str
    namespace: pulumi.Input[str]
    model: Model
    engine: Engine
    image: str
    gpus: int
    """GPUs of each pod."""
    efa: int
    """Interfaces of the Elastic Fabric Adapter of each pod."""
    service: ServiceSettings
    restart_policy: RestartPolicy
    topology: Topology
    nodes: Placing
    weights: FetchedWeights | None = None
    """None if the engine fetches them by itself."""
    after: Sequence[pulumi.Resource] = ()
    """What must be there before the set, and goes after it: its controller, and nodes of our own."""


class Serving(pulumi.ComponentResource):
    """Engine pods by topology.

    Attributes:
        url: where any pod of the cluster finds the leaders.
        measured_url: where the benchmark does; another one only where the Service is sticky and that is not measured.
    """

    def __init__(self, name: str, args: ServingArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Serving", name, None, opts)
        self._name, self._args = name, args
        self.service = self._service("leader", names.service_name(args.experiment), _affinity(args.service))
        self.measured_service = (
            self._service("measured", names.measured_service_name(args.experiment), {})
            if args.service.measured_apart
            else self.service
        )
        self.url, self.measured_url = _url(self.service), _url(self.measured_service)
        account = self._account()
        scripts = self._scripts()
        self.leader_worker_set = self._leader_worker_set(account, scripts) if args.topology.groups else None
        self.register_outputs({"url": self.url})

    def _meta(self, name: str, **more: Any) -> ObjectMetaArgs:
        return ObjectMetaArgs(
            name=name, namespace=self._args.namespace, labels=labels.of(self._args.experiment, "engine"), **more
        )

    def _service(self, what: str, called: str, affinity: dict[str, Any]) -> Service:
        return Service(
            f"{self._name}-{what}",
            # Not awaited: it would wait for pods, and is not needed to be ready before them.
            metadata=self._meta(called, annotations={"pulumi.com/skipAwait": "true"}),
            spec=ServiceSpecArgs(
                type="ClusterIP",
                **affinity,
                selector={
                    labels.LWS_NAME: names.object_name(self._args.experiment),
                    labels.LWS_WORKER: "0",  # workers serve no HTTP
                },
                ports=[ServicePortArgs(name="http", port=HTTP_PORT, target_port=HTTP_PORT, protocol="TCP")],
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _account(self) -> ServiceAccount:
        return ServiceAccount(
            f"{self._name}-account",
            metadata=self._meta(ACCOUNT),
            automount_service_account_token=False,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _scripts(self) -> ConfigMap:
        texts = {script: files("components.pod").joinpath(script).read_text() for script in engine_pods.SCRIPTS}
        digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:7]
        return ConfigMap(
            f"{self._name}-scripts",
            metadata=self._meta(f"engine-scripts-{digest}"),
            data=texts,
            immutable=True,
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _leader_worker_set(self, account: ServiceAccount, scripts: ConfigMap) -> CustomResource:
        args = self._args
        set_name = names.object_name(args.experiment)
        pods = EnginePodsArgs(
            experiment=args.experiment,
            set_name=set_name,
            scripts=scripts.metadata.name,
            service_account=account.metadata.name,
            model=args.model,
            engine=args.engine,
            image=args.image,
            gpus=args.gpus,
            efa=args.efa,
            topology=args.topology,
            nodes=args.nodes,
            weights=args.weights,
        )
        fetching_s = fetching.LONGEST_S if args.weights else 0
        budget = f"{round(args.engine.probes.startup_s + fetching_s) + _SLACK_S}s"
        return CustomResource(
            f"{self._name}-set",
            api_version="leaderworkerset.x-k8s.io/v1",
            kind="LeaderWorkerSet",
            metadata=self._meta(set_name, annotations={"pulumi.com/waitFor": "condition=Available"}),
            spec={
                "replicas": args.topology.groups,
                "startupPolicy": "LeaderCreated",
                "leaderWorkerTemplate": {
                    "size": args.topology.size,
                    "restartPolicy": args.restart_policy,
                    **_templates(pods),
                },
            },
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*args.after, *(args.weights.after if args.weights else []), scripts, account],
                # Two topologies cannot stand side by side on full nodes: one goes before the next comes.
                replace_on_changes=["spec"],
                delete_before_replace=True,
                custom_timeouts=pulumi.CustomTimeouts(create=budget, update=budget, delete=budget),
            ),
        )


def _url(service: Service) -> pulumi.Output[str]:
    return pulumi.Output.format("http://{0}.{1}.svc:{2}", service.metadata.name, service.metadata.namespace, HTTP_PORT)


def _affinity(service: ServiceSettings) -> dict[str, Any]:
    if service.sticky_s is None:
        return {}
    client = ClientIPConfigArgs(timeout_seconds=service.sticky_s)
    return {"session_affinity": "ClientIP", "session_affinity_config": SessionAffinityConfigArgs(client_ip=client)}


def _templates(pods: EnginePodsArgs) -> dict[str, Any]:
    if pods.topology.size == 1:
        return {"workerTemplate": template("leader", pods)}
    return {"leaderTemplate": template("leader", pods), "workerTemplate": template("worker", pods)}
