import json
import tarfile
from pathlib import Path
from typing import Any

from rehearsal.images import standin_image, vllm_image

PACKAGES = "/opt/splitbed/vllm"


def test_it_has_a_compiler_and_finds_packages_that_are_not_in_it(tmp_path: Path, fakes: Any, recorder: Any) -> None:
    image = vllm_image(PACKAGES, tmp_path / "home", recorder)
    assert image.reference.startswith("splitbed.invalid/vllm:")
    (call,) = fakes.calls("debootstrap")
    assert "g++,openssl,libnuma1,libgomp1" in call
    assert fakes.calls("uv") == []
    with tarfile.open(image.archive) as tar:
        (entry,) = json.load(tar.extractfile("manifest.json"))  # type: ignore[arg-type]
        tar.extract(entry["Layers"][-1], tmp_path, filter="data")
    with tarfile.open(tmp_path / entry["Layers"][-1]) as layer:
        site = "usr/local/lib/python3.11/dist-packages/vllm.pth"
        assert layer.extractfile(site).read().decode().strip() == PACKAGES  # type: ignore[union-attr]
        assert layer.getmember("usr/local/bin/vllm").mode == 0o755


def test_it_and_the_stand_ins_base_do_not_push_each_other_out(
    tmp_path: Path, fakes: Any, engine: Any, recorder: Any
) -> None:
    home = tmp_path / "home"
    for _ in range(2):
        vllm_image(PACKAGES, home, recorder)
        standin_image(home, recorder)
    assert len(fakes.calls("debootstrap")) == 2
