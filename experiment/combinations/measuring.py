"""What tests ask of a topology that another one has."""

from experiment.benchmark import Benchmark
from experiment.kinds.loads import Loss
from experiment.kinds.sharing import FollowUp
from experiment.problem import Problem
from experiment.topology import Topology


def the_victims_are_there(topology: Topology, benchmark: Benchmark | None) -> list[Problem]:
    """Only a split has workers, and only several copies have one that can be spared."""
    there = {"leader": True, "worker": topology.size > 1, "replica": topology.groups > 1}
    found = []
    for place, test in enumerate(benchmark.tests if benchmark and topology.groups else ()):
        for victim in test.victims if isinstance(test, Loss) else ():
            if not there[victim]:
                path = f"benchmark.tests.{place}.victims"
                why = f"a topology of kind {topology.kind} has no {victim} to kill"
                remedy = f"Take {' or '.join(one for one, is_there in there.items() if is_there)}."
                found.append(Problem(path, f"{victim} with topology.kind {topology.kind}", why, remedy))
    return found


def the_replicas_are_there(topology: Topology, benchmark: Benchmark | None) -> list[Problem]:
    """A single copy has no address beside its Service."""
    return [
        Problem(
            f"benchmark.tests.{place}.routes",
            f"replica with topology.kind {topology.kind}",
            "there is one copy, which is asked by its Service",
            "Take routes: [service].",
        )
        for place, test in enumerate(benchmark.tests if benchmark and topology.groups == 1 else ())
        if isinstance(test, FollowUp) and "replica" in test.routes
    ]


RULES = (the_victims_are_there, the_replicas_are_there)
