"""Refusals, each of one sentence that names the way out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from experiment.errors import SplitbedError
from rehearsal.cluster import preflight
from rehearsal.cluster.cgroups import Cgroups
from tests.rehearsal.test_packages import NODES


@pytest.fixture
def capable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which everything is there, as far as can be seen; its programs' directory."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in (*NODES, "never-used"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    plugins = tmp_path / "cni"
    plugins.mkdir()
    for name in ("ptp", "host-local", "loopback"):
        (plugins / name).write_text("#!/bin/sh\n")
        (plugins / name).chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr("rehearsal.searchpath.SYSTEM_DIRECTORIES", ())
    monkeypatch.setattr("rehearsal.packages.CNI_DIRECTORIES", (plugins,))
    monkeypatch.setattr(preflight, "_inside", lambda _: subprocess.CompletedProcess([], 0, "", ""))
    monkeypatch.setattr(Cgroups, "check", lambda _: None)
    return programs


def refusal(directory: Path) -> SplitbedError:
    with pytest.raises(SplitbedError) as caught:
        preflight.check(directory)
    error = caught.value
    assert error.message.startswith("A rehearsal cluster cannot run here: ")
    assert error.message.count(". ") == 0
    assert "kind" in error.remedy
    assert "--kubeconfig" in error.remedy
    return error


def test_a_capable_machine_is_described(capable: Path, tmp_path: Path) -> None:
    machine = preflight.check(tmp_path / "home")
    assert machine.containerd == capable / "containerd"
    assert machine.cni == tmp_path / "cni"
    assert machine.snapshotter == "overlayfs"
    assert list((tmp_path / "home").iterdir()) == []


def test_without_root(capable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "needs root" in refusal(tmp_path).message


def test_elsewhere_than_on_linux(capable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "needs Linux" in refusal(tmp_path).message


def test_missing_programs_are_named_with_their_packages(capable: Path, tmp_path: Path) -> None:
    (capable / "runc").unlink()
    (capable / "ip").unlink()
    error = refusal(tmp_path)
    assert error.message.endswith("it lacks `runc`; `ip`.")
    assert "apt-get install iproute2 runc" in error.remedy


@pytest.mark.parametrize(("program", "package"), [("setpriv", "util-linux"), ("iptables-restore", "iptables")])
def test_what_is_used_is_looked_for(program: str, package: str, capable: Path, tmp_path: Path) -> None:
    (capable / program).unlink()
    error = refusal(tmp_path)
    assert f"`{program}`" in error.message
    assert f"apt-get install {package}`" in error.remedy


def test_missing_network_plugins(capable: Path, tmp_path: Path) -> None:
    (tmp_path / "cni" / "ptp").unlink()
    assert "containernetworking-plugins" in refusal(tmp_path).remedy


def test_missing_cgroup_controllers(capable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(_: object) -> None:
        raise SplitbedError("This machine lacks the cgroup controllers memory.")

    monkeypatch.setattr(Cgroups, "check", lacking)
    assert "memory" in refusal(tmp_path).message


@pytest.mark.parametrize(
    ("fails", "says"), [("true", "namespaces"), ("veth", "veth"), ("nat", "translation"), ("conntrack", "tracking")]
)
def test_missing_kernel_features(
    fails: str, says: str, capable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def inside(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], fails in script.split() or fails in script, "", "Not permitted")

    monkeypatch.setattr(preflight, "_inside", inside)
    error = refusal(tmp_path)
    assert says in error.message
    assert "(Not permitted)" in error.message


def test_without_overlay_mounts_images_are_copied(
    capable: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def inside(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], int("overlay" in script), "", "")

    monkeypatch.setattr(preflight, "_inside", inside)
    assert preflight.check(tmp_path).snapshotter == "native"
