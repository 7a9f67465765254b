"""Homes for tests that need root, the built tools and real clusters."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rehearsal.aws.controlplane import PROGRAMS, ControlPlane
from rehearsal.aws.kubernetes import Node
from rehearsal.aws.local import Local
from rehearsal.aws.world import world
from rehearsal.home import home
from rehearsal.toolchain import Toolchain
from tests.engine.aws_stack import AwsStack, Remembering
from tests.engine.command import splitbed
from tests.engine.plain_pulumi import Quiet

BroughtStack = Callable[..., AwsStack]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        first, end = map(int, metafunc.config.getoption("--chaos-seeds").split(":"))
        metafunc.parametrize("seed", range(first, end))


@pytest.fixture(scope="session")
def built() -> Path:
    """The home with every tool and image in it; `make test` has filled it."""
    assert splitbed(home(), "tools", "build")[0] == 0
    return home()


def _with_tools(root: Path, built: Path) -> Iterator[Path]:
    """A home of its own that shares the built files; what a test spoils there is spoilt there only."""
    for name in ("tools", "images"):
        if (built / name).exists():
            # Links, not copies: a gigabyte each otherwise. Builders rename new files into place, never write old ones.
            subprocess.run(["cp", "--archive", "--link", built / name, root / name], check=True)
    yield root
    splitbed(root, "cluster", "down")
    shutil.rmtree(root)


@pytest.fixture(scope="module")
def own_home(built: Path) -> Iterator[Path]:
    """A home for one module's rehearsals, beside the built one: hard links reach no further than a file system."""
    root = built.with_name(f"{built.name}-tests{os.environ.get('PYTEST_XDIST_WORKER', '')}")
    if root.exists():  # of a test run that was killed
        splitbed(root, "cluster", "down")
        shutil.rmtree(root)
    root.mkdir()
    yield from _with_tools(root, built)


@pytest.fixture(scope="module")
def pretended() -> dict[str, Path]:
    """The programs of clusters whose pods only pretend, Pulumi with its Kubernetes provider, and the LWS chart."""
    toolchain = Toolchain(home(), Quiet())
    found = toolchain.ensure("pulumi", "pulumi-resource-kubernetes", *PROGRAMS)
    return {**found, "chart": toolchain.lws_chart()}


@pytest.fixture
def given(pretended: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A cluster that somebody gives us: a real control plane, and nodes that only pretend."""
    local = Local(pretended, tmp_path_factory.mktemp("given") / "k")
    try:
        local.up("given")
        for name, group in (("node-0", "system"), ("node-1", "engine"), ("node-2", "engine"), ("node-3", "engine")):
            labels = {"splitbed.dev/group": group}
            local.node_up("given", Node(name, f"i-{name}", "m7g.large", "us-east-1a", labels))
        yield local.planes["given"][0]
    finally:
        local.down("given")


@pytest.fixture
def aws_stack(pretended: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[BroughtStack]:
    """Give stacks in an account of their own, each in its directory."""
    root = tmp_path_factory.mktemp("aws")
    with world(Remembering(pretended, root / "k")) as found:

        def create(name: str, **changes: object) -> AwsStack:
            made = AwsStack(name, root / name, pretended, world=found)
            made.create(**changes)
            return made

        yield create
