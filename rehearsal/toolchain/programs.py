"""The programs as data: where each comes from, what it costs, and how it says its version."""

import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from experiment.versions import COLLECTOR_VERSION, LWS_VERSION

MODULES = Path(__file__).parents[1] / "tools"  # one Go module a directory: together their requirements clash

_PLUGIN = metadata.version("pulumi-kubernetes")  # the SDK asks for a plugin of its own version
_KUBERNETES = "1.34.4"
_KUBERNETES_STAMPS = (
    f"k8s.io/component-base/version.gitVersion=v{_KUBERNETES}",
    "k8s.io/component-base/version.gitMajor=1",
    "k8s.io/component-base/version.gitMinor=34",
    "k8s.io/component-base/version.gitTreeState=clean",
)
_VERSION = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True, kw_only=True)
class Program:
    """One program.

    Attributes:
        name: what it is called, and its file.
        module: directory of its Go module below `MODULES`.
        package: Go package of its main function, or "." for the module's own.
        source: Go module, pinned in that directory's go.mod, which the package is from; "" for our own.
        version: the version that is built, without a "v".
        stamps: linker settings "variable=value" that write the version into it.
        embeds: files of the source module that the module's own main embeds.
        cold_minutes: measured on 2 cores with other work beside it, from empty Go caches, in the order of
            `PROGRAMS`: later ones find there what earlier ones needed too.
        fetched_mib: what that adds to Go's module cache.
        compiled_mib: what that adds to Go's build cache; while it runs, as much again is scratch.
        version_argument: with this argument the program prints its version and exits.
        fits: versions that are as good when found on this machine; None if only our own build will do.
        places: where else than on PATH one may be; "~" is the user's home.
    """

    name: str
    module: str
    package: str
    source: str
    version: str
    stamps: tuple[str, ...] = ()
    embeds: tuple[str, ...] = ()
    cold_minutes: float
    fetched_mib: int
    compiled_mib: int
    version_argument: str = "--version"
    fits: SpecifierSet | None = None
    places: tuple[str, ...] = ()

    @property
    def directory(self) -> Path:
        """The Go module it is built in."""
        return MODULES / self.module

    @property
    def ldflags(self) -> str:
        """The linker's flags: no debug information, and the version."""
        return " ".join(["-s -w", *(f"-X {stamp}" for stamp in self.stamps)])

    def accepts(self, version: str) -> bool:
        """Tell whether that version, found on this machine, will do."""
        try:
            return self.fits is not None and Version(version) in self.fits
        except InvalidVersion:
            return False


def version_in(output: str) -> str | None:
    """Return the first version such as 1.34.4 in what a program printed about itself."""
    match = _VERSION.search(output)
    return match.group() if match else None


def _kubernetes(name: str, cold_minutes: float, fetched_mib: int, compiled_mib: int) -> Program:
    return Program(
        name=name,
        module="kubernetes",
        package=f"k8s.io/kubernetes/cmd/{name}",
        source="k8s.io/kubernetes",
        version=_KUBERNETES,
        stamps=_KUBERNETES_STAMPS,
        cold_minutes=cold_minutes,
        fetched_mib=fetched_mib,
        compiled_mib=compiled_mib,
        fits=SpecifierSet("~=1.34.4"),
    )


_ALL = (
    Program(
        name="pause",
        module="pause",
        package=".",
        source="",
        version="1.0.0",
        stamps=("main.version=1.0.0",),
        cold_minutes=0.3,
        fetched_mib=0,
        compiled_mib=50,
        version_argument="-version",
    ),
    Program(
        name="pulumi",
        module="pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        source="github.com/pulumi/pulumi/pkg/v3",
        version="3.274.1",
        # Without a version of its own the Automation API refuses the command.
        stamps=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.274.1",),
        cold_minutes=5.2,
        fetched_mib=1600,
        compiled_mib=1700,
        version_argument="version",
        fits=SpecifierSet(">=3.272.0,<4"),
        places=("~/.pulumi/bin/pulumi",),
    ),
    Program(
        name="pulumi-resource-kubernetes",
        module="pulumi-kubernetes",
        package=".",
        source="github.com/pulumi/pulumi-kubernetes/provider/v4",
        # The Python SDK asks for a provider of its own version; the module's is a commit of 2026-01-15.
        version=_PLUGIN,
        stamps=(f"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version={_PLUGIN}",),
        embeds=(
            "cmd/pulumi-resource-kubernetes/schema.json",
            "cmd/pulumi-resource-kubernetes/terraform-mapping.json",
        ),
        cold_minutes=9.0,
        fetched_mib=800,
        compiled_mib=4200,
        version_argument="-version",
        # The official one is asked for no version: its directory is named by it.
        places=(f"~/.pulumi/plugins/resource-kubernetes-v{_PLUGIN}/pulumi-resource-kubernetes",),
    ),
    Program(
        name="etcd",
        module="etcd",
        package="go.etcd.io/etcd/server/v3",
        source="go.etcd.io/etcd/server/v3",
        version="3.6.16",
        cold_minutes=1.5,
        fetched_mib=160,
        compiled_mib=200,
        fits=SpecifierSet(">=3.6,<4"),  # with 3.4 the API server times out: "Too large resource version"
    ),
    _kubernetes("kube-apiserver", 5.3, 510, 2000),
    _kubernetes("kube-controller-manager", 2.1, 70, 600),
    _kubernetes("kube-scheduler", 0.2, 0, 20),
    _kubernetes("kubelet", 0.9, 5, 160),
    _kubernetes("kube-proxy", 0.3, 10, 40),
    Program(
        name="coredns",
        module="coredns",
        package="github.com/coredns/coredns",
        source="github.com/coredns/coredns",
        version="1.15.0",
        cold_minutes=2.8,
        fetched_mib=1600,
        compiled_mib=820,
        version_argument="-version",
        fits=SpecifierSet(">=1.11,<2"),
    ),
    Program(
        name="lws-manager",
        module="lws",
        package="sigs.k8s.io/lws/cmd",
        source="sigs.k8s.io/lws",
        version=LWS_VERSION,
        stamps=(f"sigs.k8s.io/lws/pkg/version.GitVersion=v{LWS_VERSION}",),
        cold_minutes=2.7,
        fetched_mib=320,
        compiled_mib=900,
        version_argument="-version",
    ),
    Program(
        name="kwok",
        module="kwok",
        package="sigs.k8s.io/kwok/cmd/kwok",
        source="sigs.k8s.io/kwok",
        version="0.7.0",
        cold_minutes=2.4,
        fetched_mib=180,
        compiled_mib=580,
        fits=SpecifierSet(">=0.7,<0.8"),
    ),
    Program(
        name="otelcol",
        module="otelcol",
        package=".",
        source="github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver",
        version=COLLECTOR_VERSION,
        stamps=(f"main.version={COLLECTOR_VERSION}",),
        cold_minutes=1.9,
        fetched_mib=200,
        compiled_mib=700,
    ),
    Program(
        name="actionlint",
        module="actionlint",
        package="github.com/rhysd/actionlint/cmd/actionlint",
        source="github.com/rhysd/actionlint",
        version="1.7.12",
        stamps=("github.com/rhysd/actionlint.version=1.7.12",),
        cold_minutes=0.4,
        fetched_mib=30,
        compiled_mib=80,
        version_argument="-version",
        fits=SpecifierSet("~=1.7.12"),
    ),
)

PROGRAMS = {program.name: program for program in _ALL}

ON_REQUEST = frozenset({"kwok", "otelcol", "actionlint"})
"""What a plain rehearsal does without; built when a stack or a test asks for it."""
