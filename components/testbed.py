"""A whole experiment: the only place where components are wired to one another."""

from collections.abc import Sequence

import pulumi
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import benchmark_job, device_plugin, labels, security, serving
from components.archive import benchmark_zip
from components.aws.ground import Ground
from components.aws.pod_role import PodRole, PodRoleArgs
from components.aws.results import BucketResults, BucketResultsArgs
from components.benchmark_job import BenchmarkJob, BenchmarkJobArgs
from components.boundary import Boundary, BoundaryArgs, Way
from components.device_plugin import DevicePlugin, DevicePluginArgs
from components.gpu_exporter import GpuExporter, GpuExporterArgs
from components.log_shipper import LogShipper, LogShipperArgs
from components.lws import NAMESPACE, WEBHOOK_PORT, LwsController, LwsControllerArgs
from components.lws_keeper import LwsKeeper, LwsKeeperArgs
from components.records import Records
from components.results import Results, ResultsArgs
from components.serving import Serving, ServingArgs
from components.weights import FetchedWeights, Weights, WeightsArgs
from experiment import asking, fetching, names, ownership, reach, shipping, upload, versions
from experiment.benchmark import Benchmark, S3Results
from experiment.cluster import EksCluster
from experiment.nodes import InstanceGroup
from experiment.pins import Pins
from experiment.quota import quota
from experiment.settings import Settings


