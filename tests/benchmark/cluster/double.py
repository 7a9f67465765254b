"""A double of the Kubernetes API and of the agents in its pods, on the lab's virtual clock.

It behaves like the real one where that matters: who may do what, pages that expire, preconditions of a deletion, and an
API server that is away.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmark.cluster.apiserver import ApiServer
from experiment.asked import Asked
from experiment.labels import LWS_GROUP, LWS_NAME, LWS_REVISION, LWS_WORKER
from rehearsal.engine.listener import Runner
from tests.benchmark.virtual import VirtualLoop, run

SET = NAMESPACE = "exp-lab"
TOKEN = "its-own-token"  # noqa: S105  the double's
IMAGE = "registry.example/engine@sha256:" + "a" * 64
LOOKS = {(verb, resource) for verb in ("get", "list") for resource in ("pods", "nodes", "events")}
ARGV = ("vllm", "serve", "org/model", "--master-addr=$(LWS_LEADER_ADDRESS)", "--node-rank=$(LWS_WORKER_INDEX)")


def asked(groups: int = 1, size: int = 1, **changes: Any) -> Asked:
    fields: dict[str, Any] = {
        "experiment": "lab",
        "set_name": SET,
        "groups": groups,
        "size": size,
        "http_port": 8000,
        "agent_port": 8001,
        "arguments": {"leader": ARGV, "worker": (*ARGV, "--headless")},
        "image": IMAGE,
        "version": "0.31.0",
        "max_model_len": 4096,
        "kv_tokens": None,
        "instance": None,
        "zones": (),
    }
    return Asked.model_validate(fields | changes)


class Kubernetes:
    """Objects may be changed while it runs; `faults` is used up, one entry per question."""

    def __init__(self, loop: VirtualLoop, directory: Path, shape: Asked) -> None:
        self.loop, self.asked = loop, shape
        self.allowed = set(LOOKS)
        self.pods: dict[str, dict[str, Any]] = {}
        self.nodes: dict[str, dict[str, Any]] = {}
        self.events: list[dict[str, Any]] = []
        self.faults: deque[str] = deque()
        self.page = 500
        self.expiring = 0
        self.questions: list[str] = []
        self.deleted: list[str] = []
        self.on_delete: Callable[[str], None] = lambda _: None
        self.counters: dict[str, dict[str, Any]] = {}
        self.peers: dict[str, list[tuple[str, int]]] = {}
        self.made = 0
        self.directory = directory
        for name, text in (("token", TOKEN), ("namespace", NAMESPACE)):
            (directory / name).write_text(text)
        for group in range(shape.groups):
            for worker in range(shape.size):
                self.place(group, worker)

    def place(self, group: int, worker: int) -> str:
        """Make a pod and its node as the controller and the kubelet would, with an address and an agent of its own."""
        self.made += 1
        name = f"{SET}-{group}" + (f"-{worker}" if worker else "")
        node, address = f"node-{group}-{worker}", f"10.0.{group}.{self.made}"
        self.nodes.setdefault(node, node_document(node))
        self.pods[name] = pod_document(name, group, worker, node, address, f"uid-{self.made}")
        self.counters[address] = agent_answer(list(self.asked.expanded(group, worker, NAMESPACE)))
        self.peers[address] = []
        return name

    def address(self, name: str) -> str:
        return str(self.pods[name]["status"]["podIP"])

    def counted(self, name: str, **changes: Any) -> None:
        """Let a pod's counters say something else, `cpu__used_s=2` for what is inside a part."""
        told = self.counters[self.address(name)]
        for path, value in changes.items():
            *above, last = path.split("__")
            place = told
            for key in above:
                place = place[key]
            place[last] = value

    def event(self, kind: str, name: str, reason: str, type_: str = "Warning", **more: Any) -> dict[str, Any]:
        about = {"kind": kind, "name": name}
        meta = {"uid": f"event-{len(self.events)}", "namespace": "default" if kind == "Node" else NAMESPACE}
        made = {"metadata": meta, "involvedObject": about, "type": type_, "reason": reason, "message": "so it is"}
        self.events.append(made | more)
        return self.events[-1]

    async def start(self) -> None:
        """Answer at the API server's host, and at every address that is a pod's."""
        api, agents = Runner(_application(self._api)), Runner(_application(self._agent))
        await api.setup()
        await agents.setup()
        api_server, agent_server = api.server, agents.server
        assert api_server is not None
        assert agent_server is not None
        self.loop.hosts["api"] = lambda: api_server
        for address in self.counters:
            self.loop.hosts[address] = lambda: agent_server
        self._agent_server = agent_server

    def place_anew(self, group: int, worker: int) -> None:
        name = self.place(group, worker)
        self.loop.hosts[self.address(name)] = lambda: self._agent_server

    def client(self) -> ApiServer:
        return ApiServer("http://api", self.loop.time, self.directory)

    async def _agent(self, request: web.Request) -> web.StreamResponse:
        address = request.host.partition(":")[0]
        there = {str(pod["status"]["podIP"]) for pod in self.pods.values()}
        if address not in there or address not in self.counters:
            return web.Response(status=404)
        told = self.counters[address]
        told["monotonic_s"] = self.loop.time()
        found = told if request.path == "/counters" else {"schema": 1, "port": 8000, "peers": self.peers[address]}
        return web.json_response(found)

    async def _api(self, request: web.Request) -> web.StreamResponse:
        self.questions.append(f"{request.method} {request.path_qs}")
        fault = self.faults.popleft() if self.faults else ""
        if fault == "reset":
            assert request.transport is not None
            request.transport.abort()
            await asyncio.sleep(3600)
        if fault == "slow":
            await asyncio.sleep(3600)
        if fault == "nonsense":
            return web.Response(text="<html>")
        if fault:
            return _status(int(fault), "not now")
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return _status(401, "Unauthorized")
        parts = request.path.split("/")[3:]
        namespace = parts.pop(1) if parts[0] == "namespaces" else None
        parts = parts[1:] if parts[0] == "namespaces" else parts
        resource, name = parts[0], parts[1] if len(parts) > 1 else None
        verb = "delete" if request.method == "DELETE" else "get" if name else "list"
        if (verb, resource) not in self.allowed:
            return _status(403, f'{resource} is forbidden: cannot {verb} resource "{resource}"')
        if verb == "list":
            return self._listed(request, resource, namespace)
        found = {"pods": self.pods, "nodes": self.nodes}[resource].get(str(name))
        if found is None:
            return _status(404, f'{resource} "{name}" not found')
        if verb == "delete":
            options = json.loads(await request.text())
            if options["preconditions"]["uid"] != found["metadata"]["uid"]:
                return _status(409, "the UID in the precondition does not match")
            self.deleted.append(str(name))
            self.on_delete(str(name))
        return web.json_response(found)

    def _listed(self, request: web.Request, resource: str, namespace: str | None) -> web.StreamResponse:
        query = request.query
        items = [*self.pods.values()] if resource == "pods" else [*self.nodes.values()]
        if resource == "events":
            items = [event for event in self.events if event["metadata"]["namespace"] == namespace]
        for pair in query.get("labelSelector", "").split(",") if query.get("labelSelector") else []:
            key, _, value = pair.partition("=")
            items = [item for item in items if item["metadata"]["labels"].get(key) == value]
        for pair in query.get("fieldSelector", "").split(",") if query.get("fieldSelector") else []:
            *path, last = pair.partition("=")[0].split(".")
            items = [item for item in items if item[path[0]][last] == pair.partition("=")[2]]
        begin = int(query.get("continue", "0"))
        if begin and self.expiring:
            self.expiring -= 1
            return _status(410, "The provided continue parameter is too old")
        end = begin + min(self.page, int(query.get("limit", "500")))
        meta = {"continue": str(end)} if end < len(items) else {}
        return web.json_response({"metadata": meta, "items": items[begin:end]})


