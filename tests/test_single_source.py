"""What must be said in more than one place, said alike."""

import ast
import re
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from experiment import labels, versions
from rehearsal import engine
from rehearsal.toolchain import PROGRAMS
from rehearsal.vllm import environment
from tests.recording import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES = tuple(PROJECT["tool"]["uv"]["build-backend"]["module-name"])
ONLY_TESTS_RUN = ("tests/", "rehearsal/aws/", "rehearsal/cloudwatch/")
OF_THE_ENGINES_IMAGE = {
    ("components/pod/weights/web.py", "certifi"),
    ("tests/data/kv/ask_vllm.py", "torch"),
    ("tests/data/kv/ask_vllm.py", "vllm"),
}
KEY = re.compile(r"\"((?:splitbed\.dev|leaderworkerset\.sigs\.k8s\.io|kubernetes\.io)/[a-z-]+)\"")


def test_a_label_is_one_of_those_we_have() -> None:
    """A key that is typed again must not differ by a letter: nothing would select by it."""
    known = {value for value in vars(labels).values() if isinstance(value, str)}
    known |= {"kubernetes.io/arch", "kubernetes.io/os"}
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    unknown = {str(path.relative_to(ROOT)): set(KEY.findall(path.read_text())) - known for path in paths}
    assert len(paths) > 100
    assert {path: keys for path, keys in unknown.items() if keys} == {}


@pytest.mark.thorough  # reads every module
def test_what_is_imported_is_asked_for_by_name() -> None:
    """What comes only because something else brings it may one day not come."""
    extras = chain.from_iterable(PROJECT["project"]["optional-dependencies"].values())
    product = {canonicalize_name(Requirement(one).name) for one in (*PROJECT["project"]["dependencies"], *extras)}
    in_tests = product | {canonicalize_name(Requirement(one).name) for one in PROJECT["dependency-groups"]["dev"]}
    brought = metadata.packages_distributions()
    paths = [ROOT / "__main__.py", *(path for one in (*PACKAGES, "tests") for path in (ROOT / one).rglob("*.py"))]
    unnamed = set()
    for path in paths:
        place = str(path.relative_to(ROOT))
        named = in_tests if place.startswith(ONLY_TESTS_RUN) else product
        for module in imported(path) - sys.stdlib_module_names:
            names = {canonicalize_name(one) for one in brought.get(module, [module])}
            if not (ROOT / module).exists() and not names & named and not module.startswith("types_boto3_"):
                unnamed.add((place, module))
    assert unnamed == OF_THE_ENGINES_IMAGE


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


def test_the_flags_that_vllm_has_were_recorded_once() -> None:
    recorded = (ROOT / "experiment" / "data" / f"vllm-{versions.VLLM_VERSION}-serve-flags.json").read_bytes()
    for copy in ("rehearsal/engine/data/serve-flags.json", "tests/data/vllm/serve-flags.json"):
        assert (ROOT / copy).read_bytes() == recorded, copy


def test_the_engines_are_of_the_version_whose_flags_are_known() -> None:
    assert {engine.VLLM_VERSION, environment.VERSION} == {versions.VLLM_VERSION}


def test_the_controller_that_is_built_is_the_one_whose_chart_is_installed() -> None:
    assert PROGRAMS["lws-manager"].version == versions.LWS_VERSION
    pinned = (PROGRAMS["lws-manager"].directory / "go.mod").read_text()
    assert f"sigs.k8s.io/lws v{versions.LWS_VERSION}" in pinned


def test_the_collector_that_is_built_is_the_one_whose_image_is_pulled() -> None:
    assert PROGRAMS["otelcol"].version == versions.COLLECTOR_VERSION
    assert versions.COLLECTOR_IMAGE.endswith(f":{versions.COLLECTOR_VERSION}")
    pinned = (PROGRAMS["otelcol"].directory / "go.mod").read_text()
    for part in ("exporter/fileexporter", "extension/sigv4authextension", "receiver/filelogreceiver"):
        assert f"opentelemetry-collector-contrib/{part} v{versions.COLLECTOR_VERSION}" in pinned


def test_the_plugin_that_is_built_is_the_one_the_sdk_asks_for() -> None:
    pinned = dict(entry.split("==") for entry in PROJECT["project"]["dependencies"] if "==" in entry)
    assert PROGRAMS["pulumi-resource-kubernetes"].version == pinned["pulumi-kubernetes"]
    assert metadata.version("pulumi-kubernetes") == pinned["pulumi-kubernetes"]
    assert PROGRAMS["pulumi"].accepts(pinned["pulumi"])
    assert PROGRAMS["pulumi"].accepts(PROGRAMS["pulumi"].version)
