"""What the first process of a cluster sets up and runs: written by `up`, read inside the namespaces."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stackfiles.atomic import write_atomically


@dataclass(frozen=True)
class Program:
    """A program that is kept running, or one that must succeed once.

    Attributes:
        name: unique in the cluster, such as `kubelet/engine-0`.
        argv: the command; secrets never stand in it.
        log: where its output goes, appended.
        node: run in this node's mount namespace; empty for the cluster's own.
        needs: started when all of these hold: `unix:<path>` and `tcp:<host>:<port>` accept a connection,
            `http://...` and `https://...` answer 200, `done:<program>` has succeeded.
        once: ends by itself; tried again until it succeeds.
        listener: number of the descriptor it inherits, or -1.
    """

    name: str
    argv: tuple[str, ...]
    log: str
    node: str = ""
    needs: tuple[str, ...] = ()
    once: bool = False
    listener: int = -1


@dataclass(frozen=True)
class Plan:
    """Everything inside a cluster's namespaces.

    Attributes:
        status: where the supervisor writes what runs.
        authority: CA certificate for `https` needs.
        addresses: put on the loopback interface.
        binds: path to directory, bound for the whole cluster.
        nodes: each gets a mount namespace where every path of `binds` is its own subdirectory.
        programs: what to run.
    """

    status: str
    authority: str
    addresses: tuple[str, ...] = ()
    binds: dict[str, str] = field(default_factory=dict)
    nodes: tuple[str, ...] = ()
    programs: tuple[Program, ...] = ()

    def save(self, path: Path) -> None:
        """Write the plan, at once or not at all."""
        write_atomically(path, json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, path: Path) -> "Plan":
        """Read a plan that `save` wrote."""
        found: dict[str, Any] = json.loads(path.read_text())
        programs = tuple(
            Program(**{**program, "argv": tuple(program["argv"]), "needs": tuple(program["needs"])})
            for program in found["programs"]
        )
        lists = {key: tuple(found[key]) for key in ("addresses", "nodes")}
        return cls(**{**found, **lists, "programs": programs})
