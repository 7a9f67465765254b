"""Records of the stand-in's timing model in virtual time: as the benchmark would have written them, in milliseconds."""

import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from experiment.kinds.alone import OneUser
from experiment.kinds.loads import Concurrency
from experiment.kinds.sharing import Modes
from experiment.measure.counters import STEPS, Counters, Scrape, ServerCounters
from experiment.measure.figures import figures_of
from experiment.record import Figures, RepeatRecord, Reply, Stamps, Tokens
from experiment.workload import Test
from rehearsal.engine.profile import PROFILES, Profile
from rehearsal.engine.simulation import Simulation
from tests.benchmark.records import ENGINE, REAL, WHEN, repeat, request

TOKENS = 24
BEGIN_S = 100.0
SINGLE, SPLIT = {"kind": "single", "tensor": 1}, {"kind": "split", "pipeline": 2, "tensor": 1}


def played(
    test: Test,
    cell: str,
    users: int,
    number: int,
    profile: Profile,
    stages: int,
    stagger_s: float,
    seed: int,
    /,
    **more: Any,
) -> RepeatRecord:
    """Play users who each send one prompt, and record it as of a real engine, so that it can be judged."""
    dice = random.Random(seed)  # noqa: S311  reproducible on purpose; no secret
    engine = Simulation(profile, stages=stages, seed=seed)
    streams = [
        engine.send([dice.randrange(1000, 31_000) for _ in range(32)], TOKENS, BEGIN_S + user * stagger_s)
        for user in range(users)
    ]
    engine.run()
    requests = []
    for user, stream in enumerate(streams):
        chunks = tuple(stream.at_s)
        stamps = Stamps(sent_s=stream.sent_s, headers_s=chunks[0], chunks_s=chunks, end_s=chunks[-1])
        reply = Reply(
            finish_reason="length",
            tokens=Tokens(prompt=32, output=TOKENS, cached=None),
            stamps=stamps,
            figures=Figures.of(stamps, TOKENS),
        )
        requests.append(request(reply, user=user))
    counts = {STEPS: float(len(engine.steps)), "vllm:generation_tokens_total": float(users * TOKENS)}
    scrapes = [
        Scrape(asked_s=BEGIN_S, answered_s=BEGIN_S, values=dict.fromkeys(counts, 0.0)),
        Scrape(asked_s=BEGIN_S + 99, answered_s=BEGIN_S + 99, values=counts),
    ]
    counters = Counters(
        servers=(ServerCounters(address="http://e", before=scrapes[0], after=scrapes[1], each_second=(), missed=0),)
    )
    fields = {
        "test": test.name,
        "test_kind": test.kind,
        "cell": cell,
        "value": None if test.kind == "one-user" else users,
        "requests": tuple(requests),
        "figures": figures_of(test, requests, counters, None),
        "counters": counters,
        "engine": REAL,
    }
    return repeat(number, **(fields | more))


def campaign(
    directory: Path,
    turns: str,
    profiles: dict[str, tuple[str, int, dict[str, Any]]],
    *,
    users: Sequence[int] = (1, 2, 4),
    repeats: int = 2,
    scatter: float = 0.01,
    seed: int = 1,
    stagger_s: Callable[[int], float] = lambda _: 0.05,
    simulated: bool = False,
) -> None:
    """Write a directory a run: each letter of `turns` is a run of that topology, no two equally fast."""
    dice = random.Random(seed)  # noqa: S311  reproducible on purpose; no secret
    for turn, letter in enumerate(turns):
        name, stages, topology = profiles[letter]
        profile = PROFILES[name]
        factor = 1 + 0.01 * turn + dice.gauss(0, scatter)  # drifts by 1 % a turn
        profile = profile.model_copy(
            update={field: getattr(profile, field) * factor for field in ("step_s", "sequence_s", "prefill_token_s")}
        )
        for count in users:
            test: Test = OneUser(kind="one-user") if count == 1 else Concurrency(kind="concurrency", requests=1)
            cell = "one-user" if count == 1 else f"concurrency-{count}"
            for number in range(1, repeats + 1):
                record = played(
                    test, cell, count, number, profile, stages, stagger_s(number), dice.randrange(10**6),
                    run=f"turn-{turn}", topology=topology, started_at=WHEN + timedelta(hours=turn, minutes=number),
                    engine=ENGINE if simulated else REAL,
                )  # fmt: skip
                path = directory / f"turn-{turn}" / "hash" / f"{cell}-{number}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(record.to_json())


def modal(streams: int, number: int, stagger_s: float, seed: int, **more: Any) -> RepeatRecord:
    """Play equal streams on the recorded split server's timing."""
    test = Modes(kind="modes", streams=streams)
    cell = {"test": "modes", "test_kind": "modes", "value": "together", "topology": SPLIT}
    return played(test, "modes-together", streams, number, PROFILES["trial-split"], 2, stagger_s, seed, **(cell | more))
