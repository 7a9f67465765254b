"""Whether what runs is what the stack asked for: nothing else is measured under its name.

ProofError
    something else runs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmark.cluster.agents import Told
from benchmark.cluster.look import Look, Pod
from benchmark.connection import Exchange
from benchmark.endpoint import Endpoint, json_object
from experiment.asked import Asked
from experiment.errors import SplitbedError
from experiment.measure.proof import Proof, Server

_CACHE = re.compile(rb"^vllm:cache_config_info\{([^}]*)\}", re.MULTILINE)
_LABEL = re.compile(rb'(\w+)="([^"]*)"')


class ProofError(SplitbedError):
    """What runs is not what the stack asked for."""


def lacking(asked: Asked, look: Look) -> tuple[str, ...]:
    """Return what is not there yet of what was asked for."""
    pods = [pod for pod in look.pods.values() if not pod.leaving]
    found = [f"{len(pods)} of {asked.pods} pods are there"] if len(pods) < asked.pods else []
    return (*found, *(f"pod {pod.name} is not ready" for pod in pods if not pod.ready))


@dataclass(frozen=True)
class Findings:
    """What was looked at: as asked for, otherwise, or not to be seen."""

    proven: tuple[str, ...]
    wrong: tuple[str, ...]
    unproven: tuple[str, ...]

    def proof(self, servers: Sequence[Server], arguments: Mapping[str, tuple[str, ...]]) -> Proof:
        """Return it as part of a record.

        Raises:
            ProofError: something is otherwise.
        """
        if self.wrong:
            raise ProofError(
                f"What runs is not what the stack asked for: {'; '.join(self.wrong)}.",
                "Bring the stack up again, and measure under a run id of its own.",
            )
        return Proof(
            proven=self.proven,
            unproven=self.unproven,
            servers=tuple(servers),
            arguments=dict(sorted(arguments.items())),
        )


def compare(
    asked: Asked,
    look: Look,
    told: Mapping[str, Told | str],
    servers: Sequence[Server],
    own_node: str | None,
    namespace: str,
) -> Findings:
    """Hold what was found against what was asked for.

    Args:
        asked: by the stack.
        look: at pods and nodes.
        told: by each pod's agent, or why it told nothing.
        servers: of each copy of the model, what it says of itself.
        own_node: where the benchmark runs.
        namespace: of the pods.
    """
    unproven = list(look.unseen)
    held = {
        "pods": _pods(asked, look),
        "places": _places(asked, look, own_node),
        "images": _images(asked, look, unproven),
        "arguments": _arguments(asked, look, told, namespace, unproven),
        "servers": _servers(asked, servers, unproven),
    }
    wrong = [f"{about}: {one}" for about, found in held.items() for one in found]
    touched = {one.partition(":")[0] for one in [*wrong, *unproven]}
    return Findings(tuple(about for about in held if about not in touched), tuple(wrong), tuple(unproven))


def _pods(asked: Asked, look: Look) -> Iterator[str]:
    there = {(pod.group, pod.worker) for pod in look.pods.values()}
    wanted = {(group, worker) for group in range(asked.groups) for worker in range(asked.size)}
    if there != wanted:
        yield f"{asked.groups} group(s) of {asked.size} asked for, found {_told(look.pods)}"
    for group in range(asked.groups):
        revisions = {pod.revision for pod in look.pods.values() if pod.group == group}
        if len(revisions) > 1:
            yield f"group {group} is of several revisions: {', '.join(sorted(map(str, revisions)))}"


def _places(asked: Asked, look: Look, own_node: str | None) -> Iterator[str]:
    for group in range(asked.groups):
        nodes = [pod.node for pod in look.pods.values() if pod.group == group]
        if len(set(nodes)) < len(nodes):
            yield f"pods of group {group} share a node"
    if own_node in {pod.node for pod in look.pods.values()}:
        yield f"the benchmark shares node {own_node} with the engine"
    for node in look.nodes.values():
        if asked.instance is not None and node.instance_type != asked.instance:
            yield f"node {node.name} is a {node.instance_type}, asked for was {asked.instance}"
        if asked.zones and node.zone not in asked.zones:
            yield f"node {node.name} is in {node.zone}, asked for was {' or '.join(asked.zones)}"


def _images(asked: Asked, look: Look, unproven: list[str]) -> Iterator[str]:
    digest = asked.image.partition("@")[2]
    for pod in look.pods.values():
        if pod.image != asked.image:
            yield f"pod {pod.name} has {pod.image}, asked for was {asked.image}"
        if digest and "@" in pod.image_id and not pod.image_id.endswith(digest):
            yield f"pod {pod.name} runs {pod.image_id}, asked for was {digest}"
        if digest and "@" not in pod.image_id:
            unproven.append(f"images: the runtime names none by digest for pod {pod.name}")
    if not digest:
        unproven.append("images: the stack names no digest")
    ids = {pod.image_id for pod in look.pods.values()}
    if len(ids) > 1:
        yield f"the pods run different ones: {', '.join(sorted(ids))}"


def _arguments(
    asked: Asked, look: Look, told: Mapping[str, Told | str], namespace: str, unproven: list[str]
) -> Iterator[str]:
    for pod in look.pods.values():
        found = told.get(pod.name, "was not asked")
        try:
            wanted = asked.expanded(pod.group, pod.worker, namespace)
        except KeyError:
            continue  # said already: no such pod was asked for
        if isinstance(found, str):
            unproven.append(f"arguments: of pod {pod.name} as it runs: {found}")
        elif found.started != wanted:
            yield f"pod {pod.name} was started with {_difference(found.started, wanted)}"


def _difference(found: Sequence[str], wanted: Sequence[str]) -> str:
    more, less = [one for one in found if one not in wanted], [one for one in wanted if one not in found]
    return f"{' '.join(more) or 'nothing'} where {' '.join(less) or 'nothing'} was asked for"


def _servers(asked: Asked, servers: Sequence[Server], unproven: list[str]) -> Iterator[str]:
    for server in servers:
        version = server.version and server.version.partition("+")[0]
        for what, found, wanted in (
            ("version", version, asked.version),
            ("max_model_len", server.max_model_len, asked.max_model_len),
            ("KV cache in tokens", server.kv_tokens, asked.kv_tokens),
        ):
            if found is None or wanted is None:
                whose = "the server does not tell" if found is None else "the stack does not say"
                unproven.append(f"servers: {what} of {server.address}: {whose}")
            elif found != wanted:
                yield f"{what} of {server.address} is {found}, asked for was {wanted}"


def _told(pods: Mapping[str, Pod]) -> str:
    return ", ".join(sorted(pods)) or "none"


async def described(endpoint: Endpoint) -> Server:
    """Ask a server for its version and its sizes; what it does not tell is none."""
    version = await _object(endpoint, "/version")
    models = (await _object(endpoint, "/v1/models")).get("data")
    model = models[0] if isinstance(models, list) and models and isinstance(models[0], dict) else {}
    labels = await _cache(endpoint)
    length = model.get("max_model_len")
    return Server(
        address=endpoint.url,
        version=str(version["version"]) if "version" in version else None,
        max_model_len=length if isinstance(length, int) else None,
        kv_tokens=_whole(labels.get("kv_cache_size_tokens")),
        kv_blocks=_whole(labels.get("num_gpu_blocks")),
    )


async def _object(endpoint: Endpoint, path: str) -> dict[str, object]:
    exchange = await _answered(endpoint, path)
    return (json_object(exchange) or {}) if exchange is not None else {}


async def _cache(endpoint: Endpoint) -> dict[str, str]:
    exchange = await _answered(endpoint, "/metrics")
    found = _CACHE.search(exchange.body) if exchange is not None else None
    pairs = _LABEL.findall(found[1]) if found is not None else []
    return {name.decode(): value.decode(errors="replace") for name, value in pairs}


async def _answered(endpoint: Endpoint, path: str) -> Exchange | None:
    """Return a whole good answer; none of a server that gives no such one."""
    try:
        exchange = await endpoint.ask(path)
    except OSError:
        return None
    return exchange if exchange.error is None and exchange.status == 200 else None


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
