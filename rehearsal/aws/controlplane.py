"""The programs of a Kubernetes without kubelets, as children of this process on loopback ports; no root is needed."""

import base64
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from experiment.errors import SplitbedError
from rehearsal.aws import egress, stages
from rehearsal.child import tied
from rehearsal.cluster.api import Api, ApiError
from rehearsal.cluster.kwok import ANNOTATION
from rehearsal.cluster.pki import Authority

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "lws-manager")
TOKEN = "k8s-aws-v1.rehearsal"  # noqa: S105  as the double of the `aws` program prints it, good for these clusters only
ADMINISTRATORS = "system:masters"
_START_S = 180.0


class ControlPlaneError(SplitbedError):
    """A program of a double's cluster does not start."""


class ControlPlane:
    """A running one; kwok answers for its nodes.

    Attributes:
        server: its address.
        authority: its authority's certificate, as base64.
        api: an administrator's calls.
        kubeconfig: an administrator's.
        webhook: the port of this machine at which all webhooks of the cluster are answered.
    """

    def __init__(self, tools: Mapping[str, Path], directory: Path) -> None:
        """Start it.

        Args:
            tools: a binary for each of `PROGRAMS`.
            directory: for keys, data and logs; removed at the end.

        Raises:
            ControlPlaneError: the API server does not answer.
        """
        self._tools, self.directory = tools, directory
        directory.mkdir(parents=True)
        self._running = ExitStack()
        # A child is tied to the thread that started it, and dies with that: ours lives as long as the cluster.
        self._starter = self._running.enter_context(ThreadPoolExecutor(1))
        authority = Authority(directory / "pki")
        store, peer, port, self.webhook, self.health = free_ports(5)
        self.server = f"https://127.0.0.1:{port}"
        self.kubeconfig = authority.kubeconfig(directory / "kubeconfig", self.server, "everybody", ADMINISTRATORS)
        own = authority.issue("administrator", "administrator", ADMINISTRATORS)
        self.authority = base64.b64encode(authority.certificate.read_bytes()).decode()
        self.api = Api(self.server, authority.certificate, own.certificate, own.key)
        try:
            self._running.enter_context(egress.serving(directory / "egress.sock", self.webhook))
            self.start("etcd", *_etcd(directory, store, peer))
            api_server = self.start("kube-apiserver", *_api_server(directory, authority, store, port))
            self._wait(api_server)
            for name, arguments in _daemons(directory, authority, self.kubeconfig).items():
                self.start(name, *arguments)
        except BaseException:
            self.stop()
            raise

    def start(self, name: str, *arguments: str) -> "subprocess.Popen[bytes]":
        """Start a program, which ends with this process at the latest."""
        log = self._running.enter_context((self.directory / f"{name}.log").open("ab"))
        argv = tied([str(self._tools[name]), *arguments])

        def started() -> "subprocess.Popen[bytes]":
            return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory)

        process = self._starter.submit(started).result()
        self._running.callback(end, process)
        return process

    def stop(self) -> None:
        """End all programs, and remove what they wrote."""
        self._running.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + _START_S
        while True:
            with suppress(ApiError):
                self.api.get("/api/v1/namespaces/default")
                self.api.get("/api/v1/namespaces/kube-system")
                return
            if process.poll() is not None or time.monotonic() > deadline:
                log = (self.directory / "kube-apiserver.log").read_text(errors="replace")[-2000:]
                raise ControlPlaneError(f"The API server of a double's cluster does not get ready:\n{log}")
            time.sleep(0.1)


def end(process: "subprocess.Popen[Any]") -> None:
    """Kill a program of ours and wait for its end."""
    process.kill()
    process.wait()


def _etcd(directory: Path, store: int, peer: int) -> tuple[str, ...]:
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


def _api_server(directory: Path, authority: Authority, store: int, port: int) -> tuple[str, ...]:
    serving = authority.issue("serving", "kube-apiserver", hosts=("127.0.0.1",))
    private, public = authority.signing_key("accounts")
    tokens = directory / "tokens.csv"
    tokens.write_text(f'{TOKEN},whoever-made-it,1,"{ADMINISTRATORS}"\n')
    tokens.chmod(0o600)
    return (
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--etcd-servers=http://127.0.0.1:{store}",
        f"--client-ca-file={authority.certificate}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
        f"--token-auth-file={tokens}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={public}",
        f"--service-account-signing-key-file={private}",
        f"--egress-selector-config-file={egress.configuration(directory)}",
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--endpoint-reconciler-type=none",
        "--allow-privileged=true",
        "--profiling=false",
    )


def _daemons(directory: Path, authority: Authority, kubeconfig: Path) -> dict[str, tuple[str, ...]]:
    as_administrator = (
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--secure-port=0",
        "--leader-elect=false",
        "--profiling=false",
    )
    return {
        "kube-controller-manager": (
            *as_administrator,
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={directory / 'pki' / 'accounts.key'}",
            f"--root-ca-file={authority.certificate}",
        ),
        "kube-scheduler": as_administrator,
        "kwok": (
            f"--kubeconfig={kubeconfig}",
            f"--config={stages.write(directory)}",
            "--manage-all-nodes=false",
            f"--manage-nodes-with-annotation-selector={ANNOTATION}=fake",
            "--node-lease-duration-seconds=40",
        ),
    }


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on; another program might take one before we do, which then says so."""
    with ExitStack() as held:
        found = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in found]
