import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from rehearsal.disk import DiskError
from rehearsal.toolchain import PROGRAMS, Program, Toolchain, ToolchainError

ROOT = Path(__file__).parents[3]
BUILDER = """
import sys
from pathlib import Path
from rehearsal.toolchain import Toolchain, golang
golang._KNOWN_PLACES = ()
class Printed:
    def step(self, text): print("step", text, flush=True)
    def note(self, text): print("note", text, flush=True)
print(Toolchain(Path(sys.argv[1]), Printed()).ensure("pause")["pause"], flush=True)
"""


@pytest.fixture
def tools(tmp_path: Path, recorder: Any) -> Toolchain:
    return Toolchain(tmp_path / "home", recorder)


def left_in(home: Path) -> list[str]:
    """What should not be there when nothing is being built."""
    return [str(p) for p in [*(home / "locks").glob("*"), *(home / "tools").glob(".*")]]


def start_builder(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(home)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.02)


def test_a_program_is_built_once(tools: Toolchain, go: Any, recorder: Any, tmp_path: Path) -> None:
    first = tools.ensure("pause")
    assert subprocess.check_output([first["pause"], "-version"], text=True) == "version 1.0.0\n"
    assert tools.ensure("pause") == first
    assert go.builds == 1
    assert len(recorder.steps) == 1
    assert left_in(tmp_path / "home") == []


def test_the_record_tells_what_was_built(tools: Toolchain, go: Any) -> None:
    record = json.loads((tools.ensure("pause")["pause"].parent / "build.json").read_text())
    assert (record["program"], record["version"], record["go"]) == ("pause", "1.0.0", "go1.26.8")
    assert len(record["sha256"]) == 64


