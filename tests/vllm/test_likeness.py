"""The stand-in answers as vLLM does: one set of requests, everything that can be seen of it."""

import asyncio
from pathlib import Path

import pytest

from rehearsal.vllm.known import judge, known
from rehearsal.vllm.likeness import compare, observe, save
from rehearsal.vllm.questions import odd_rounds, rounds
from tests.vllm.conftest import Pair

pytestmark = pytest.mark.vllm
SEED = 1


@pytest.mark.parametrize("kind", ["single", "malformed", "split"])
def test_both_engines_answer_alike(kind: str, request: pytest.FixtureRequest, records: Path, tmp_path: Path) -> None:
    # What no client should send is a matter of the API server: it is the same before one stage or several.
    pair: Pair = request.getfixturevalue("split" if kind == "split" else "single")
    asked = odd_rounds() if kind == "malformed" else rounds(SEED, pair.headers)
    real = asyncio.run(observe(pair.real.port, asked))
    standin = asyncio.run(observe(pair.standin.port, asked))
    records.mkdir(parents=True, exist_ok=True)
    save(real, records / f"answers-{kind}.json")
    save(standin, tmp_path / "standin.json")
    verdict = judge(compare(real, standin), known())
    told = "\n\n".join(difference.text() for difference in verdict.unexplained)
    assert not verdict.unexplained, f"{told}\n\nall of it is in {records} and {tmp_path}"
    outdated = [entry for entry in verdict.outdated if not entry.reason.startswith(f"not {kind}: ")]
    assert outdated == []