class Testbed(pulumi.ComponentResource):
    """Controller, serving and benchmark of one experiment, in a namespace of its own; on EKS its cluster, too.

    Takes the settings whole, as the one component that hands out their parts.
    """

    __test__ = False  # a noun of ours, no test of pytest's

    def __init__(self, name: str, settings: Settings, pins: Pins, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Testbed", name, None, opts)
        self._name, self._settings, self._pins = name, settings, pins
        self._ground = self._make_ground()
        self._inside = self._options_inside()
        self._namespace = self._make_namespace()
        self._make_boundary()
        shipper = self._shipper()
        controller = self._controller(shipper)
        self._serving = Serving(
            f"{name}-serving",
            ServingArgs(
                experiment=settings.name,
                namespace=self._namespace.metadata.name,
                model=settings.model,
                engine=settings.engine,
                image=settings.engine_image,
                gpus=settings.gpus_per_pod,
                efa=settings.efa_per_pod,
                service=settings.service,
                restart_policy=settings.lws.restart_policy,
                topology=settings.topology,
                nodes=settings.nodes.placing("engine"),
                weights=self._weights(),
                after=[
                    *([controller.chart] if controller else []),
                    *self._keeper(),
                    *([shipper.daemon_set] if shipper else []),
                    *self._engine_nodes(),
                ],
            ),
            self._inside,
        )
        self._outputs: dict[str, pulumi.Input[object]] = {
            "namespace": self._namespace.metadata.name,
            "service_url": self._serving.url,
            "topology": settings.topology.model_dump(mode="json", exclude_defaults=True),
        }
        if settings.benchmark is not None:
            self._measure(settings.benchmark)
        self.register_outputs(self._outputs)

    @property
    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """What a person needs to look around: namespace, service_url, topology; job_name, run, results."""
        return dict(self._outputs)

    def _make_ground(self) -> Ground | None:
        cluster = self._settings.cluster
        if not isinstance(cluster, EksCluster):
            return None
        return Ground(f"{self._name}-ground", self._settings, cluster, self._pins, pulumi.ResourceOptions(parent=self))

    def _engine_nodes(self) -> Sequence[pulumi.Resource]:
        """Return what must be there before an engine's pod can start; nothing on a cluster that was given."""
        if self._ground is None:
            return []
        nodes = self._settings.nodes
        devices = []
        if self._settings.device == "gpu":
            devices.append(("device-plugin", device_plugin.GPUS, versions.DEVICE_PLUGIN_IMAGE))
        if isinstance(nodes.engine, InstanceGroup) and nodes.engine.efa:
            devices.append(("efa-plugin", device_plugin.FABRIC, versions.EFA_PLUGIN_IMAGE))
        plugins = [
            DevicePlugin(
                f"{self._name}-{what}",
                DevicePluginArgs(
                    experiment=self._settings.name,
                    device=device,
                    image=self._pins.image(image),
                    nodes=nodes.placing("engine"),
                    after=self._ground.engine,
                ),
                self._inside,
            ).daemon_set
            for what, device, image in devices
        ]
        return [*self._ground.engine, *self._ground.names, *plugins, *self._exporters(self._ground.engine)]

    def _exporters(self, nodes: Sequence[pulumi.Resource]) -> Sequence[pulumi.Resource]:
        """Return what is to be there before the engine, so that it is seen from its first second."""
        if not self._settings.observe.dcgm:
            return []
        exporter = GpuExporter(
            f"{self._name}-gpu-exporter",
            GpuExporterArgs(
                experiment=self._settings.name,
                image=self._pins.image(versions.DCGM_EXPORTER_IMAGE),
                nodes=self._settings.nodes.placing("engine"),
                after=nodes,
            ),
            self._inside,
        )
        return [exporter.daemon_set]

    def _options_inside(self) -> pulumi.ResourceOptions:
        """Return the options of what is in the cluster.

        What is in a cluster of our own goes with it: it makes nothing outside, and at destroy there may be no node
        left on which a controller could put anything in order.
        """
        if self._ground is None:
            return pulumi.ResourceOptions(parent=self)
        return pulumi.ResourceOptions(
            parent=self, provider=self._ground.kubernetes, deleted_with=self._ground.control_plane
        )

    def _make_namespace(self) -> Namespace:
        settings = self._settings
        stated = {labels.OWNER: settings.owner, labels.PURPOSE: settings.purpose}
        if settings.end_date is not None:
            stated[labels.END_DATE] = settings.end_date.isoformat()
        return Namespace(
            f"{self._name}-namespace",
            metadata=ObjectMetaArgs(
                name=names.object_name(settings.name),
                labels={
                    **labels.of(settings.name, "experiment"),
                    # The CPU backend goes without the filter of calls that `restricted` wants (components/security.py).
                    **security.admitted("restricted" if settings.device == "gpu" else "baseline"),
                },
                annotations=stated,
            ),
            opts=self._inside,
        )

    def _make_boundary(self) -> None:
        settings, cluster = self._settings, self._settings.cluster
        on_eks = isinstance(cluster, EksCluster)
        fetches = isinstance(cluster, EksCluster) and bool(fetching.rights(settings.model, cluster.region))
        ways = [
            Way(called="engine-out", pods=_pods("engine"), ports=reach.of_engine(settings), rights=fetches),
            Way(called="benchmark-out", pods=_pods("benchmark"), ports=reach.of_benchmark(settings), rights=on_eks),
        ]
        Boundary(
            f"{self._name}-boundary",
            BoundaryArgs(
                namespace=self._namespace.metadata.name,
                labels=labels.of(settings.name, "boundary"),
                ways=[way for way in ways if way.ports],
                quota=quota(settings),
            ),
            self._inside,
        )

    def _controller(self, shipper: LogShipper | None) -> LwsController | None:
        """Make the controller, if it is to be made.

        On a cluster that was given, where `destroy` takes one after the other, it goes before the shipper, which so
        outlives all that writes. What is in a cluster of our own goes with it, and is not made in turn for nothing.
        """
        lws = self._settings.lws
        if lws.mode == "existing":
            return None
        # Beside the experiment's namespace, not below the controller: then destroy waits for both at once, not in turn.
        namespace = Namespace(
            f"{self._name}-lws-namespace",
            metadata=ObjectMetaArgs(
                name=NAMESPACE, labels={**labels.of(self._settings.name, "lws"), **security.admitted("restricted")}
            ),
            opts=self._inside,
        )
        Boundary(
            f"{self._name}-lws-boundary",
            BoundaryArgs(
                namespace=namespace.metadata.name,
                labels=labels.of(self._settings.name, "boundary"),
                ways=[
                    Way(called="controller-out", ports=reach.API_PORTS),
                    Way(called="webhook-in", inwards=WEBHOOK_PORT),  # the API server, from wherever it is
                ],
            ),
            self._inside,
        )
        return LwsController(
            f"{self._name}-lws",
            LwsControllerArgs(
                experiment=self._settings.name,
                namespace=namespace.metadata.name,
                install=lws,
                nodes=self._settings.nodes.placing("system"),
                gated=self._ground is None,
                after=self._ground.system if self._ground else [shipper.daemon_set] if shipper else [],
            ),
            self._inside,
        )

    def _keeper(self) -> Sequence[pulumi.Resource]:
        """Have the controller of another experiment outlive this one; nothing if it is anybody else's, or our own."""
        lws = self._settings.lws
        if lws.mode == "install" or lws.of is None:
            return []
        args = LwsKeeperArgs(experiment=self._settings.name, installed_by=lws.of)
        return [LwsKeeper(f"{self._name}-lws-keeper", args, self._inside).binding]

    def _shipper(self) -> LogShipper | None:
        settings, ground = self._settings, self._ground
        if settings.logs.kind == "none":
            return None
        destination = None
        if settings.logs.kind == "cloudwatch" and isinstance(settings.cluster, EksCluster):
            destination = shipping.cloudwatch(settings.name, settings.cluster.region)
        # In a namespace of its own: it is root, which the experiment's need not admit.
        namespace = Namespace(
            f"{self._name}-logs-namespace",
            metadata=ObjectMetaArgs(
                name=names.logs_namespace(settings.name),
                labels={**labels.of(settings.name, shipping.NAME), **security.admitted("baseline")},
            ),
            opts=self._inside,
        )
        Boundary(
            f"{self._name}-logs-boundary",
            BoundaryArgs(
                namespace=namespace.metadata.name,
                labels=labels.of(settings.name, "boundary"),
                ways=[Way(called="out", ports=[reach.HTTPS_PORT], rights=True)] if destination else [],
            ),
            self._inside,
        )
        return LogShipper(
            f"{self._name}-log-shipper",
            LogShipperArgs(
                experiment=settings.name,
                namespace=namespace.metadata.name,
                image=settings.logs.image,
                destination=destination,
                nodes=[settings.nodes.placing("system"), settings.nodes.placing("engine")],
                after=[
                    *([*ground.system, *ground.engine] if ground else []),
                    *(ground.pod_log.ready if ground and ground.pod_log else []),
                ],
            ),
            self._inside,
        )

    def _weights(self) -> FetchedWeights | None:
        settings = self._settings
        if fetching.by_engine(settings.model) or not settings.topology.groups:
            return None
        return Weights(
            f"{self._name}-weights",
            WeightsArgs(
                experiment=settings.name,
                namespace=self._namespace.metadata.name,
                cluster=settings.cluster,
                model=settings.model,
                engine=settings.engine,
                image=settings.engine_image,
                nodes=settings.nodes.placing("engine"),
                rights=self._rights(),
            ),
            self._inside,
        ).fetched

    def _rights(self) -> Sequence[pulumi.Resource]:
        """Return what lets the engine's pods read a bucket or a secret of AWS; nothing if they need neither."""
        settings, cluster = self._settings, self._settings.cluster
        if self._ground is None or not isinstance(cluster, EksCluster):
            return []
        statements = fetching.rights(settings.model, cluster.region)
        if not statements:
            return []
        role = PodRole(
            f"{self._name}-weights-rights",
            PodRoleArgs(
                cluster_name=self._ground.cluster_name,
                namespace=names.object_name(settings.name),
                service_account=serving.ACCOUNT,
                purpose=f"Weights of {settings.name}",
                statements=statements,
                after=[self._ground.control_plane],
                tags=ownership.tags(settings),
            ),
            pulumi.ResourceOptions(parent=self),
        )
        return [role]

    def _measure(self, benchmark: Benchmark) -> None:
        settings = self._settings
        plan = benchmark.plan(settings.model.served_name)
        self._outputs["results"] = benchmark.results.model_dump(mode="json")
        records = self._records(benchmark)
        if self._serving.leader_worker_set is None:
            return
        job = BenchmarkJob(
            f"{self._name}-benchmark",
            BenchmarkJobArgs(
                experiment=settings.name,
                namespace=self._namespace.metadata.name,
                image=settings.engine_image,
                plan=plan,
                attempt=benchmark.attempt,
                topology=settings.topology.model_dump_json(exclude_defaults=True),
                code=benchmark_zip(),
                url=self._serving.measured_url,
                replicas=asking.replica_urls(settings),
                asked=asking.asked(settings),
                records=records,
                resources=benchmark.resources,
                nodes=settings.nodes.placing("system"),
                after=[self._serving.leader_worker_set, self._serving.measured_service],
            ),
            self._inside,
        )
        self._outputs |= {"job_name": job.job_name, "run": plan.run, "plan_hash": plan.hash}

    def _records(self, benchmark: Benchmark) -> Records:
        settings = self._settings
        if not isinstance(benchmark.results, S3Results):
            return Results(
                f"{self._name}-results",
                ResultsArgs(
                    experiment=settings.name, namespace=self._namespace.metadata.name, results=benchmark.results
                ),
                self._inside,
            ).records
        if self._ground is None or not isinstance(settings.cluster, EksCluster):
            raise ValueError("records in S3 need an EKS cluster; `load` has refused such settings")
        results = BucketResults(
            f"{self._name}-results",
            BucketResultsArgs(
                experiment=settings.name,
                run=benchmark.run,
                results=benchmark.results,
                region=settings.cluster.region,
                cluster_name=self._ground.cluster_name,
                namespace=names.object_name(settings.name),
                service_account=benchmark_job.ACCOUNT,
                image=self._pins.image(benchmark.results.image),
                after=[self._ground.control_plane],
                tags=ownership.tags(settings),
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self._outputs["results"] = {
            "kind": "s3",
            "bucket": results.bucket_name,
            "prefix": upload.prefix(settings.name, benchmark.run),
        }
        return results.records


def _pods(component: str) -> dict[str, str]:
    return {labels.COMPONENT: component}
