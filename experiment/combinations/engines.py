"""What the engine cannot do in some topology or on some device, and what the controller's version does not know."""

from experiment.engine import Engine
from experiment.lws import Lws, knows
from experiment.nodes import Nodes, gpus
from experiment.problem import Problem
from experiment.threads import VARIABLES
from experiment.topology import Topology

_UNWARMED = (
    "a pipeline stage makes the buffers for what its neighbour sends while it warms up, and this skips the warm-up: "
    "vLLM 0.31.0 dies at the first request"
)
_REMEDY = "Take compilation: {mode: 2, backend: eager}, which compiles nothing either."


def a_split_is_warmed_up(engine: Engine, topology: Topology) -> list[Problem]:
    """Without compilation nor eager backend there is no warm-up."""
    if topology.kind != "split":
        return []
    found = []
    if engine.compilation is not None and engine.compilation.mode == 0:
        found.append(Problem("engine.compilation.mode", "0 with topology.kind split", _UNWARMED, _REMEDY))
    if engine.flags.get("enforce-eager"):
        found.append(Problem("engine.flags.enforce-eager", "true with topology.kind split", _UNWARMED, _REMEDY))
    return found


def threads_are_set_once(nodes: Nodes, engine: Engine) -> list[Problem]:
    """Threads are the CPU backend's; whole cores are given to pods that ask for whole cores."""
    if engine.threads == "free":
        return []
    found = []
    if gpus(nodes.engine):
        why = "threads are bound by the CPU backend only"
        found.append(Problem("engine.threads", f"{engine.threads} with GPU nodes", why, "Leave it out."))
    if engine.threads == "whole-cores" and engine.resources.cpu != int(engine.resources.cpu):
        why = "the static CPU manager gives cores of its own only to a pod that asks for a whole number of them"
        remedy = f"Take cpu: {int(engine.resources.cpu) or 1}, or threads: within-quota."
        found.append(Problem("engine.resources.cpu", f"{engine.resources.cpu:g} with threads whole-cores", why, remedy))
    for name in sorted(VARIABLES & engine.env.keys()):
        why = f"engine.threads is {engine.threads}, which sets this variable"
        found.append(Problem(f"engine.env.{name}", "", why, "Leave one of the two out."))
    return found


def the_controller_knows_the_policy(lws: Lws) -> list[Problem]:
    """A policy that the controller's version does not know is refused by its API, or worse, taken for another."""
    if knows(lws.version, lws.restart_policy):
        return []
    why = f"version {lws.version} of LeaderWorkerSet does not know this policy"
    remedy = "Take restart_policy: RecreateGroupOnPodRestart, or a controller of version 0.9.0 or later."
    return [Problem("lws.restart_policy", f"{lws.restart_policy} with lws.version {lws.version}", why, remedy)]


RULES = (a_split_is_warmed_up, threads_are_set_once, the_controller_knows_the_policy)
