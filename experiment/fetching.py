"""Who fetches a model's weights, from where, and where the engine finds them.

Whatever needs a token, comes from a bucket or is kept by the node is fetched before the engine starts; the rest the
engine fetches by itself, at every start, as in the posts. So no engine is ever given a token.
"""

from pathlib import PurePosixPath

from experiment import arn, iam, machines, token
from experiment.cluster import Cluster, EksCluster
from experiment.engine import Model

MOUNT = "/weights"
"""Where pods have the volume."""

LONGEST_S = 3600.0
"""Seconds that fetching may take, for whoever waits: 131 GiB at 40 MB/s."""

_MAIN = "main"
_PASSED_ON = frozenset(
    {"HF_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE"}
)


def by_engine(model: Model) -> bool:
    """Return whether the engine itself fetches what it serves."""
    weights = model.weights
    return weights.source == "hub" and weights.cache == "none" and model.token_secret is None


def kept_at(model: Model) -> str | None:
    """Return the directory of every engine node that holds the weights; none if none does."""
    weights = model.weights
    if weights.source == "directory":
        return weights.uri
    return machines.WEIGHTS if weights.cache == "node" else None


def place(model: Model) -> str | None:
    """Return the directory in which the engine finds the model; none if it asks the hub by the model's name."""
    if by_engine(model):
        return None
    weights = model.weights
    if weights.source == "directory":
        return MOUNT
    if weights.source == "s3":
        parts = [part.replace("..", "_") for part in (weights.uri or "").removeprefix("s3://").split("/") if part]
        return str(PurePosixPath(MOUNT, "s3", "--".join(parts)))
    revision = (model.revision or _MAIN).replace("/", "--")
    return str(PurePosixPath(MOUNT, "hub", model.name.replace("/", "--"), revision))


def serve(model: Model) -> tuple[str, ...]:
    """Return the arguments by which `vllm serve` is told its model."""
    there = place(model)
    if there is not None:
        return (there,)  # which has the revision in its name
    return (model.name, *((f"--revision={model.revision}",) if model.revision else ()))


def order(model: Model, cluster: Cluster) -> tuple[str, ...]:
    """Return the arguments of the program that fetches or looks.

    Raises:
        ValueError: the engine fetches by itself.
    """
    into = place(model)
    if into is None:
        raise ValueError(f"{model.name} is fetched by its engine")
    weights = model.weights
    told = ["--source", weights.source, "--into", into]
    if weights.source != "hub":
        region = ("--region", cluster.region) if weights.source == "s3" and isinstance(cluster, EksCluster) else ()
        return (*told, "--uri", weights.uri or "", *region)
    told += ["--model", model.name, "--revision", model.revision or _MAIN]
    secret = model.token_secret
    if secret is None:
        return tuple(told)
    in_aws = ("--token-arn", str(secret)) if token.is_arn(secret) else ()
    return (*told, *in_aws, "--token-held-in", token.said(secret))


def rights(model: Model, region: str) -> list[iam.Statement]:
    """Return what the pods must be allowed to do in AWS; nothing if they fetch from elsewhere.

    Args:
        model: whose weights and token.
        region: of the cluster; it decides the partition that a bucket is in.
    """
    weights = model.weights
    if weights.source == "s3":
        bucket, _, prefix = (weights.uri or "").removeprefix("s3://").partition("/")
        below, there = prefix.rstrip("/"), arn.bucket(region, bucket)
        return [
            iam.allow(["s3:GetObject"], [f"{there}/{below}/*"]),
            iam.allow(["s3:ListBucket"], [there], StringLike={"s3:prefix": [f"{below}/", f"{below}/*"]}),
        ]
    if weights.source == "hub" and token.is_arn(model.token_secret):
        return [iam.allow(["secretsmanager:GetSecretValue"], [model.token_secret])]
    return []


def passed_on(environment: dict[str, str]) -> dict[str, str]:
    """Return those of the engine's own variables that decide how the network is reached."""
    return {name: value for name, value in environment.items() if name in _PASSED_ON}
