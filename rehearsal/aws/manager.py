"""The real LeaderWorkerSet manager beside the cluster, for the pod of its Deployment, which only pretends."""

import base64
import json
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from rehearsal.aws.controlplane import ControlPlane, end
from rehearsal.aws.stages import ANSWERS
from rehearsal.cluster.api import ApiError

_NAMESPACE = "lws-system"
_PODS = f"/api/v1/namespaces/{_NAMESPACE}/pods"
_SECRET = f"/api/v1/namespaces/{_NAMESPACE}/secrets/lws-webhook-server-cert"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/lws-mutating-webhook-configuration"
_BEAT_S = 0.25


class Manager:
    """Runs the manager while a pod of its Deployment has a node, and says so to kwok when its webhook answers."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._certificates = plane.directory / "webhook"
        self._certificates.mkdir()
        self._process: subprocess.Popen[bytes] | None = None
        self._stop = Event()
        self._thread = Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(_BEAT_S):
            with suppress(ApiError):
                self._beat()

    def _beat(self) -> None:
        pods = self._plane.api.get(f"{_PODS}?labelSelector=control-plane%3Dcontroller-manager")["items"]
        placed = [one for one in pods if one["spec"].get("nodeName")]
        if not placed:
            if self._process is not None:
                end(self._process)
                self._process = None
            return
        if self._process is None or self._process.poll() is not None:
            self._process = self._plane.start("lws-manager", *self._arguments())
        self._mount()
        if self._answers():
            for pod in placed:
                if ANSWERS not in pod["metadata"].get("annotations", {}):
                    self._announce(pod)

    def _arguments(self) -> tuple[str, ...]:
        config = self._plane.directory / "lws.json"
        document = {
            "apiVersion": "config.lws.x-k8s.io/v1alpha1",
            "kind": "Configuration",
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": True},
            "webhook": {"host": "127.0.0.1", "port": self._plane.webhook, "certDir": str(self._certificates)},
            "metrics": {"bindAddress": "0"},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self._plane.health}"},
        }
        config.write_text(json.dumps(document))
        return f"--config={config}", f"--kubeconfig={self._plane.kubeconfig}", "--zap-log-level=2"

    def _mount(self) -> None:
        """Do as the kubelet does with the Secret that the manager fills."""
        data = self._plane.api.get(_SECRET).get("data") or {}
        for name, text in data.items():
            path: Path = self._certificates / name
            fresh = base64.b64decode(text)
            if not path.exists() or path.read_bytes() != fresh:
                path.write_bytes(fresh)
                path.chmod(0o600)

    def _answers(self) -> bool:
        found: dict[str, Any] = self._plane.api.get(_WEBHOOKS)
        if not all(one["clientConfig"].get("caBundle") for one in found["webhooks"]):
            return False
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._plane.webhook), timeout=1):
            return True
        return False

    def _announce(self, pod: dict[str, Any]) -> None:
        name = pod["metadata"]["name"]
        document = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": _NAMESPACE, "annotations": {ANSWERS: "true"}},
        }
        self._plane.api.apply(f"{_PODS}/{name}", document)
