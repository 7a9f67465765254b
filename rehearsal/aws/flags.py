"""How the programs of a Kubernetes without kubelets are started on loopback ports."""

from pathlib import Path

from rehearsal.cluster.kwok import ANNOTATION
from rehearsal.cluster.pki import Authority

ADMINISTRATORS = "system:masters"


def etcd(directory: Path, store: int, peer: int) -> tuple[str, ...]:
    """Return etcd's arguments; its data lie below the directory, and are not kept over a crash of the machine."""
    return (
        f"--data-dir={directory / 'etcd'}",
        f"--listen-client-urls=http://127.0.0.1:{store}",
        f"--advertise-client-urls=http://127.0.0.1:{store}",
        f"--listen-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
        f"--initial-cluster=default=http://127.0.0.1:{peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    )


def api_server(authority: Authority, store: int, port: int) -> tuple[str, ...]:
    """Return the API server's arguments, with keys made for it; the caller adds whom it admits besides."""
    serving = authority.issue("serving", "kube-apiserver", hosts=("127.0.0.1",))
    private, public = authority.signing_key("accounts")
    return (
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--etcd-servers=http://127.0.0.1:{store}",
        f"--client-ca-file={authority.certificate}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={public}",
        f"--service-account-signing-key-file={private}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--endpoint-reconciler-type=none",
        "--profiling=false",
    )


def as_administrator(kubeconfig: Path) -> tuple[str, ...]:
    """Return the arguments of the scheduler, which the controller manager has too."""
    return (
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--secure-port=0",
        "--leader-elect=false",
        "--profiling=false",
    )


def kwok(kubeconfig: Path, stages: Path) -> tuple[str, ...]:
    """Return kwok's arguments; it answers for the nodes that say they are fake."""
    return (
        f"--kubeconfig={kubeconfig}",
        f"--config={stages}",
        "--manage-all-nodes=false",
        f"--manage-nodes-with-annotation-selector={ANNOTATION}=fake",
        "--node-lease-duration-seconds=40",
    )
