"""The real scheduler with what it cannot do without: store and API server, and kwok for nodes that only pretend.

Neither kubelet nor controllers: what the tests create is all there is, so that a hundred clusters' worth of nodes and
pods come and go in a minute.
"""

import contextlib
import http.client
import json
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rehearsal.aws import flags
from rehearsal.aws.controlplane import end, free_ports
from rehearsal.aws.flags import ADMINISTRATORS
from rehearsal.child import tied
from rehearsal.cluster.pki import Authority

PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "kwok")
# They would want controllers, that take taints off and make accounts.
_NOT_ADMITTED_BY = "TaintNodesByCondition,ServiceAccount"
_START_S = 180.0
_ANSWER_S = 60.0


class ApiServer:
    """JSON over one connection that is kept."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self._port, self._context = port, context
        self._connection = self._connect()

    def _connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self._port, timeout=_ANSWER_S, context=self._context)

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer; fails the test if it is an error."""
        status, text = self.ask(method, path, body)
        if status >= 400:
            pytest.fail(f"{method} {path}: {status} {text}")
        return json.loads(text)

    @contextlib.contextmanager
    def watch(self, path: str) -> Iterator[Iterator[Any]]:
        """Hand over what becomes of the objects at a path, over a connection of its own; `TimeoutError` ends it."""
        with contextlib.closing(self._connect()) as connection:
            connection.request("GET", f"{path}?watch=true")
            with connection.getresponse() as answer:
                yield (json.loads(line)["object"] for line in answer)

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def answers(self) -> bool:
        """Tell whether it is ready, and has made its first namespaces."""
        with contextlib.suppress(OSError, http.client.HTTPException):
            paths = ("/readyz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system")
            return all(self.ask("GET", path, None)[0] == 200 for path in paths)
        self.close()
        return False

    def ask(self, method: str, path: str, body: object) -> tuple[int, str]:
        """Return status and text of the answer, whatever it is."""
        headers = {"Content-Type": "application/json"}
        self._connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read().decode()


@contextlib.contextmanager
def control_plane(tools: Mapping[str, Path], directory: Path) -> Iterator[ApiServer]:
    """Run the programs until the end of the block.

    Args:
        tools: a binary for each of `PROGRAMS`.
        directory: for keys, data and logs.
    """
    authority = Authority(directory / "pki")
    store, peer, port = free_ports(3)
    kubeconfig = authority.kubeconfig(
        directory / "kubeconfig", f"https://127.0.0.1:{port}", "everybody", ADMINISTRATORS
    )
    (directory / "kwok.yaml").touch()  # else it would look into the user's home
    argvs = {
        "etcd": flags.etcd(directory, store, peer),
        "kube-apiserver": (
            *flags.api_server(authority, store, port),
            f"--disable-admission-plugins={_NOT_ADMITTED_BY}",
        ),
        "kube-scheduler": (
            *flags.as_administrator(kubeconfig),
            # Its own limit of 50 calls a second is made for larger clusters than its tests have patience.
            "--kube-api-qps=2000",
            "--kube-api-burst=2000",
        ),
        "kwok": flags.kwok(kubeconfig, directory / "kwok.yaml"),
    }
    context = ssl.create_default_context(cafile=str(authority.certificate))
    own = authority.issue("tests", "tests", ADMINISTRATORS)
    context.load_cert_chain(own.certificate, own.key)
    api = ApiServer(port, context)
    with contextlib.closing(api), contextlib.ExitStack() as running:
        for name, arguments in argvs.items():
            log = running.enter_context((directory / f"{name}.log").open("wb"))
            argv = tied([str(tools[name]), *arguments])
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=directory)
            running.callback(end, process)
            if name == "kube-apiserver":
                _wait(api, process, directory / f"{name}.log")
        yield api


def _wait(api: ApiServer, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_S
    while not api.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"the API server does not get ready: {log.read_text()[-2000:]}")
        time.sleep(0.1)
