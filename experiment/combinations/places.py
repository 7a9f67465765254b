"""What a cluster of one kind has, and one of the other has not."""

from collections.abc import Iterator

from experiment import token
from experiment.benchmark import Benchmark, S3Results
from experiment.cluster import Cluster, EksCluster, KubeconfigCluster, NewNetwork
from experiment.engine import Engine, Model
from experiment.images import each_image
from experiment.logs import Logs
from experiment.lws import ExistingLws, InstallLws, Lws
from experiment.nodes import InstanceGroup, Nodes, gpus, groups
from experiment.observe import Observe
from experiment.problem import Problem


def nodes_are_the_clusters(cluster: Cluster, nodes: Nodes) -> list[Problem]:
    """EKS makes instances; of a cluster that is there, nodes can only be declared."""
    found = []
    for name, group in groups(nodes):
        if isinstance(cluster, EksCluster) and not isinstance(group, InstanceGroup):
            remedy = "Name an instance, as in {instance: m7g.2xlarge, count: 2}, or take cluster.kind: kubeconfig."
            found.append(
                Problem(f"nodes.{name}", "declared nodes with cluster.kind eks", "EKS makes the nodes itself", remedy)
            )
        if isinstance(cluster, KubeconfigCluster) and isinstance(group, InstanceGroup):
            remedy = "Declare count, cpu, memory_gib and selector of nodes that are there, or take cluster.kind: eks."
            found.append(
                Problem(
                    f"nodes.{name}",
                    f"instance {group.instance} with cluster.kind kubeconfig",
                    "no nodes are made in a cluster that is there",
                    remedy,
                )
            )
    return found


def records_outlive_the_cluster(cluster: Cluster, benchmark: Benchmark | None) -> list[Problem]:
    """On EKS all but S3 goes with the cluster; elsewhere nothing is known of AWS."""
    if benchmark is None:
        return []
    kind = benchmark.results.kind
    if isinstance(cluster, EksCluster) and not isinstance(benchmark.results, S3Results):
        why = "the records would be deleted with the cluster and its nodes"
        return [Problem("benchmark.results.kind", f"{kind} with cluster.kind eks", why, "Take kind: s3.")]
    if isinstance(cluster, KubeconfigCluster) and isinstance(benchmark.results, S3Results):
        why = "nothing gives the pods of such a cluster the right to write there"
        return [
            Problem(
                "benchmark.results.kind", "s3 with cluster.kind kubeconfig", why, "Take kind: claim or kind: local."
            )
        ]
    return []


def cloudwatch_is_awss(cluster: Cluster, logs: Logs) -> list[Problem]:
    """Only pods of EKS have the right to write to CloudWatch."""
    if logs.kind == "cloudwatch" and isinstance(cluster, KubeconfigCluster):
        why = "nothing gives the pods of such a cluster the right to write there"
        return [Problem("logs.kind", "cloudwatch with cluster.kind kubeconfig", why, "Take kind: files or kind: none.")]
    return []


def exporters_are_where_we_make_the_nodes(cluster: Cluster, nodes: Nodes, observe: Observe) -> list[Problem]:
    """An exporter of GPUs needs some, and a cluster that is there has its own or wants none."""
    if not observe.dcgm:
        return []
    if isinstance(cluster, KubeconfigCluster):
        why = "it is root on its nodes, which are not ours to give"
        remedy = "Leave it out; a cluster with GPUs mostly has NVIDIA's operator, which brings it."
        return [Problem("observe.dcgm", "true with cluster.kind kubeconfig", why, remedy)]
    if not gpus(nodes.engine):
        why = "the engine's nodes have no GPUs that it could look at"
        return [Problem("observe.dcgm", "true with nodes without GPUs", why, "Leave it out.")]
    return []


def a_new_cluster_has_no_controller(cluster: Cluster, lws: Lws) -> list[Problem]:
    """A cluster of the experiment's own has nothing in it yet."""
    if isinstance(cluster, EksCluster) and isinstance(lws, ExistingLws):
        why = "a new cluster has no LeaderWorkerSet controller"
        return [Problem("lws.mode", "existing with cluster.kind eks", why, "Take lws: {mode: install}.")]
    return []


