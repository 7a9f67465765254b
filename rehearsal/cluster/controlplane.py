"""The programs of which a cluster has one: API server, its store, controllers, names and Service addresses."""

from collections.abc import Mapping
from pathlib import Path

from rehearsal.cluster.layout import (
    API_ADDRESS,
    API_PORT,
    API_SERVICE_ADDRESS,
    DNS_ADDRESS,
    DOMAIN,
    POD_NETWORK,
    SERVICE_NETWORK,
    Layout,
)
from rehearsal.cluster.pki import Authority, write_private
from rehearsal.cluster.plan import Program
from rehearsal.cluster.spec import ClusterSpec

SERVER = f"https://127.0.0.1:{API_PORT}"
API_ANSWERS = f"tcp:127.0.0.1:{API_PORT}"
API_READY = f"{SERVER}/readyz"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "coredns")
_ETCD = "http://127.0.0.1:2379"
_ETCD_ANSWERS = "tcp:127.0.0.1:2379"
_PROXY = "http://127.0.0.1:10256"


def gates(spec: ClusterSpec) -> dict[str, str]:
    """Return what tells that something works, by the gate's name."""
    # The first asks for the proxy's node besides, which no kubelet has made where somebody else is to.
    alive = "healthz" if any(node.joins for node in spec.nodes) else "livez"
    return {"gate/api": API_READY, "gate/dns": f"tcp:{DNS_ADDRESS}:53", "gate/services": f"{_PROXY}/{alive}"}


_API_NAMES = (
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    f"kubernetes.default.svc.{DOMAIN}",
    "localhost",
    "127.0.0.1",
    API_ADDRESS,
    API_SERVICE_ADDRESS,
)


def _etcd(layout: Layout, binary: Path) -> tuple[str, ...]:
    data = layout.state / "etcd"
    data.mkdir(mode=0o700)
    return (
        str(binary),
        f"--data-dir={data}",
        "--name=rehearsal",
        f"--listen-client-urls={_ETCD}",
        f"--advertise-client-urls={_ETCD}",
        "--listen-peer-urls=http://127.0.0.1:2380",
        "--initial-advertise-peer-urls=http://127.0.0.1:2380",
        "--initial-cluster=rehearsal=http://127.0.0.1:2380",
        # The data outlives a killed etcd all the same; only a power cut, which ends the cluster anyway, would not do.
        "--unsafe-no-fsync",
        "--log-level=warn",
    )


def _api_server(layout: Layout, binary: Path, authority: Authority, spec: ClusterSpec) -> tuple[str, ...]:
    serving = authority.issue("kube-apiserver", "kube-apiserver", hosts=_API_NAMES)
    to_kubelets = authority.issue("kubelet-client", "kube-apiserver-kubelet-client", "system:masters")
    private, public = authority.signing_key("service-accounts")
    # Aggregated APIs tell the API server from impostors by another authority's certificate.
    front = Authority(layout.pki / "front-proxy")
    as_proxy = front.issue("client", "front-proxy-client")
    return (
        str(binary),
        f"--advertise-address={API_ADDRESS}",
        f"--secure-port={API_PORT}",
        f"--etcd-servers={_ETCD}",
        f"--service-cluster-ip-range={SERVICE_NETWORK}",
        f"--client-ca-file={authority.certificate}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
        f"--kubelet-certificate-authority={authority.certificate}",
        f"--kubelet-client-certificate={to_kubelets.certificate}",
        f"--kubelet-client-key={to_kubelets.key}",
        f"--requestheader-client-ca-file={front.certificate}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={as_proxy.certificate}",
        f"--proxy-client-key-file={as_proxy.key}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--service-account-issuer=https://kubernetes.default.svc.{DOMAIN}",
        f"--service-account-key-file={public}",
        f"--service-account-signing-key-file={private}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--enable-aggregator-routing=true",  # webhooks are reached by pod address
        "--allow-privileged=true",
        "--profiling=false",
        *_sign_in(layout, spec.token),
    )


