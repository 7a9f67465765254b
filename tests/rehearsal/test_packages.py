from pathlib import Path
from typing import Any

import pytest

from rehearsal.packages import PackageError, browser, cni_directory, ensure_packages, missing_packages

NODES = (
    *("containerd", "ctr", "runc", "ip", "mount", "unshare", "setpriv"),
    *("iptables", "iptables-save", "iptables-restore"),
)
APT = """#!/bin/sh
echo "$*" >> "$MACHINE/apt.txt"
for argument; do
    case $argument in update) touch "$MACHINE/updated"; exit 0;; install) installing=yes;; esac
    [ "$installing" ] || continue
    [ -e "$MACHINE/stale" ] && [ ! -e "$MACHINE/updated" ] && { echo "E: Unable to fetch"; exit 100; }
    [ -e "$MACHINE/broken" ] && { echo "Reading"; echo "E: Packages need to be removed"; exit 100; }
    case $argument in -*) continue;; esac
    for program in $argument $(cat "$MACHINE/brings-$argument" 2>/dev/null); do
        printf '#!/bin/sh\\n' > "$MACHINE/bin/$program"; chmod 755 "$MACHINE/bin/$program"
    done
done
exit 0
"""


class Machine:
    """A machine whose programs are those in one directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "bin").mkdir()
        for tool in ("sh", "touch", "cat", "printf", "chmod"):
            (root / "bin" / tool).symlink_to(f"/bin/{tool}" if Path(f"/bin/{tool}").exists() else f"/usr/bin/{tool}")

    def program(self, name: str, script: str = "#!/bin/sh\n") -> None:
        (self.root / "bin" / name).write_text(script)
        (self.root / "bin" / name).chmod(0o755)

    def remove(self, name: str) -> None:
        (self.root / "bin" / name).unlink()

    def touch(self, name: str, content: str = "") -> None:
        (self.root / name).write_text(content)

    @property
    def apt(self) -> list[str]:
        log = self.root / "apt.txt"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    for name in NODES:
        machine.program(name)
    machine.program("apt-get", APT)
    machine.program(
        "apt-cache",
        '#!/bin/sh\n[ -e "$MACHINE/updated" ] || [ ! -e "$MACHINE/unknown" ] || exit 0\necho "  Candidate: 1.0"\n',
    )
    plugins = tmp_path / "cni"
    plugins.mkdir()
    for name in ("ptp", "host-local", "loopback"):
        (plugins / name).write_text("")
        (plugins / name).chmod(0o755)
    monkeypatch.setenv("MACHINE", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("rehearsal.searchpath.SYSTEM_DIRECTORIES", ())
    monkeypatch.setattr("rehearsal.packages.CNI_DIRECTORIES", (plugins,))
    monkeypatch.setattr("rehearsal.packages._SYSTEMD_RUNS", tmp_path / "no-systemd")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return machine


def test_a_machine_that_has_all_is_left_alone(machine: Machine, recorder: Any) -> None:
    ensure_packages(("nodes",), recorder)
    assert machine.apt == []
    assert recorder.text == ""


def test_docker_s_containerd_is_as_good(machine: Machine) -> None:
    machine.remove("iptables")
    assert [package.name for package in missing_packages(("nodes",))] == ["iptables"]


def test_only_what_is_missing_is_installed_and_nothing_removed(machine: Machine, recorder: Any) -> None:
    machine.remove("containerd")
    machine.remove("runc")
    ensure_packages(("nodes",), recorder)
    fetch, install = machine.apt
    assert fetch.endswith("containerd runc --download-only")
    assert install.endswith("containerd runc --no-download")
    for call in (fetch, install):
        assert {"--no-remove", "--no-upgrade", "--no-install-recommends", "--yes"} <= set(call.split())
    assert "containerd (runs the pods of each node)" in recorder.steps[0]


def test_each_purpose_has_its_own_packages(machine: Machine, recorder: Any) -> None:
    ensure_packages(("images",), recorder)
    assert [call.split()[-2] for call in machine.apt] == ["debootstrap", "debootstrap"]


def test_any_chromium_will_do_and_debians_is_installed_where_there_is_none(machine: Machine, recorder: Any) -> None:
    machine.program("google-chrome")
    ensure_packages(("browser",), recorder)
    assert machine.apt == []
    machine.remove("google-chrome")
    assert browser() is None
    ensure_packages(("browser",), recorder)
    assert browser() == str(machine.root / "bin" / "chromium-headless-shell")
    assert "chromium-headless-shell (tests open the report in it as a reader does)" in recorder.steps[0]


def test_missing_plugins_are_installed(machine: Machine, recorder: Any) -> None:
    (machine.root / "cni" / "ptp").unlink()
    assert cni_directory() is None
    with pytest.raises(PackageError, match="containernetworking-plugins was installed, and"):
        ensure_packages(("nodes",), recorder)
    assert machine.apt[-1].endswith("containernetworking-plugins --no-download")


def test_lists_are_fetched_first_where_there_are_none(machine: Machine, recorder: Any) -> None:
    machine.remove("runc")
    machine.touch("unknown")
    ensure_packages(("nodes",), recorder)
    assert ["update" in call for call in machine.apt] == [True, False, False]


def test_lists_that_are_too_old_are_fetched_anew(machine: Machine, recorder: Any) -> None:
    machine.remove("runc")
    machine.touch("stale")
    ensure_packages(("nodes",), recorder)
    assert ["update" in call for call in machine.apt] == [False, True, False, False]


def test_what_apt_says_is_passed_on(machine: Machine, recorder: Any) -> None:
    machine.remove("runc")
    machine.touch("broken")
    with pytest.raises(PackageError, match="apt-get install failed: Packages need to be removed"):
        ensure_packages(("nodes",), recorder)


def test_another_distribution_is_told_which_programs(machine: Machine, recorder: Any) -> None:
    machine.remove("apt-get")
    machine.remove("containerd")
    machine.remove("iptables")
    with pytest.raises(PackageError) as caught:
        ensure_packages(("nodes",), recorder)
    assert caught.value.message == (
        "This machine lacks `containerd`, `ctr`; `iptables`, `iptables-save`, `iptables-restore`, and has no apt-get."
    )


def test_without_root_the_command_is_named(machine: Machine, recorder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    machine.remove("runc")
    with pytest.raises(PackageError) as caught:
        ensure_packages(("nodes",), recorder)
    assert "apt-get install --no-install-recommends runc" in caught.value.remedy
    assert machine.apt == []


def test_no_service_is_started_or_left_enabled(
    machine: Machine, recorder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = machine.root / "systemd" / "system"
    running.mkdir(parents=True)
    monkeypatch.setattr("rehearsal.packages._SYSTEMD_RUNS", running)
    machine.program(
        "unshare",
        '#!/bin/sh\necho "$*" >> "$MACHINE/unshare.txt"\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n',
    )
    machine.program("mount", '#!/bin/sh\necho "$*" >> "$MACHINE/mount.txt"\n')
    machine.program("systemctl", '#!/bin/sh\necho "$*" >> "$MACHINE/systemctl.txt"\n')
    machine.remove("containerd")
    ensure_packages(("nodes",), recorder)
    assert (machine.root / "unshare.txt").read_text().startswith("--mount --propagation private -- ")
    assert (machine.root / "mount.txt").read_text() == f"-t tmpfs tmpfs {running.parent}\n"
    assert (machine.root / "systemctl.txt").read_text() == "--root=/ disable containerd.service\n"
    assert ["--no-download" in call for call in machine.apt] == [False, True]