def without_a_gateway_all_comes_from_aws(
    cluster: Cluster, model: Model, engine: Engine, lws: Lws, logs: Logs
) -> list[Problem]:
    """With endpoints in place of a NAT gateway, nodes reach neither the hub nor other registries than ECR."""
    if not isinstance(cluster, EksCluster) or not isinstance(cluster.network, NewNetwork):
        return []
    if cluster.network.egress != "endpoints":
        return []
    with_endpoints = "with cluster.network.egress endpoints"
    why = "nodes without a NAT gateway reach AWS's own services only"
    found = [
        Problem(path, f"{image} {with_endpoints}", why, "Copy the image to ECR, or take egress: nat.")
        for path, image in _images(engine, lws, logs)
        if ".dkr.ecr." not in image
    ]
    if model.weights.source == "hub":
        remedy = "Put the weights into a bucket and take source: s3, or take egress: nat."
        found.append(Problem("model.weights.source", f"hub {with_endpoints}", why, remedy))
    return found


def _images(engine: Engine, lws: Lws, logs: Logs) -> Iterator[tuple[str, str]]:
    yield from each_image(engine.image, "engine.image")
    if isinstance(lws, InstallLws):
        yield "lws.image", lws.image
    if logs.kind != "none":
        yield "logs.image", logs.image


def a_gated_model_needs_a_token(cluster: Cluster, model: Model) -> list[Problem]:
    """The hub refuses a gated model to whoever has not accepted its licence, and it says so inside the pod, late."""
    if model.weights.source != "hub" or model.token_secret is not None:
        return []
    geometry = model.known_geometry
    remedy = (
        "Accept the licence on the hub, put a token into a Secret under the key `token`, and name it in "
        "model.token_secret."
    )
    if model.gated:
        why = "the hub gives the weights of a gated model only to who brings a token"
        return [Problem("model.token_secret", "nothing with model.gated true", why, remedy)]
    if isinstance(cluster, EksCluster) and geometry is not None and geometry.gated:
        why = f"{model.name} is known to be gated, and nothing brings a token"
        return [Problem("model.gated", "false with model.weights.source hub", why, f"Set gated: true. {remedy}")]
    return []


def only_pods_of_eks_have_rights_in_aws(cluster: Cluster, model: Model) -> list[Problem]:
    """Weights in a bucket, or a token in Secrets Manager, are read by who has a role."""
    if not isinstance(cluster, KubeconfigCluster):
        return []
    why, found = "nothing gives the pods of such a cluster the right to read there", []
    if model.weights.source == "s3":
        remedy = "Take source: hub, or copy the weights to a directory of each node and take source: directory."
        found.append(Problem("model.weights.source", "s3 with cluster.kind kubeconfig", why, remedy))
    if token.is_arn(model.token_secret):
        remedy = "Name a Kubernetes Secret, or take {config: KEY}."
        found.append(Problem("model.token_secret", "an ARN with cluster.kind kubeconfig", why, remedy))
    return found


def what_a_node_keeps_has_a_revision(cluster: Cluster, model: Model) -> list[Problem]:
    """A branch moves, and a node would keep what it was on some day; on EKS the lock file names the commit."""
    weights = model.weights
    if not isinstance(cluster, KubeconfigCluster) or weights.source != "hub" or weights.cache == "none":
        return []
    if model.revision is not None:
        return []
    why = "each node would keep what the model's main branch was when it came"
    return [Problem("model.revision", "nothing with model.weights.cache node", why, "Name a commit of the repository.")]


RULES = (
    nodes_are_the_clusters,
    records_outlive_the_cluster,
    cloudwatch_is_awss,
    exporters_are_where_we_make_the_nodes,
    a_new_cluster_has_no_controller,
    without_a_gateway_all_comes_from_aws,
    a_gated_model_needs_a_token,
    only_pods_of_eks_have_rights_in_aws,
    what_a_node_keeps_has_a_revision,
)
