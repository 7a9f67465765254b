"""Debian packages that a rehearsal needs, and putting the missing ones on this machine without side effects."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import SplitbedError
from rehearsal.child import duration, run_to_log
from rehearsal.progress import Progress
from rehearsal.searchpath import on_path, search_path

CNI_DIRECTORIES = (Path("/usr/lib/cni"), Path("/opt/cni/bin"), Path("/usr/libexec/cni"))
CNI_PLUGINS = ("ptp", "host-local", "loopback")
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")

_LOCK_SECONDS = 300  # how long apt waits for another apt
# A package's scripts start its services where systemd runs, which they see by this directory. It is hidden
# from them by a mount of their own: a policy-rc.d file could stay behind, and may be the machine's own.
_SYSTEMD_RUNS = Path("/run/systemd/system")


class PackageError(SplitbedError):
    """A program is missing and could not be installed."""


@dataclass(frozen=True, kw_only=True)
class Package:
    """A Debian package, and how to see that what it brings is there, whoever brought it.

    Attributes:
        name: what apt calls it.
        purpose: "nodes" or "images" of a rehearsal, or the tests' "browser".
        reason: what the rehearsal does with it.
        present: True if there is nothing to install.
        brings: what to install by other means, in words.
        service: the systemd unit that installing it would enable; "" for none.
    """

    name: str
    purpose: str
    reason: str
    present: Callable[[], bool]
    brings: str
    service: str = ""


def cni_directory() -> Path | None:
    """Return the directory that holds the CNI plugins a node needs; None if there is none."""
    for directory in CNI_DIRECTORIES:
        if all(os.access(directory / plugin, os.X_OK) for plugin in CNI_PLUGINS):
            return directory
    return None


def browser() -> str | None:
    """Return a Chromium of this machine; None if there is none."""
    return next((found for name in BROWSERS if (found := on_path(name)) is not None), None)


def _programs(name: str, purpose: str, reason: str, *programs: str, service: str = "") -> Package:
    return Package(
        name=name,
        purpose=purpose,
        reason=reason,
        present=lambda: all(on_path(program) for program in programs),
        brings=", ".join(f"`{program}`" for program in programs),
        service=service,
    )


PACKAGES = (
    _programs("containerd", "nodes", "runs the pods of each node", "containerd", "ctr", service="containerd.service"),
    _programs("runc", "nodes", "starts containers for containerd", "runc"),
    Package(
        name="containernetworking-plugins",
        purpose="nodes",
        reason="give each pod its network interface",
        present=lambda: cni_directory() is not None,
        brings=f"the CNI plugins {', '.join(CNI_PLUGINS)} in /opt/cni/bin",
    ),
    _programs(
        "iptables",
        "nodes",
        "kube-proxy writes Service addresses with it",
        "iptables",
        "iptables-save",
        "iptables-restore",
    ),
    _programs("iproute2", "nodes", "sets up the cluster's own network namespace", "ip"),
    _programs("mount", "nodes", "gives the cluster its own mounts", "mount"),
    _programs("util-linux", "nodes", "gives it its namespaces, and ends it when we end", "unshare", "setpriv"),
    _programs("debootstrap", "images", "makes the Debian in the stand-in's image", "debootstrap"),
    Package(
        name="chromium-headless-shell",
        purpose="browser",
        reason="tests open the report in it as a reader does",
        present=lambda: browser() is not None,
        brings="a Chromium",
    ),
)


def missing_packages(purposes: Iterable[str]) -> list[Package]:
    """Return the packages for these purposes that this machine lacks."""
    wanted = set(purposes)
    return [package for package in PACKAGES if package.purpose in wanted and not package.present()]


def ensure_packages(purposes: Iterable[str], progress: Progress) -> None:
    """Install what is missing for some purposes.

    Nothing that is installed is removed or replaced, and no service is started or left enabled. What is
    begun is finished, also when this process is killed: half an installation is worse than one too many.

    Raises:
        PackageError: this is not a Debian-like machine, or not root, or apt failed.
    """
    missing = missing_packages(purposes)
    if not missing:
        return
    if on_path("apt-get") is None:
        raise PackageError(
            f"This machine lacks {'; '.join(package.brings for package in missing)}, and has no apt-get.",
            "Install them with this machine's own package manager.",
        )
    names = [package.name for package in missing]
    if os.geteuid() != 0:
        raise PackageError(
            f"This machine lacks {'; '.join(package.brings for package in missing)}.",
            f"Run this as root, or have `apt-get install --no-install-recommends {' '.join(names)}` run.",
        )
    reasons = "; ".join(f"{package.name} ({package.reason})" for package in missing)
    progress.step(f"Installing Debian packages, about a minute: {reasons}")
    if not all(_has_candidate(name) for name in names):
        update_lists(progress)
    _install(names, progress)
    for package in missing:
        if package.service:
            _disable(package.service)
    if still := [package for package in missing if not package.present()]:
        raise PackageError(
            f"{still[0].name} was installed, and {still[0].brings} is still not there.",
            "Install it by hand.",
        )


def update_lists(progress: Progress) -> None:
    """Fetch apt's package lists.

    Raises:
        PackageError: apt failed.
    """
    progress.note("fetching apt's package lists")
    _apt(["update"], progress)


def _install(names: list[str], progress: Progress) -> None:
    argv = ["install", "--yes", "--no-remove", "--no-upgrade", "--no-install-recommends", *names]
    try:
        _apt([*argv, "--download-only"], progress)
    except PackageError:
        update_lists(progress)  # lists that are too old name files that are gone
        _apt([*argv, "--download-only"], progress)
    _apt([*argv, "--no-download"], progress, without_systemd=True)


def _has_candidate(name: str) -> bool:
    answer = subprocess.run(
        ["apt-cache", "policy", name],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PATH": search_path(), "LC_ALL": "C"},
    )
    return "Candidate: " in answer.stdout and "Candidate: (none)" not in answer.stdout


def _apt(arguments: list[str], progress: Progress, *, without_systemd: bool = False) -> None:
    argv = ["apt-get", "-o", f"DPkg::Lock::Timeout={_LOCK_SECONDS}", "-q", *arguments]
    if without_systemd and _SYSTEMD_RUNS.exists():
        # Its parent is hidden, and with it the resolver's file: so nothing can be fetched here.
        hidden = f'mount -t tmpfs tmpfs {_SYSTEMD_RUNS.parent} && exec "$@"'
        argv = ["unshare", "--mount", "--propagation", "private", "--", "sh", "-c", hidden, "sh", *argv]
    env = os.environ | {
        "PATH": search_path(),
        "DEBIAN_FRONTEND": "noninteractive",
        "NEEDRESTART_SUSPEND": "1",
        "LC_ALL": "C",
    }
    with tempfile.TemporaryDirectory(prefix="splitbed-apt-") as directory:
        log = Path(directory) / "log"
        status = run_to_log(
            argv,
            log,
            beat=lambda elapsed: progress.note(f"apt-get {arguments[0]}: {duration(elapsed)} so far"),
            env=env,
            outlive=True,
        )
        lines = log.read_text(errors="replace").splitlines()
    if status != 0:
        errors = [line for line in lines if line.startswith("E:")] or lines[-1:] or ["it printed nothing"]
        raise PackageError(
            f"apt-get {arguments[0]} failed: {errors[0].removeprefix('E:').strip()}",
            f"Run `{' '.join(['apt-get', *arguments])}` by hand to see why.",
        )


def _disable(service: str) -> None:
    """Undo that Debian enables a service it installs, so that it does not start at the next boot either."""
    if on_path("systemctl") is not None:
        subprocess.run(["systemctl", "--root=/", "disable", service], capture_output=True, check=False, timeout=60)
