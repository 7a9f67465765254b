"""The programs of one node: containerd, kubelet, and the imports of its images."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rehearsal.cluster import command
from rehearsal.cluster.controlplane import API_ANSWERS, SERVER
from rehearsal.cluster.layout import DNS_ADDRESS, DOMAIN, Layout, node_address, pod_subnet
from rehearsal.cluster.pki import Authority
from rehearsal.cluster.plan import Program
from rehearsal.cluster.spec import Image, NodeSpec

SOCKET = "/run/containerd/containerd.sock"  # as the node sees it


@dataclass(frozen=True)
class Machine:
    """What the preflight found on this machine.

    Attributes:
        containerd: its binary.
        ctr: containerd's own client.
        cni: directory of the network plugins.
        snapshotter: `overlayfs`, or `native` where overlay mounts do not work.
    """

    containerd: Path
    ctr: Path
    cni: Path
    snapshotter: str


def socket_seen_by_cluster(node: str) -> str:
    """Return the path of the node's containerd socket in the cluster's own mount namespace."""
    return SOCKET.replace("/run/containerd/", f"/run/containerd/{node}/")


def base_spec(ctr: Path, shown: Mapping[str, str]) -> dict[str, Any]:
    """Return containerd's own default of a container, with the directories in `shown` mounted read-only."""
    spec: dict[str, Any] = json.loads(command.output(ctr, "oci", "spec"))
    spec["mounts"] += [
        {"destination": inside, "type": "bind", "source": outside, "options": ["rbind", "ro", "nosuid", "nodev"]}
        for inside, outside in sorted(shown.items())
    ]
    return spec


def _containerd(layout: Layout, machine: Machine, found: NodeSpec, index: int, sandbox_image: str) -> tuple[str, ...]:
    node = found.name
    networks = layout.config / node / "net.d"
    networks.mkdir(parents=True)
    # Point to point: every packet between pods is routed, so Service addresses work without bridge netfilter.
    plugin = {
        "type": "ptp",
        "ipMasq": False,
        "ipam": {
            "type": "host-local",
            "ranges": [[{"subnet": pod_subnet(index)}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    network = {"cniVersion": "0.4.0", "name": "splitbed", "plugins": [plugin]}
    (networks / "10-splitbed.conflist").write_text(json.dumps(network, indent=1))
    base = ""
    if found.shown:
        spec = layout.config / node / "base-spec.json"
        spec.write_text(json.dumps(base_spec(machine.ctr, found.shown), indent=1))
        base = f'base_runtime_spec = "{spec}"'
    config = layout.config / node / "containerd.toml"
    cri = 'plugins."io.containerd.grpc.v1.cri"'
    config.write_text(f"""\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
# The first would make /opt/containerd on the host; the others are snapshotters that nobody uses here.
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.tracing.processor.v1.otlp"]

[grpc]
address = "{SOCKET}"

[{cri}]
sandbox_image = "{sandbox_image}"
restrict_oom_score_adj = true  # lowering it needs CAP_SYS_RESOURCE, which root may lack
disable_apparmor = true  # its profile would be loaded into the host's kernel
enable_selinux = false
disable_tcp_service = true
tolerate_missing_hugetlb_controller = true

[{cri}.cni]
bin_dir = "{machine.cni}"
conf_dir = "{networks}"

[{cri}.containerd]
snapshotter = "{machine.snapshotter}"
default_runtime_name = "runc"

[{cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
{base}

[{cri}.containerd.runtimes.runc.options]
SystemdCgroup = false
""")
    return (str(machine.containerd), "--config", str(config))


def _kubelet_configuration(layout: Layout, authority: Authority, spec: NodeSpec, address: str) -> dict[str, Any]:
    node = spec.name
    serving = authority.issue(f"kubelet-{node}", f"system:node:{node}", "system:nodes", hosts=(node, address))
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "registerNode": spec.joins,
        "address": address,
        "port": 10250,
        "healthzBindAddress": address,
        "readOnlyPort": 0,
        "tlsCertFile": str(serving.certificate),
        "tlsPrivateKeyFile": str(serving.key),
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(authority.certificate)},
        },
        "authorization": {"mode": "Webhook"},
        "clusterDomain": DOMAIN,
        "clusterDNS": [DNS_ADDRESS],
        "resolvConf": "",
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{layout.cgroup}/{node}",
        "failCgroupV1": False,
        "failSwapOn": False,
        # The disk is the host's: how full it is, is no business of the rehearsal's.
        "evictionHard": {},
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        "localStorageCapacityIsolation": False,
        "makeIPTablesUtilChains": False,
        "oomScoreAdj": 0,
        "maxPods": 60,
        "nodeStatusUpdateFrequency": "5s",
        # A Secret that is filled after its pod has started, as the webhook's certificate is, is seen at the next one.
        "syncFrequency": "3s",
    }


def _kubelet(layout: Layout, binary: Path, authority: Authority, node: NodeSpec, address: str) -> tuple[str, ...]:
    config = layout.config / node.name / "kubelet.json"
    config.write_text(json.dumps(_kubelet_configuration(layout, authority, node, address), indent=1))
    kubeconfig = authority.kubeconfig(
        layout.pki / f"{node.name}.kubeconfig", SERVER, f"system:node:{node.name}", "system:nodes"
    )
    labels = ",".join(f"{key}={value}" for key, value in sorted(node.labels.items()))
    return (
        str(binary),
        f"--config={config}",
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={node.name}",
        f"--node-ip={address}",
        *([f"--node-labels={labels}"] if labels else []),
    )


def import_program(layout: Layout, machine: Machine, node: str, image: Image) -> Program:
    """Return the program that brings an image into a node's containerd."""
    name, _, tag = image.reference.rpartition("/")[2].partition(":")
    return Program(
        name=f"import/{node}/{name}-{tag}" if tag else f"import/{node}/{name}",
        argv=(
            str(machine.ctr),
            f"--address={SOCKET}",
            "--namespace=k8s.io",
            "images",
            "import",
            f"--snapshotter={machine.snapshotter}",
            str(image.archive.resolve()),
        ),
        log=str(layout.logs / f"import-{node}.log"),
        node=node,
        needs=(f"unix:{socket_seen_by_cluster(node)}",),
        once=True,
    )


def programs(
    layout: Layout,
    tools: Mapping[str, Path],
    machine: Machine,
    authority: Authority,
    node: NodeSpec,
    index: int,
    sandbox_image: str,
) -> tuple[Program, ...]:
    """Write a node's configuration and return its programs."""
    containerd = Program(
        name=f"containerd/{node.name}",
        argv=_containerd(layout, machine, node, index, sandbox_image),
        log=str(layout.logs / f"containerd-{node.name}.log"),
        node=node.name,
    )
    kubelet = Program(
        name=f"kubelet/{node.name}",
        argv=_kubelet(layout, tools["kubelet"], authority, node, node_address(index)),
        log=str(layout.logs / f"kubelet-{node.name}.log"),
        node=node.name,
        needs=(f"unix:{socket_seen_by_cluster(node.name)}", API_ANSWERS),
    )
    return containerd, kubelet
