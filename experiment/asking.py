"""What a stack asks for, as the benchmark is told it (`experiment.asked`)."""

from experiment import arguments, names
from experiment.arguments import AGENT_PORT, HTTP_PORT
from experiment.asked import Asked, Role
from experiment.cluster import EksCluster
from experiment.errors import SplitbedError
from experiment.nodes import InstanceGroup
from experiment.plan.cache import cpu_pool, given_bytes
from experiment.settings import Settings


def asked(settings: Settings) -> Asked:
    """Return it for a stack that serves something."""
    topology, engine, nodes = settings.topology, settings.engine, settings.nodes.engine
    roles: tuple[Role, ...] = ("leader", "worker") if topology.size > 1 else ("leader",)
    zones: tuple[str, ...] = ()
    if isinstance(settings.cluster, EksCluster) and isinstance(nodes, InstanceGroup):
        zones = settings.cluster.zones if nodes.spread else settings.cluster.zones[:1]
    return Asked(
        experiment=settings.name,
        set_name=names.object_name(settings.name),
        groups=topology.groups,
        size=topology.size,
        http_port=HTTP_PORT,
        agent_port=AGENT_PORT,
        arguments={role: arguments.serve(role, settings.model, engine, topology) for role in roles},
        image=settings.engine_image,
        version=engine.version,
        max_model_len=engine.max_model_len,
        kv_tokens=_kv_tokens(settings),
        instance=nodes.instance if isinstance(nodes, InstanceGroup) else None,
        zones=zones,
    )


def replica_urls(settings: Settings) -> tuple[str, ...]:
    """Return the address of each copy of the model, where there are several; beside the Service, which balances them.

    They are names of the LeaderWorkerSet's own headless Service, so that a copy that is made anew has its old one.
    """
    if settings.topology.groups < 2:
        return ()
    name = names.object_name(settings.name)
    return tuple(f"http://{name}-{group}.{name}.{name}.svc:{HTTP_PORT}" for group in range(settings.topology.groups))


def _kv_tokens(settings: Settings) -> int | None:
    """Return the size of each copy's cache where that is the engine's own exact arithmetic: on CPUs, of given size."""
    geometry, given = settings.model.known_geometry, given_bytes(settings.engine)
    if settings.device == "gpu" or geometry is None or given is None:
        return None
    try:
        pool = cpu_pool(settings, geometry, pipeline=settings.topology.size)
    except SplitbedError:
        return None  # the plan refuses it
    return pool.cache(given, settings.engine.max_model_len).tokens
