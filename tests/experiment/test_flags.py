import json
from typing import Any

import pytest
from pydantic_core import PydanticCustomError

from experiment import flags
from tests.recording import ROOT


def test_the_catalogue_is_the_recording() -> None:
    recording = json.loads((ROOT / "tests" / "data" / "vllm" / "serve-flags.json").read_text())
    assert {name: (flag.takes_value, flag.choices) for name, flag in flags.catalogue().items()} == {
        name: (entry["takes_value"], entry["choices"] and tuple(entry["choices"])) for name, entry in recording.items()
    }


@pytest.mark.parametrize(
    ("name", "value", "spelt"),
    [
        ("max-num-seqs", 8, "--max-num-seqs=8"),
        ("gpu-memory-utilization", 0.9, "--gpu-memory-utilization=0.9"),
        ("enable-prompt-tokens-details", True, "--enable-prompt-tokens-details"),
        ("enable-prefix-caching", False, "--no-enable-prefix-caching"),
        ("limit-mm-per-prompt", {"image": 0, "audio": 0}, '--limit-mm-per-prompt={"image":0,"audio":0}'),
    ],
)
def test_values_are_spelt_as_vllm_reads_them(name: str, value: Any, spelt: str) -> None:
    assert flags.spell(name, value) == (spelt,)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("max-num-seq", 8, "is no flag of vLLM 0.31.0"),
        ("--max-num-seqs", 8, "is no flag of vLLM 0.31.0"),
        ("max-num-seqs", True, "is no flag|takes a value"),
        ("enable-prefix-caching", 1, "takes no value"),
        ("max-num-seqs", None, "has no value"),
        ("kv-cache-dtype", "fp3", "does not know 'fp3'"),
        ("max-num-seqs", "$(HOME)", "Kubernetes would expand"),
        ("", 1, "is no flag"),
    ],
)
def test_what_the_version_does_not_take_is_refused(name: str, value: Any, why: str) -> None:
    with pytest.raises(PydanticCustomError, match=why) as refusal:
        flags.spell(name, value)
    assert refusal.value.context is not None
    assert refusal.value.context["key"] == name
    assert refusal.value.context["remedy"]