def test_the_build_is_reproducible_whatever_the_user_has_set(
    tools: Toolchain, go: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=mod -race")
    monkeypatch.setenv("GOOS", "plan9")
    tools.ensure("pause")
    seen = dict(line.partition("=")[::2] for line in (go.directory / "environment").read_text().splitlines())
    assert (seen["CGO_ENABLED"], seen["GOFLAGS"], seen["GOWORK"]) == ("0", "-mod=readonly", "off")
    assert "GOOS" not in seen
    assert sorted(path.name for path in (go.directory / "seen").iterdir()) == ["go.mod", "go.sum", "main.go"]


def test_a_damaged_binary_is_built_anew(tools: Toolchain, go: Any, recorder: Any) -> None:
    binary = tools.ensure("pause")["pause"]
    binary.write_text(binary.read_text() + "# flipped\n")
    assert tools.ensure("pause")["pause"] == binary
    assert go.builds == 2
    assert "flipped" not in binary.read_text()
    assert "checksum" in recorder.text


def test_a_binary_of_another_version_is_built_anew(tools: Toolchain, go: Any, recorder: Any) -> None:
    binary = tools.ensure("pause")["pause"]
    binary.write_text("#!/bin/sh\necho version 0.9.9\n")
    record = binary.with_name("build.json")
    digest = subprocess.check_output(["sha256sum", binary], text=True).split()[0]
    record.write_text(json.dumps(json.loads(record.read_text()) | {"sha256": digest}))
    tools.ensure("pause")
    assert go.builds == 2
    assert "it says 0.9.9, not 1.0.0" in recorder.text


@pytest.mark.parametrize("victim", ["build.json", "pause"])
def test_an_incomplete_build_is_built_anew(tools: Toolchain, go: Any, victim: str) -> None:
    (tools.ensure("pause")["pause"].parent / victim).unlink()
    tools.ensure("pause")
    assert go.builds == 2


def test_other_pins_are_another_build(tools: Toolchain, go: Any, modules: Path, recorder: Any) -> None:
    first = tools.ensure("pause")["pause"]
    with (modules / "pause" / "go.sum").open("a") as file:
        file.write("example.invalid/x v1.0.0 h1:0000\n")
    second = tools.ensure("pause")["pause"]
    assert (second.parent != first.parent, go.builds) == (True, 2)
    assert first.exists()


def test_another_compiler_is_another_build(tmp_path: Path, go: Any, recorder: Any) -> None:
    first = Toolchain(tmp_path / "home", recorder).ensure("pause")["pause"]
    go.write("version", "go1.27.0\n")
    second = Toolchain(tmp_path / "home", recorder).ensure("pause")["pause"]
    assert (second.parent != first.parent, go.builds) == (True, 2)


def test_a_build_that_says_another_version_is_refused(tools: Toolchain, go: Any, tmp_path: Path) -> None:
    go.write("says", "3.2.1")
    with pytest.raises(ToolchainError, match=r"it says 3\.2\.1, not 1\.0\.0"):
        tools.ensure("pause")
    assert list((tmp_path / "home" / "tools").glob("pause-*")) == []


@pytest.mark.thorough
def test_two_builders_build_once(tmp_path: Path, go: Any) -> None:
    go.write("waits", "")
    home = tmp_path / "home"
    first = start_builder(home)
    wait_until(lambda: go.builds == 1, "the first build")
    second = start_builder(home)
    assert second.stdout is not None
    said = [second.stdout.readline()]
    while "waiting for process" not in said[-1]:
        assert said[-1], f"the second builder ended: {said}"
        said.append(second.stdout.readline())
    assert f"waiting for process {first.pid}," in said[-1]
    go.remove("waits")
    outputs = [process.communicate(timeout=60)[0].splitlines()[-1] for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0)
    assert outputs[0] == outputs[1]
    assert go.builds == 1
    assert left_in(home) == []


@pytest.mark.thorough
def test_a_killed_builder_leaves_nothing_that_hinders(tmp_path: Path, go: Any, tools: Toolchain, recorder: Any) -> None:
    go.write("waits", "")
    home = tmp_path / "home"
    builder = start_builder(home)
    wait_until(lambda: go.builds == 1, "the build")
    helpers = psutil.Process(builder.pid).children(recursive=True)
    assert helpers
    builder.send_signal(signal.SIGKILL)
    builder.communicate()
    psutil.wait_procs(helpers, timeout=30)
    # The compiler goes with the builder; its own children only where root could make a process namespace.
    assert [p for p in helpers if p.is_running() and (os.geteuid() == 0 or p.name() != "sleep")] == []
    assert left_in(home) != []  # a half build, which is nobody's
    assert list((home / "tools").glob("pause-*")) == []
    go.remove("waits")
    assert tools.ensure("pause")["pause"].exists()
    assert "waiting" not in recorder.text
    assert left_in(home) == []


@pytest.mark.thorough
def test_an_interrupt_ends_the_build(
    tools: Toolchain, go: Any, recorder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.write("waits", "")
    monkeypatch.setattr("rehearsal.child.BEAT_SECONDS", 0.05)
    children: list[psutil.Process] = []

    def interrupt(text: str) -> None:
        if "of about" in text:
            children.extend(psutil.Process().children(recursive=True))
            raise KeyboardInterrupt

    monkeypatch.setattr(recorder, "note", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tools.ensure("pause")
    psutil.wait_procs(children, timeout=30)
    assert children
    assert [child for child in children if child.is_running()] == []
    assert left_in(tmp_path / "home") == []


def test_a_long_build_tells_how_far_it_is(
    tools: Toolchain, go: Any, recorder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.write("waits", "")
    monkeypatch.setattr("rehearsal.child.BEAT_SECONDS", 0.05)
    note = recorder.note

    def noted(text: str) -> None:
        note(text)
        if sum("of about" in text for text in recorder.notes) == 2:
            (go.directory / "waits").unlink(missing_ok=True)

    monkeypatch.setattr(recorder, "note", noted)
    tools.ensure("pause")
    assert any(text.startswith("pause: 0 s of about 20 s") for text in recorder.notes)


def test_time_and_disk_are_said_before(tools: Toolchain, go: Any, recorder: Any) -> None:
    tools.ensure("etcd", "pause")
    (announced,) = recorder.steps
    assert announced.startswith("Building pause, etcd: about 1.8 min on 2 cores, once, and up to ")
    assert "GiB of disk" in announced


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("true false \n" * 99 + "false true \n", "about 20 s"),  # nothing but the last step
        ("true false \n" * 50 + "true true \n" * 50 + "false true \n", "about 45 s"),  # half of it
        ("true false \n" * 99 + "true false error\n" + "false true \n", "about 90 s"),  # a module is missing
        ("false false error\n", "about 90 s"),  # all of them are
    ],
)
def test_what_go_has_already_is_not_counted(
    tools: Toolchain, go: Any, recorder: Any, listed: str, expected: str
) -> None:
    go.write("list", listed)
    tools.ensure("etcd")
    assert f"{expected} on 2 cores" in recorder.steps[0].replace("1.5 min", "90 s")


def test_what_the_build_lays_beside_the_main_package_is_not_missed(
    tools: Toolchain, go: Any, provider_source: Path, recorder: Any
) -> None:
    go.write("list", "true false \n" * 99 + "false true error\n")
    tools.ensure("pulumi-resource-kubernetes")
    assert "about 20 s on 2 cores" in recorder.steps[0]


def test_a_full_disk_is_seen_before_building(tools: Toolchain, go: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rehearsal.disk.free_mib", lambda path: 700)
    with pytest.raises(DiskError, match=r"Building etcd needs about \d\.\d GiB .* only 0\.7 GiB are free"):
        tools.ensure("etcd")
    assert go.builds == 0


def test_a_fitting_program_on_path_is_taken(tools: Toolchain, go: Any, recorder: Any) -> None:
    (go.bin / "go").unlink()  # and then Go is not even needed
    path = go.install("pulumi", "echo v3.280.1")
    assert tools.ensure("pulumi") == {"pulumi": path}
    assert str(path) in recorder.text


@pytest.mark.parametrize("said", ["v3.271.9", "v4.0.0", "no number"])
def test_one_that_does_not_fit_is_left_alone(tools: Toolchain, go: Any, recorder: Any, said: str) -> None:
    path = go.install("pulumi", f"echo {said}")
    assert tools.ensure("pulumi")["pulumi"] != path
    assert go.builds == 1
    assert f"{path} is left alone" in recorder.text


def test_the_official_pulumi_is_found_where_its_installer_puts_it(tools: Toolchain, go: Any, tmp_path: Path) -> None:
    place = tmp_path / "user" / ".pulumi" / "bin"
    place.mkdir(parents=True)
    go.install("pulumi", "echo v3.0.0")
    (go.bin / "pulumi").rename(place / "pulumi")
    go.install("pulumi", "echo v3.273.0")
    assert tools.ensure("pulumi") == {"pulumi": go.bin / "pulumi"}
    (place / "pulumi").write_text("#!/bin/sh\necho v3.274.0\n")
    assert tools.ensure("pulumi") == {"pulumi": place / "pulumi"}


def test_the_official_plugin_is_found_where_pulumi_puts_it(tools: Toolchain, go: Any, tmp_path: Path) -> None:
    place = tmp_path / "user" / ".pulumi" / "plugins" / "resource-kubernetes-v4.34.2"
    place.mkdir(parents=True)
    plugin = go.install("pulumi-resource-kubernetes", "exit 1").rename(place / "pulumi-resource-kubernetes")
    assert tools.ensure("pulumi-resource-kubernetes") == {"pulumi-resource-kubernetes": plugin}


def test_our_own_build_is_wanted_where_only_that_will_do(tools: Toolchain, go: Any) -> None:
    path = go.install("pause", "echo 1.0.0")
    assert tools.ensure("pause")["pause"] != path


def test_without_go_there_is_one_sentence(tools: Toolchain, go: Any) -> None:
    (go.bin / "go").unlink()
    with pytest.raises(ToolchainError, match="Go is not installed"):
        tools.ensure("pause")


def test_an_old_go_is_named_with_the_one_needed(tools: Toolchain, go: Any) -> None:
    go.write("version", "go1.25.3\n")
    with pytest.raises(ToolchainError, match=r"go is go1\.25\.3, and pause needs Go 1\.26\.0 or newer\."):
        tools.ensure("pause")


def test_an_unknown_program_is_refused(tools: Toolchain) -> None:
    with pytest.raises(ToolchainError, match="no program 'kubectl'"):
        tools.ensure("kubectl")


@pytest.fixture
def provider_source(go: Any) -> Path:
    """The module's files, read-only as Go keeps them."""
    source: Path = go.directory / "source" / "cmd" / "pulumi-resource-kubernetes"
    source.mkdir(parents=True)
    (source / "schema.json").write_text("{}")
    (source / "terraform-mapping.json").write_text("[]")
    for path in source.iterdir():
        path.chmod(0o444)
    return source


def test_the_provider_is_built_with_the_files_of_its_module(tools: Toolchain, go: Any, provider_source: Path) -> None:
    tools.ensure("pulumi-resource-kubernetes")
    seen = go.directory / "seen"
    assert (seen / "schema.json").read_text() == "{}"
    assert (seen / "terraform-mapping.json").read_text() == "[]"


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=lambda program: program.name)
def test_the_pins_agree(program: Program) -> None:
    pins = (program.directory / "go.mod").read_text()
    if program.name == "pulumi-resource-kubernetes":
        assert f"{program.source} v4.0.0-20260115033456-f47bc2d6f199" in pins  # stamped as the SDK's
    elif program.source:
        assert f"{program.source} v{program.version}" in pins
    assert any(program.version in stamp for stamp in program.stamps) or program.name in (
        "etcd",
        "coredns",
        "kwok",
    ), "those three have their version in their source"