def _sign_in(layout: Layout, token: str) -> tuple[str, ...]:
    if not token:
        return ()
    path = layout.pki / "tokens.csv"
    write_private(path, f'{token},splitbed-rehearsal,1,"system:masters"\n'.encode())
    return (f"--token-auth-file={path}",)


def _delegating(layout: Layout, binary: Path, authority: Authority, name: str) -> tuple[str, ...]:
    """Return what starts a daemon of one copy that asks the API server who may ask it."""
    kubeconfig = authority.kubeconfig(layout.pki / f"{name}.kubeconfig", SERVER, f"system:kube-{name}")
    return (
        str(binary),
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
        "--profiling=false",
    )


def _controller_manager(layout: Layout, binary: Path, authority: Authority) -> tuple[str, ...]:
    return (
        *_delegating(layout, binary, authority, "controller-manager"),
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={layout.pki / 'service-accounts.key'}",
        f"--root-ca-file={authority.certificate}",
        f"--cluster-cidr={POD_NETWORK}",
    )


def _proxy(layout: Layout, binary: Path, authority: Authority, node: str) -> tuple[str, ...]:
    kubeconfig = authority.kubeconfig(layout.pki / "proxy.kubeconfig", SERVER, "system:kube-proxy")
    return (
        str(binary),
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={node}",
        "--proxy-mode=iptables",
        f"--cluster-cidr={POD_NETWORK}",
        "--bind-address=127.0.0.1",
        "--healthz-bind-address=127.0.0.1:10256",
        "--metrics-bind-address=127.0.0.1:10249",
        # These would change the whole machine.
        "--conntrack-max-per-core=0",
        "--conntrack-tcp-timeout-established=0",
        "--conntrack-tcp-timeout-close-wait=0",
        "--oom-score-adj=0",
        "--iptables-min-sync-period=200ms",
    )


def _dns(layout: Layout, binary: Path, authority: Authority) -> tuple[str, ...]:
    kubeconfig = authority.kubeconfig(layout.pki / "coredns.kubeconfig", SERVER, "coredns", "system:masters")
    corefile = layout.config / "Corefile"
    corefile.write_text(
        ".:53 {\n"
        f"    bind {DNS_ADDRESS}\n"
        "    errors\n"
        f"    kubernetes {DOMAIN} in-addr.arpa ip6.arpa {{\n"
        f"        kubeconfig {kubeconfig}\n"
        "        ttl 1\n"
        "    }\n"
        "}\n"
    )
    return (str(binary), "-conf", str(corefile))


def programs(layout: Layout, tools: Mapping[str, Path], authority: Authority, spec: ClusterSpec) -> tuple[Program, ...]:
    """Write the control plane's configuration and return its programs.

    Args:
        layout: of the cluster.
        tools: a binary for each of `PROGRAMS`.
        authority: issues the certificates.
        spec: of the cluster; the one kube-proxy that all nodes share, as they share the network, has the first's name.
    """
    argvs = {
        "etcd": (_etcd(layout, tools["etcd"]), ()),
        "kube-apiserver": (_api_server(layout, tools["kube-apiserver"], authority, spec), (_ETCD_ANSWERS,)),
        "kube-controller-manager": (
            _controller_manager(layout, tools["kube-controller-manager"], authority),
            (API_READY,),
        ),
        "kube-scheduler": (_delegating(layout, tools["kube-scheduler"], authority, "scheduler"), (API_READY,)),
        "kube-proxy": (_proxy(layout, tools["kube-proxy"], authority, spec.nodes[0].name), (API_READY,)),
        "coredns": (_dns(layout, tools["coredns"], authority), (API_READY,)),
    }
    daemons = (
        Program(name=name, argv=argv, log=str(layout.logs / f"{name}.log"), needs=needs)
        for name, (argv, needs) in argvs.items()
    )
    waited_for = (
        Program(name=name, argv=("true",), log=str(layout.logs / "gates.log"), needs=(need,), once=True)
        for name, need in gates(spec).items()
    )
    return (*daemons, *waited_for)
