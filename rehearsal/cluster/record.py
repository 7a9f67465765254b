"""What is written down about a cluster that has come up."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rehearsal.cluster.node import Machine
from rehearsal.cluster.spec import ClusterSpec, NodeSpec, Outlet
from stackfiles.atomic import write_atomically


@dataclass(frozen=True)
class Record:
    """A cluster's spec, the machine's programs it uses, and what else a handle needs.

    Attributes:
        server: the API server's address on the host.
        images: references of those that every node has from the beginning.
    """

    spec: ClusterSpec
    machine: Machine
    server: str
    images: tuple[str, ...]

    def save(self, path: Path) -> None:
        """Write the record, at once or not at all."""
        write_atomically(path, json.dumps(asdict(self), default=str, indent=1))

    @classmethod
    def load(cls, path: Path) -> "Record":
        """Read a record that `save` wrote."""
        found = json.loads(path.read_text())
        spec = found["spec"]
        nodes = tuple(NodeSpec(**node) for node in spec["nodes"])
        outlets = tuple(Outlet(**outlet) for outlet in spec["outlets"])
        machine = found["machine"]
        paths = {key: Path(machine[key]) for key in ("containerd", "ctr", "cni")}
        return cls(
            ClusterSpec(**{**spec, "nodes": nodes, "outlets": outlets}),
            Machine(**{**machine, **paths}),
            found["server"],
            tuple(found["images"]),
        )
