"""Settings that are right one by one and wrong together."""

from experiment.engine import Engine
from experiment.problem import Problem
from experiment.topology import Topology

_UNWARMED = (
    "a pipeline stage makes the buffers for what its neighbour sends while it warms up, and this skips the warm-up: "
    "vLLM 0.31.0 dies at the first request"
)
_REMEDY = "Take compilation: {mode: 2, backend: eager}, which compiles nothing either."


def check(engine: Engine, topology: Topology) -> list[Problem]:
    """Return what this engine cannot do in this topology."""
    if topology.kind != "split":
        return []
    found = []
    if engine.compilation is not None and engine.compilation.mode == 0:
        found.append(Problem("engine.compilation.mode", "0 with topology.kind split", _UNWARMED, _REMEDY))
    if engine.flags.get("enforce-eager"):
        found.append(Problem("engine.flags.enforce-eager", "true with topology.kind split", _UNWARMED, _REMEDY))
    return found
