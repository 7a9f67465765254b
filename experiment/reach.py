"""What the pods of an experiment must reach outside their namespace, by port; all else may be closed to them."""

from urllib.parse import urlsplit

from experiment import fetching
from experiment.cluster import EksCluster
from experiment.settings import Settings

DNS_PORT = 53
HTTPS_PORT = 443
API_PORTS = (443, 6443, 8443, 16443)
"""Where API servers listen: EKS and other clouds, kubeadm and kind, minikube, MicroK8s. A policy sees the server's own
port, behind the Service's."""
POD_IDENTITY = ("169.254.170.23/32", 80)
"""Where EKS's agent on each node hands pods their rights in AWS, and its port."""

_ADDRESSES = frozenset({"HF_ENDPOINT", "HTTP_PROXY", "HTTPS_PROXY"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


def of_engine(settings: Settings) -> tuple[int, ...]:
    """Return the ports of the hub, of S3 and of proxies; none where the weights are on the node already."""
    if settings.model.weights.source == "directory":
        return ()
    told = fetching.passed_on(settings.engine.env)
    named = {port for name, value in told.items() if name.upper() in _ADDRESSES and (port := _port(value))}
    return tuple(sorted({HTTPS_PORT, *named}))


def of_benchmark(settings: Settings) -> tuple[int, ...]:
    """Return the ports of the API server, and of S3 where the records go there; both are HTTPS."""
    return (HTTPS_PORT,) if isinstance(settings.cluster, EksCluster) else API_PORTS


def _port(address: str) -> int | None:
    """Return the port of a URL, or of HOST:PORT, as which a proxy may be written, too; None of what is neither."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        return parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
