"""A real Kubernetes on this machine, in network, mount and PID namespaces of its own.

    spec = ClusterSpec("rehearsal-split")              # system-0, engine-0, engine-1
    check_user()                                       # is this root, on Linux? all else can be installed
    check()                                            # SplitbedError in one sentence when it cannot work here
    cluster = up(spec, tools, images, progress)        # all nodes Ready, all images on every node
    cluster.kubeconfig                                 # Path; for any client on the host
    cluster.programs()                                 # state, starts and last exit status of each program
    cluster.wait_ready(progress)                       # after something was killed
    cluster.alive()                                    # does its first process run?
    cluster.pids()                                     # {"supervisor": 4711, "kubelet/engine-0": 4720, ...}, host PIDs
    cluster.cgroup                                     # in the paths of all its pods' control groups
    pids_of("rehearsal-split")                         # the same as pids(), also of a cluster that is still starting
    cluster.import_images(images, progress)            # further images, on every node
    cluster.add_kwok_nodes([KwokNode(...)], tools["kwok"], progress)
    cluster.logs                                       # Path; one file per program, pods' logs below pods/<node>/
    find("rehearsal-split")                            # Cluster, or None when it is not up (or only half)
    down("rehearsal-split", progress)                  # idempotent, from any partial state

`tools` maps program names to binaries: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kube-proxy,
kubelet, coredns. `images` needs the pause image among them (a reference whose last part is `pause:<tag>`), which
becomes containerd's sandbox image. Everything a cluster owns lies in `home()/clusters/<name>`, its cgroups are
named after it, and its processes carry `SPLITBED_CLUSTER=<that directory>` in their environment. Unpacked images are
kept in `home()/unpacked` for the next cluster, which gets hard links to them.

Each node sees, in a mount namespace of its own, the directories that kubelet and containerd use as its own
(`layout.STATE_PATHS`); all else of the host's files is there, so that a hostPath volume reaches the host. All nodes
share one network: node addresses are on its loopback interface, pods are routed point to point.

SIGKILL to the first process (`cluster.pids()["supervisor"]`) ends all of it at once; `down` then sweeps up what
files and cgroups are left. A program that dies is started again; `up` killed on its way takes the half-started
cluster with it.
"""

from rehearsal.cluster.cluster import Cluster
from rehearsal.cluster.lifecycle import check_machine as check
from rehearsal.cluster.lifecycle import down, find, pids_of, up
from rehearsal.cluster.preflight import check_user
from rehearsal.cluster.spec import DEFAULT_NODES, ClusterSpec, Image, KwokNode, NodeSpec, Outlet
from rehearsal.cluster.status import ClusterError

__all__ = [
    "DEFAULT_NODES",
    "Cluster",
    "ClusterError",
    "ClusterSpec",
    "Image",
    "KwokNode",
    "NodeSpec",
    "Outlet",
    "check",
    "check_user",
    "down",
    "find",
    "pids_of",
    "up",
]