def pod_document(name: str, group: int, worker: int, node: str, address: str, uid: str) -> dict[str, Any]:
    labels = {LWS_NAME: SET, LWS_GROUP: str(group), LWS_WORKER: str(worker), LWS_REVISION: "abc"}
    engine = {"name": "engine", "image": IMAGE, "command": ["python3", "agent.py", "vllm"], "args": ["serve"]}
    state = {"name": "engine", "imageID": IMAGE, "restartCount": 0}
    return {
        "metadata": {"name": name, "uid": uid, "namespace": NAMESPACE, "labels": labels},
        "spec": {"nodeName": node, "containers": [engine]},
        "status": {
            "podIP": address,
            "startTime": "2026-11-30T20:00:00Z",
            "containerStatuses": [state],
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-30T20:01:00Z"}],
        },
    }


def node_document(name: str) -> dict[str, Any]:
    labels = {"node.kubernetes.io/instance-type": "m7g.2xlarge", "topology.kubernetes.io/zone": "us-east-1a"}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {
            "conditions": [
                {"type": "MemoryPressure", "status": "False"},
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-30T19:00:00Z"},
            ],
            "nodeInfo": {"bootID": f"boot-{name}"},
        },
    }


def agent_answer(started: list[str]) -> dict[str, Any]:
    link = {"received_bytes": 100, "received_packets": 1, "sent_bytes": 200, "sent_packets": 2}
    return {
        "schema": 1,
        "started": started,
        "monotonic_s": 0.0,
        "cgroup": 2,
        "cpu": {"used_s": 1.0, "periods": 10, "throttled_periods": 1, "throttled_s": 0.1, "quota_cores": 6.0},
        "memory": {
            "used_bytes": 1000,
            "process_bytes": 300,
            "page_cache_bytes": 600,
            "shared_bytes": 100,
            "limit_bytes": 5000,
            "out_of_memory_kills": 0,
        },
        "network": {"lo": link, "eth0": dict(link)},
        "agent": {"cpu_s": 0.01, "resident_bytes": 9000},
    }


def in_cluster(directory: Path, shape: Asked, main: Callable[[Kubernetes], Awaitable[None]]) -> None:
    """Run a test beside a cluster, on a virtual clock."""

    async def body(loop: VirtualLoop) -> None:
        kubernetes = Kubernetes(loop, directory, shape)
        await kubernetes.start()
        await main(kubernetes)

    run(body)


def _application(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.Application:
    application = web.Application()
    application.router.add_route("*", "/{tail:.*}", handler)
    return application


def _status(code: int, message: str) -> web.Response:
    return web.json_response({"kind": "Status", "code": code, "message": message}, status=code)
