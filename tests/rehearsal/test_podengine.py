from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rehearsal import podengine
from rehearsal.images import Image
from rehearsal.podengine import PodEngine
from rehearsal.vllm.environment import Environment
from stackfiles.stackfile import StackFile


@pytest.fixture
def vllm(tmp_path: Path, recorder: Any, monkeypatch: pytest.MonkeyPatch) -> PodEngine:
    monkeypatch.setattr(podengine, "ensure_environment", lambda *_: Environment(tmp_path / "env"))
    monkeypatch.setattr(podengine, "ensure_model", lambda *_: tmp_path / "model")
    image = Image("splitbed.invalid/vllm:0123456789ab", tmp_path / "vllm.tar")
    monkeypatch.setattr(podengine, "vllm_image", lambda *_: image)
    return podengine.vllm(tmp_path, recorder)


@pytest.mark.parametrize("stack", ["rehearsal-split", "rehearsal-single"])
def test_what_vllm_needs_goes_into_every_rehearsal(vllm: PodEngine, stack: str) -> None:
    given = {"cluster.kubeconfig": "/etc/hosts", "benchmark.results.path": "/tmp/results", "lws.chart": "/tmp"}
    StackFile.of(stack).replaced({**given, **vllm.settings}).check(datetime(2026, 11, 30, tzinfo=UTC))


def test_nodes_show_what_the_image_and_the_settings_name(vllm: PodEngine, tmp_path: Path) -> None:
    (model,) = (inside for inside, outside in vllm.shown.items() if outside == str(tmp_path / "model"))
    assert vllm.settings["model.name"] == model
    assert [node.shown for node in vllm.nodes()] == [vllm.shown] * 3
    assert vllm.settings["engine.image"] == vllm.image.reference


def test_a_reader_is_told_engine_machine_and_shared_cores(vllm: PodEngine) -> None:
    about = "\n".join(vllm.about)
    assert "vLLM 0.31.0" in about
    assert "random weights" in about
    assert "all nodes, and the client, share these" in about


def test_the_stand_in_is_named_as_one(tmp_path: Path, recorder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(podengine, "standin_image", lambda *_: Image("splitbed.invalid/standin:x", tmp_path))
    engine = podengine.standin(tmp_path, recorder)
    assert "simulated" in engine.about[0]
    assert all(node.shown == {} for node in engine.nodes())
