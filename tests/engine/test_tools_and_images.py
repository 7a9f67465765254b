"""The real Go, the real debootstrap: what is built runs, and the machine is as before."""

import json
import os
import signal
import subprocess
import tarfile
import time
from pathlib import Path

import pytest
from rich.console import Console

from rehearsal.home import home
from rehearsal.images import Image, standin_image
from rehearsal.images.layer import write_tree
from rehearsal.progress import ConsoleProgress
from rehearsal.toolchain import Toolchain

pytestmark = [pytest.mark.engine, pytest.mark.skipif(os.geteuid() != 0, reason="a Debian takes root to make")]

PROGRESS = ConsoleProgress(Console(stderr=True))


@pytest.fixture
def pause(tmp_path: Path) -> Path:
    return Toolchain(tmp_path / "home", PROGRESS).ensure("pause")["pause"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_pause_buries_the_children_of_others_and_ends_when_told(pause: Path, number: int) -> None:
    """As the first process of a namespace, as in a pod: an orphan becomes its child."""
    script = '(sh -c "sleep 0.2 & exit" &) ; exec "$0"'
    namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    with subprocess.Popen([*namespace, "sh", "-c", script, pause], start_new_session=True) as process:
        try:
            first = _first_process(process.pid)
            deadline = time.monotonic() + 60
            while _children(first):  # the orphan, and then its remains, until it is waited for
                assert time.monotonic() < deadline, f"a child of {first} is never waited for"
                time.sleep(0.05)
            os.kill(first, number)
            assert process.wait(timeout=60) == 0
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_pause_needs_nothing_from_its_image(pause: Path) -> None:
    assert b"statically linked" in subprocess.check_output(["file", "-b", pause]) or b"INTERP" not in (
        subprocess.check_output(["readelf", "--program-headers", pause])
    )


@pytest.fixture(scope="module")
def standin() -> Image:
    before = Path("/proc/self/mountinfo").read_text()
    image = standin_image(home(), PROGRESS)
    assert Path("/proc/self/mountinfo").read_text() == before
    return image


@pytest.fixture(scope="module")
def root(standin: Image, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The image's file system."""
    scratch = tmp_path_factory.mktemp("standin")
    root = scratch / "root"
    root.mkdir()
    with tarfile.open(standin.archive) as tar:
        (entry,) = json.load(tar.extractfile("manifest.json"))  # type: ignore[arg-type]
        for name in entry["Layers"]:
            tar.extract(name, scratch, filter="data")
            subprocess.run(["tar", "--extract", "--file", scratch / name, "--directory", root], check=True)
    return root


def _in(root: Path, *argv: str) -> str:
    return subprocess.check_output(["chroot", root, *argv], text=True, timeout=120)


def test_the_standin_has_the_real_images_python_packages(root: Path) -> None:
    code = "import aiohttp, httptools, pydantic, numpy, ssl, sys; print(sys.version_info[:2], numpy.ones(3).sum())"
    assert _in(root, "python3", "-c", code) == "(3, 11) 3.0\n"


def test_its_modules_are_compiled_already(root: Path) -> None:
    code = "import aiohttp, pathlib; print(pathlib.Path(aiohttp.__cached__).exists())"
    assert _in(root, "python3", "-c", code) == "True\n"


def test_vllm_is_on_its_path(root: Path) -> None:
    assert _in(root, "sh", "-c", "command -v vllm") == "/usr/local/bin/vllm\n"


def test_it_is_small(standin: Image) -> None:
    assert standin.archive.stat().st_size < 200 * 1024**2


def test_it_is_made_once(standin: Image) -> None:
    written = standin.archive.stat().st_mtime_ns
    assert standin_image(home(), PROGRESS) == standin
    assert standin.archive.stat().st_mtime_ns == written


def test_a_layer_of_a_real_tree_is_reproducible(root: Path, tmp_path: Path) -> None:
    first = write_tree(root / "etc", tmp_path / "first.tar")
    assert write_tree(root / "etc", tmp_path / "second.tar").sha256 == first.sha256


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def _first_process(unshare: int) -> int:
    """Wait for the namespace's first process to have become `pause`, and return its process id out here."""
    deadline = time.monotonic() + 60
    while True:
        for child in _children(unshare):
            if Path(f"/proc/{child}/comm").read_text() == "pause\n":
                return int(child)
        assert time.monotonic() < deadline, "pause never came"
        time.sleep(0.02)
