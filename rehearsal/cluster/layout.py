"""Where a cluster keeps its files, and which addresses it uses inside its own network."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from rehearsal.home import home

# Every cluster has a network namespace to itself, so all of them use the same addresses.
API_ADDRESS = "10.89.0.1"
DNS_ADDRESS = "10.89.0.53"
API_PORT = 6443
SERVICE_NETWORK = "10.96.0.0/16"
API_SERVICE_ADDRESS = "10.96.0.1"
POD_NETWORK = "10.244.0.0/16"
DOMAIN = "cluster.local"

# Paths that daemons write to whatever their configuration says. Inside the cluster each is a directory of the
# cluster's own, and on each node a directory of that node's own, as on machines apart; it keeps them off the host
# and short enough for socket paths.
STATE_PATHS = {
    "/var/lib/cni": "state/cni",
    "/var/lib/containerd": "state/containerd",
    "/var/lib/kubelet": "state/kubelet",
    "/var/lib/splitbed": "state/splitbed",
    "/var/log/containers": "logs/containers",
    "/var/log/pods": "logs/pods",
    "/var/log/splitbed": "logs/splitbed",
    "/run/containerd": "run/containerd",
    "/run/netns": "run/netns",
    "/usr/libexec/kubernetes": "state/plugins",
}


def node_address(index: int) -> str:
    """Return the address of the `index`-th node (from 0)."""
    return f"10.89.1.{index + 1}"


def pod_subnet(index: int) -> str:
    """Return the subnet of the pods on the `index`-th node."""
    return f"10.244.{index + 1}.0/24"


def clusters_home() -> Path:
    """Return the directory of all clusters of this home."""
    return home() / "clusters"


_CGROUP_PREFIX = "splitbed-"


def is_cluster_cgroup(name: str) -> bool:
    """Tell whether a top control group is named after a cluster, of any home."""
    return name.startswith(_CGROUP_PREFIX)


def is_own_cgroup(name: str) -> bool:
    """Tell whether a top control group is that of a cluster of this home, running or not."""
    cluster = name.removeprefix(_CGROUP_PREFIX).rpartition("-")[0]
    return is_cluster_cgroup(name) and Layout.of(cluster).cgroup == name


@dataclass(frozen=True)
class Layout:
    """The directory of one cluster."""

    path: Path

    @classmethod
    def of(cls, name: str) -> "Layout":
        """Return the layout of the cluster `name`; nothing is created."""
        return cls(clusters_home().resolve() / name)

    @property
    def cgroup(self) -> str:
        """The name of its cgroup, its own even among clusters of the same name in other homes."""
        return f"{_CGROUP_PREFIX}{self.path.name}-{hashlib.sha256(str(self.path).encode()).hexdigest()[:8]}"

    @property
    def kubeconfig(self) -> Path:
        """For clients on the host."""
        return self.path / "kubeconfig"

    @property
    def pki(self) -> Path:
        """Certificates, keys and the programs' own kubeconfigs."""
        return self.path / "pki"

    @property
    def logs(self) -> Path:
        """One file per program."""
        return self.path / "logs"

    @property
    def config(self) -> Path:
        """The programs' configuration files."""
        return self.path / "config"

    @property
    def state(self) -> Path:
        """Stores and working directories of the daemons."""
        return self.path / "state"

    @property
    def temporary(self) -> Path:
        """Where its daemons put what else would be left in /tmp when they are killed."""
        return self.path / "run" / "tmp"

    @property
    def plan(self) -> Path:
        """What the first process runs."""
        return self.path / "plan.json"

    @property
    def status(self) -> Path:
        """What the first process says about it."""
        return self.path / "status.json"

    @property
    def ready(self) -> Path:
        """Exists once `up` has finished; holds the cluster's spec."""
        return self.path / "ready.json"

    def on_node(self, node: str, path: str) -> Path:
        """Return where this machine keeps what a node sees at a path.

        Raises:
            ValueError: the path is this machine's own, which all nodes see.
        """
        for state, below in STATE_PATHS.items():
            if path == state or path.startswith(f"{state}/"):
                return self.path / below / node / path.removeprefix(state).lstrip("/")
        raise ValueError(f"no node has a {path} of its own")

    def make(self) -> None:
        """Create the directories, readable by their owner alone."""
        self.path.mkdir(parents=True, mode=0o700)
        for directory in (self.pki, self.logs, self.config, self.state):
            directory.mkdir(mode=0o700)
        for below in STATE_PATHS.values():
            (self.path / below).mkdir(parents=True, exist_ok=True)
        self.temporary.mkdir()
