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
from rehearsal.aws import egress, flags, stages
from rehearsal.aws.flags import ADMINISTRATORS
from rehearsal.child import tied
from rehearsal.cluster.api import Api, ApiError
from rehearsal.cluster.pki import Authority

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "lws-manager")
TOKEN = "k8s-aws-v1.rehearsal"  # noqa: S105  as the double of the `aws` program prints it, good for these clusters only
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
            self.start("etcd", *flags.etcd(directory, store, peer))
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


def _api_server(directory: Path, authority: Authority, store: int, port: int) -> tuple[str, ...]:
    tokens = directory / "tokens.csv"
    tokens.write_text(f'{TOKEN},whoever-made-it,1,"{ADMINISTRATORS}"\n')
    tokens.chmod(0o600)
    return (
        *flags.api_server(authority, store, port),
        f"--token-auth-file={tokens}",
        f"--egress-selector-config-file={egress.configuration(directory)}",
        "--allow-privileged=true",
    )


def _daemons(directory: Path, authority: Authority, kubeconfig: Path) -> dict[str, tuple[str, ...]]:
    return {
        "kube-controller-manager": (
            *flags.as_administrator(kubeconfig),
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={directory / 'pki' / 'accounts.key'}",
            f"--root-ca-file={authority.certificate}",
        ),
        "kube-scheduler": flags.as_administrator(kubeconfig),
        "kwok": flags.kwok(kubeconfig, stages.write(directory)),
    }


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on; another program might take one before we do, which then says so."""
    with ExitStack() as held:
        found = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in found]
