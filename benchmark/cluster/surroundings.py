"""What a session is given inside a cluster, beside the address under test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from benchmark.cluster.agents import AgentError, agent_at, peers
from benchmark.cluster.apiserver import ApiServer
from benchmark.cluster.killer import PodKiller
from benchmark.cluster.witness import ClusterWitness
from benchmark.connection import Clock
from benchmark.endpoint import Endpoint
from benchmark.peers import Peers, Seer
from benchmark.session import Surroundings
from experiment.asked import Asked


@dataclass(frozen=True)
class _Agent:
    endpoint: Endpoint

    async def peers(self) -> frozenset[tuple[str, int]]:
        """See `Seer`."""
        try:
            return await peers(self.endpoint)
        except AgentError:
            return frozenset()


def in_cluster(
    surroundings: Surroundings, asked: Asked, api: ApiServer, clock: Clock, own_node: str | None
) -> Surroundings:
    """Add who looks at pods, who kills them, and who sees the replica behind a connection."""
    witness = ClusterWitness(api, asked, clock, own_node)
    return replace(
        surroundings,
        witness=witness,
        prover=witness,
        killer=PodKiller(api, asked.set_name),
        peers=Peers(_seers(surroundings.replicas, asked, clock)),
    )


def _seers(replicas: Sequence[Endpoint], asked: Asked, clock: Clock) -> list[tuple[str, Seer]]:
    """Return each replica's agent, which is at the replica's own address."""
    found: list[tuple[str, Seer]] = []
    for replica in replicas:
        agent = agent_at(urlsplit(replica.url).hostname, asked.agent_port, clock)
        if agent is not None:
            found.append((replica.url, _Agent(agent)))
    return found
