"""A real installation, in a copy of this machine that is thrown away: an overlay over its root."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.skipif(os.geteuid() != 0, reason="an overlay takes root")]

ROOT = Path(__file__).parents[2]

MAKE_COPY = """
set -e
mount -t tmpfs copy "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
exec chroot "$1/root" sh -ec "$2" sh "$3" "$4"
"""
# A machine on which systemd seems to run and nothing keeps services from starting, without containerd.
IN_COPY = r"""
apt-get remove --yes -q containerd >&2
mkdir -p /run/systemd/system
rm -f /usr/sbin/policy-rc.d
printf '#!/bin/sh\necho "$*" >> /tmp/asked\nexit 0\n' > /tmp/systemctl
chmod 755 /tmp/systemctl
mv /tmp/systemctl /usr/bin/systemctl
cd "$2"
"$1" -c '
from rich.console import Console
from rehearsal.packages import ensure_packages, missing_packages
from rehearsal.progress import ConsoleProgress
assert "containerd" in [package.name for package in missing_packages(("nodes",))]
ensure_packages(("nodes",), ConsoleProgress(Console(stderr=True)))
'
command -v containerd
ls /usr/sbin/policy-rc.d 2>&1 | grep -o "No such file"
ls -d /run/systemd/system
cat /tmp/asked
"""


@pytest.mark.skipif(not Path("/usr/bin/apt-get").exists(), reason="not a Debian-like machine")
def test_containerd_is_installed_and_not_started(tmp_path: Path) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    namespace = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
    done = subprocess.run(
        [*namespace, "sh", "-c", MAKE_COPY, "sh", tmp_path, IN_COPY, sys.executable, ROOT],
        env=os.environ | {"PYTHONPATH": str(ROOT), "DEBIAN_FRONTEND": "noninteractive"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=500,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "/usr/bin/containerd",
        "No such file",
        "/run/systemd/system",
        "--root=/ disable containerd.service",  # all that systemd was ever asked
    ]
    assert Path("/proc/self/mountinfo").read_text() == before
