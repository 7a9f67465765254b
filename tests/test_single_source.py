"""What must be said in more than one place, said alike."""

import re
import tomllib
from importlib import metadata

from experiment import labels, versions
from rehearsal import engine
from rehearsal.toolchain import PROGRAMS
from rehearsal.vllm import environment
from tests.recording import ROOT

PACKAGES = ("benchmark", "components", "experiment", "rehearsal", "report", "scripts", "stackfiles")
KEY = re.compile(r"\"((?:splitbed\.dev|leaderworkerset\.sigs\.k8s\.io|kubernetes\.io)/[a-z-]+)\"")


def test_a_label_is_one_of_those_we_have() -> None:
    """A key that is typed again must not differ by a letter: nothing would select by it."""
    known = {value for value in vars(labels).values() if isinstance(value, str)}
    known |= {"kubernetes.io/arch", "kubernetes.io/os"}
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    unknown = {str(path.relative_to(ROOT)): set(KEY.findall(path.read_text())) - known for path in paths}
    assert len(paths) > 100
    assert {path: keys for path, keys in unknown.items() if keys} == {}


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
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    pinned = dict(entry.split("==") for entry in project if "==" in entry)
    assert PROGRAMS["pulumi-resource-kubernetes"].version == pinned["pulumi-kubernetes"]
    assert metadata.version("pulumi-kubernetes") == pinned["pulumi-kubernetes"]
    assert PROGRAMS["pulumi"].accepts(pinned["pulumi"])
    assert PROGRAMS["pulumi"].accepts(PROGRAMS["pulumi"].version)
