"""Can a cluster run here? Asked before anything is started, and answered in one sentence."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from experiment.errors import SplitbedError
from rehearsal.cluster.cgroups import Cgroups
from rehearsal.cluster.node import Machine
from rehearsal.packages import cni_directory, missing_packages
from rehearsal.searchpath import on_path, search_path

WAY_OUT = (
    "Or take a cluster you have, such as one made by kind: "
    "`splitbed rehearse --kubeconfig <its kubeconfig>` needs none of this."
)
UNSHARE = ("unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child=KILL", "--")

_TRANSLATION = (
    "iptables -t nat -A POSTROUTING -m comment --comment splitbed -m addrtype --dst-type LOCAL "
    "-m statistic --mode random --probability 0.5 -j MASQUERADE"
)
_TRACKING = "iptables -A FORWARD -m conntrack --ctstate NEW -m mark --mark 0x4000/0x4000 -j ACCEPT"
_PROBES = {
    "veth network interfaces": "ip link add splitbed0 type veth peer name splitbed1",
    "iptables address translation": _TRANSLATION,
    "iptables connection tracking": _TRACKING,
}


def _refuse(what: str, remedy: str = "") -> SplitbedError:
    return SplitbedError(f"A rehearsal cluster cannot run here: {what}.", f"{remedy} {WAY_OUT}".strip())


def _programs() -> tuple[Path, Path, Path]:
    """Return containerd, its client, and the directory of the network plugins; refuse where anything is missing."""
    if missing := missing_packages(["nodes"]):
        what = "; ".join(package.brings for package in missing)
        names = " ".join(sorted(package.name for package in missing))
        raise _refuse(f"it lacks {what}", f"On Debian or Ubuntu: `apt-get install {names}`.")
    containerd, ctr, plugins = on_path("containerd"), on_path("ctr"), cni_directory()
    if containerd is None or ctr is None or plugins is None:
        raise _refuse("a program of its nodes was removed just now", "Run the same command again.")
    return Path(containerd), Path(ctr), plugins


def _inside(script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in throw-away namespaces of the kind a cluster gets."""
    return subprocess.run(
        [*UNSHARE, "sh", "-euc", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PATH": search_path()},
        check=False,
    )


def _last_line(outcome: subprocess.CompletedProcess[str]) -> str:
    lines = outcome.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit status {outcome.returncode}"


def _kernel() -> None:
    plain = _inside("true")
    if plain.returncode:
        raise _refuse(
            f"the kernel gives no network, mount and PID namespaces ({_last_line(plain)})",
            "A container must be started with --privileged.",
        )
    for what, script in _PROBES.items():
        outcome = _inside(script)
        if outcome.returncode:
            raise _refuse(f"the kernel has no {what} ({_last_line(outcome)})")


def _snapshotter(directory: Path) -> str:
    """Return `overlayfs` if overlay mounts work on the file system of `directory`, else `native` (copies)."""
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="probe-", dir=directory) as place:
        outcome = _inside(
            f"cd '{place}'; mkdir l u w m; mount -t overlay o -o lowerdir=l,upperdir=u,workdir=w m; : > m/file"
        )
    return "native" if outcome.returncode else "overlayfs"


def check_user() -> None:
    """Look whether this is Linux and its root; all else that a cluster needs can be installed.

    Raises:
        SplitbedError: one sentence with what is missing, and the way out.
    """
    if sys.platform != "linux":
        raise _refuse(f"it needs Linux, and this is {sys.platform}")
    if os.geteuid() != 0:
        raise _refuse("it needs root", "Run it with sudo.")


def check(directory: Path) -> Machine:
    """Look whether a cluster can run on this machine; nothing is left started or changed.

    Args:
        directory: on the file system where clusters will be; made if it is missing.

    Raises:
        SplitbedError: one sentence with what is missing, and the way out.
    """
    check_user()
    containerd, ctr, plugins = _programs()
    try:
        Cgroups("").check()
    except SplitbedError as error:
        raise _refuse(error.message.rstrip(".")) from None
    _kernel()
    return Machine(containerd, ctr, plugins, _snapshotter(directory))
