"""A whole experiment: the only place where components are wired to one another."""

import pulumi
from pulumi_kubernetes.core.v1 import Namespace
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components import labels
from components.archive import benchmark_zip
from components.benchmark_job import BenchmarkJob, BenchmarkJobArgs
from components.lws import NAMESPACE, LwsController, LwsControllerArgs
from components.results import Results, ResultsArgs
from components.serving import Serving, ServingArgs
from experiment import names
from experiment.benchmark import Benchmark
from experiment.settings import Settings


class Testbed(pulumi.ComponentResource):
    """Controller, serving and benchmark of one experiment, in a namespace of its own.

    Takes the settings whole, as the one component that hands out their parts.
    """

    __test__ = False  # a noun of ours, no test of pytest's

    def __init__(self, name: str, settings: Settings, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("splitbed:index:Testbed", name, None, opts)
        self._name, self._settings = name, settings
        self._namespace = self._make_namespace()
        controller = self._controller()
        self._serving = Serving(
            f"{name}-serving",
            ServingArgs(
                experiment=settings.name,
                namespace=self._namespace.metadata.name,
                model=settings.model,
                engine=settings.engine,
                image=settings.engine_image,
                gpus=settings.gpus_per_pod,
                service=settings.service,
                restart_policy=settings.lws.restart_policy,
                topology=settings.topology,
                nodes=settings.nodes.placing("engine"),
                controller=[controller.chart] if controller else [],
            ),
            pulumi.ResourceOptions(parent=self),
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

    def _make_namespace(self) -> Namespace:
        settings = self._settings
        stated = {"splitbed.dev/owner": settings.owner, "splitbed.dev/purpose": settings.purpose}
        if settings.end_date is not None:
            stated["splitbed.dev/end-date"] = settings.end_date.isoformat()
        return Namespace(
            f"{self._name}-namespace",
            metadata=ObjectMetaArgs(
                name=names.object_name(settings.name),
                labels={
                    **labels.of(settings.name, "experiment"),
                    "pod-security.kubernetes.io/enforce": "baseline",
                },
                annotations=stated,
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _controller(self) -> LwsController | None:
        lws = self._settings.lws
        if lws.mode == "existing":
            return None
        # Beside the experiment's namespace, not below the controller: then destroy waits for both at once, not in turn.
        namespace = Namespace(
            f"{self._name}-lws-namespace",
            metadata=ObjectMetaArgs(name=NAMESPACE, labels=labels.of(self._settings.name, "lws")),
            opts=pulumi.ResourceOptions(parent=self),
        )
        return LwsController(
            f"{self._name}-lws",
            LwsControllerArgs(
                namespace=namespace.metadata.name, install=lws, nodes=self._settings.nodes.placing("system")
            ),
            pulumi.ResourceOptions(parent=self),
        )

    def _measure(self, benchmark: Benchmark) -> None:
        settings = self._settings
        if benchmark.results.kind == "s3":
            raise NotImplementedError("records in S3 come with components.aws")
        results = Results(
            f"{self._name}-results",
            ResultsArgs(experiment=settings.name, namespace=self._namespace.metadata.name, results=benchmark.results),
            pulumi.ResourceOptions(parent=self),
        )
        self._outputs["results"] = benchmark.results.model_dump(mode="json")
        if self._serving.leader_worker_set is None:
            return
        plan = benchmark.plan(settings.model.served_name)
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
                url=self._serving.url,
                claim_name=results.claim_name,
                hand_out=benchmark.results.kind == "claim",
                resources=benchmark.resources,
                nodes=settings.nodes.placing("system"),
                after=[self._serving.leader_worker_set, self._serving.service],
            ),
            pulumi.ResourceOptions(parent=self),
        )
        self._outputs |= {"job_name": job.job_name, "run": plan.run, "plan_hash": plan.hash}
