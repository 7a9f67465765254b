"""The stand-in held against real vLLM: the same questions to both, and every difference that is left after masking."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from rehearsal.vllm import counters
from rehearsal.vllm.masking import masked_body, masked_chunk, masked_headers
from rehearsal.vllm.questions import SAMPLE, Round, Sample
from rehearsal.vllm.wire import Answer, Question, ask

_SETTLE_S = 0.4
_IDLE_S = 30.0


@dataclass(frozen=True)
class Facet:
    """One thing observed of a server: of which question, what kind of thing, and its lines."""

    question: str
    kind: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Difference:
    """A facet that is not the same in both servers."""

    question: str
    kind: str
    real: Sequence[str]
    standin: Sequence[str]

    def text(self) -> str:
        """Return it for a person."""
        lines = unified_diff(list(self.real), list(self.standin), "vllm", "stand-in", lineterm="", n=1)
        return "\n".join([f"{self.question}: {self.kind}", *(f"  {line}" for line in lines)])


async def observe(port: int, rounds: Sequence[Round], settle_s: float = _SETTLE_S) -> list[Facet]:
    """Ask one server everything and return what was seen, masked.

    Its counters are read `settle_s` seconds after the last answer of a round, and again until it is idle.
    """
    sample = Sample(["?"] * 12, [0] * 12)
    first = await _scrape(port)
    facets = [Facet("metrics", "families", [f"{name} {kind}" for name, kind in counters.families(first).items()])]
    for asked in rounds:
        questions = asked.questions(sample)
        before = counters.parse(await _scrape(port))
        answers = await asyncio.gather(*(ask(port, question) for question in questions))
        after = counters.parse(await _settled(port, settle_s))
        for question, answer in zip(questions, answers, strict=True):
            facets += _seen(question, answer)
            if question.name == SAMPLE:
                sample = _sample(answer)
        moved = counters.change(
            before,
            after,
            alone=sum(question.sequences for question in questions) <= 1,
            whole=all(question.hang_up_after is None for question in questions),
        )
        facets.append(Facet(asked.name, "counters", [f"{series} {moved[series]:g}" for series in sorted(moved)]))
    last = counters.parse(await _scrape(port))
    return [*facets, Facet("metrics", "series", counters.names(last))]


def compare(real: Sequence[Facet], standin: Sequence[Facet]) -> list[Difference]:
    """Return what differs, in the order in which it was asked."""
    theirs = {(facet.question, facet.kind): facet.lines for facet in standin}
    differences = []
    for facet in real:
        lines = theirs.pop((facet.question, facet.kind), ["(nothing)"])
        if list(facet.lines) != list(lines):
            differences.append(Difference(facet.question, facet.kind, facet.lines, lines))
    differences += [Difference(question, kind, ["(nothing)"], lines) for (question, kind), lines in theirs.items()]
    return differences


def save(facets: Sequence[Facet], path: Path) -> None:
    """Write what was seen, to be compared later: a JSON list, one facet a line."""
    lines = (json.dumps(asdict(facet), ensure_ascii=False) for facet in facets)
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")


def load(path: Path) -> list[Facet]:
    """Return what was written by `save`."""
    return [Facet(**facet) for facet in json.loads(path.read_text())]


def _seen(question: Question, answer: Answer) -> list[Facet]:
    name = question.name
    sized = not answer.status.startswith("HTTP/1.1 200")
    facets = [
        Facet(name, "status", [answer.status]),
        Facet(name, "headers", masked_headers(answer.headers, sized=sized)),
    ]
    if question.hang_up_after is not None:
        return facets
    if answer.streamed:
        chunks = [masked_chunk(chunk) for chunk in answer.chunks]
        lines = [f"{number} {event}" for number, chunk in enumerate(chunks) for event in chunk]
        return [*facets, Facet(name, "stream", lines)]
    if question.path != "/metrics":
        facets.append(Facet(name, "body", [masked_body(answer.body)]))
    return facets


def _sample(answer: Answer) -> Sample:
    events = [json.loads(line[6:]) for line in answer.body.decode().split("\n\n") if line.startswith("data: {")]
    choices: list[Mapping[str, Any]] = [event["choices"][0] for event in events if event.get("choices")]
    return Sample([choice["text"] for choice in choices], [choice["token_ids"][0] for choice in choices])


async def _scrape(port: int) -> str:
    answer = await ask(port, Question("metrics", "GET", "/metrics"))
    return answer.body.decode()


async def _settled(port: int, settle_s: float) -> str:
    """Return a scrape of an idle server; counters move shortly after an answer has ended."""
    deadline = asyncio.get_running_loop().time() + _IDLE_S
    while True:
        await asyncio.sleep(settle_s)
        text = await _scrape(port)
        series = counters.parse(text)
        busy = sum(
            value
            for name, value in series.items()
            if name.startswith(("vllm:num_requests_running", "vllm:num_requests_waiting{"))
        )
        if busy == 0 or asyncio.get_running_loop().time() > deadline:
            return text
