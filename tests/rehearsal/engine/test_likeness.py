"""The stand-in held against what real vLLM 0.31.0 answered: the offline form of `tests/vllm/test_likeness.py`.

`answers-single.json` and `answers-split.json` are recordings of the real engine made by `observe` (`likeness.save`),
one process with `FLAGS` and two with `MORE_FLAGS` besides; `docs/engines` says how they are renewed.
"""

import pytest

from rehearsal.engine import assembly
from rehearsal.vllm.known import judge, known
from rehearsal.vllm.likeness import compare, load, observe
from rehearsal.vllm.questions import rounds
from rehearsal.vllm.server import SERVED_NAME
from tests.rehearsal.engine.conftest import RECORDINGS, Start
from tests.vllm.conftest import FLAGS, HEADERS, MORE_FLAGS

pytestmark = pytest.mark.thorough

SEED = 1
# A stream of 400 tokens has to last until its server has noticed that the client is gone, also on a busy machine.
TIMING = '{"step_s": 0.004, "jitter": 0, "end_of_text": 0}'
SETTLE_S = 0.02


@pytest.mark.parametrize("kind", ["single", "split"])
async def test_the_stand_in_answers_as_vllm_was_recorded(
    kind: str, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The recordings are of a CPU without AVX512-BF16.
    monkeypatch.setattr(assembly, "recurrent_state_type", lambda: "auto")
    more, headers = ((*MORE_FLAGS, "--pipeline-parallel-size=2"), HEADERS) if kind == "split" else ((), ())
    running = await start(*FLAGS, f"--served-model-name={SERVED_NAME}", *more, SPLITBED_STANDIN_PARAMETERS=TIMING)
    seen = await observe(running.port, rounds(SEED, headers), SETTLE_S)
    recorded = load(RECORDINGS / f"answers-{kind}.json")
    assert len(recorded) > 400
    verdict = judge(compare(recorded, seen), known())
    told = "\n\n".join(difference.text() for difference in verdict.unexplained)
    assert not verdict.unexplained, told
    outdated = [entry for entry in verdict.outdated if not entry.reason.startswith(f"not {kind}: ")]
    assert outdated == []
