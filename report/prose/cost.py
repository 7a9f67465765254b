"""What tokens cost: CPU time of all pods, how busy they are, and what they send each other."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from experiment.measure.pods import PodUse
from experiment.record import RepeatRecord
from report.idle import Baselines, baselines, over_idle


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Bytes between the pods of a split, both ways, the idle baseline taken off."""

    per_prompt_token: float
    per_generated_token: float


def cpu_per_token_s(records: Sequence[RepeatRecord], kind: str = "one-user") -> float | None:
    """Return the CPU seconds of all pods for a token of one kind of test, the idle baseline taken off.

    None where a pod was not looked into, nobody measured it idle, or nothing came.
    """
    known = baselines(records)
    costs = []
    for record in records:
        if record.test_kind != kind:
            continue
        of_pods = [use.cpu_per_token_s for use in over_idle(record, known)]
        found = [cost for cost in of_pods if cost is not None]
        if found and len(found) == len(record.pods.pods):
            costs.append(sum(found))
    return median(costs) if costs else None


def cores_busy(records: Iterable[RepeatRecord], kind: str = "one-user") -> Mapping[str, float]:
    """Return how many cores each pod keeps busy in one kind of test, its median over the repeats."""
    found: dict[str, list[float]] = {}
    for record in records:
        if record.test_kind == kind:
            for use in record.figures.pods:
                if use.cpu_s is not None and use.seconds:
                    found.setdefault(use.pod, []).append(use.cpu_s / use.seconds)
    return {pod: median(values) for pod, values in found.items()}


def traffic(records: Sequence[RepeatRecord]) -> Traffic | None:
    """Return what a prompt token and a generated one move between the two pods of a split.

    A worker talks to its leader alone, so its bytes are the traffic; each test has prompt and generated tokens in
    another proportion, and the two figures are the least squares over all repeats. None where there is no worker, no
    idle baseline, or only one proportion.
    """
    known = baselines(records)
    rows, moved = [], []
    for record in records:
        found = _between(record, known)
        if found is not None and record.test_kind != "idle":
            replies = record.replies
            cached = sum(reply.tokens.cached or 0 for reply in replies)
            rows.append(
                (sum(reply.tokens.prompt for reply in replies) - cached, sum(reply.tokens.output for reply in replies))
            )
            moved.append(found)
    if len(rows) < 2 or np.linalg.matrix_rank(np.array(rows, dtype=float)) < 2:
        return None
    (prompt, generated), *_ = np.linalg.lstsq(np.array(rows, dtype=float), np.array(moved), rcond=None)
    return Traffic(per_prompt_token=float(prompt), per_generated_token=float(generated))


def _between(record: RepeatRecord, known: Baselines) -> float | None:
    """Return the bytes of all workers, both ways, less what they move idle; None if one of them is not known."""
    workers = {pod.name for pod in record.pods.pods if pod.role == "worker"}
    used = [use for use in record.figures.pods if use.pod in workers]
    idle = [known.get((record.run, record.plan_hash, use.pod)) for use in used]
    if not used or len(used) != len(workers):
        return None
    moved = 0.0
    for use, baseline in zip(used, idle, strict=True):
        if baseline is None or not baseline.seconds:
            return None
        moved += max(0.0, _bytes(use) - use.seconds / baseline.seconds * _bytes(baseline))
    return moved


def _bytes(use: PodUse) -> int:
    return use.sent_bytes + use.received_bytes
