"""What each pod takes for a token, and for being there: CPU, bytes over the split, time held up by its quota."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from experiment.measure.part import Amount, Count, Part, Seconds
from experiment.measure.pods import Pod, PodUse
from experiment.record import RepeatRecord
from report.idle import baselines, over_idle
from report.verdict.reading import Arm
from report.verdict.samples import cells_of, records_of


class PodCost(Part):
    """One pod of a topology under one load; medians over the repeats, none where nothing is known.

    Attributes:
        pod: what `titles` calls it.
        cores: CPU seconds a second, the agent's share in it.
        agent_cores: that share: what the counting itself takes.
        cpu_per_token_s: less the idle baseline, if `less_idle`; `sent_bytes_per_token` likewise.
        throttled_share: of the periods of its quota, those in which it stood still.
        standing_per_token_s: how long it did, for each token of one stream.
    """

    topology: str
    cell: str
    pod: str
    repeats: Count
    cores: Amount | None
    agent_cores: Amount
    cpu_per_token_s: Seconds | None
    sent_bytes_per_token: Amount | None
    less_idle: bool
    throttled_share: Amount | None
    standing_per_token_s: Seconds | None


def pod_costs(arms: Iterable[Arm]) -> tuple[PodCost, ...]:
    """Return every pod of every load of every topology; the idle test is a load of nothing."""
    return tuple(cost for arm in arms for cost in _of(arm))


def titles(record: RepeatRecord) -> dict[str, str]:
    """Return what each pod is called, by its name: its role, and what tells it from others of that role.

    That is its group, and where a group has several workers, group and number as in the pods' own names: `worker 0-2`.
    """
    pods = record.pods.pods
    several = len({pod.group for pod in pods}) > 1
    alike = Counter((pod.role, pod.group) for pod in pods)

    def title(pod: Pod) -> str:
        number = f"-{pod.name.rpartition('-')[2]}" if alike[pod.role, pod.group] > 1 else ""
        return f"{pod.role} {pod.group}{number}" if several or number else pod.role

    return {pod.name: title(pod) for pod in pods}


def throttled(records: Sequence[RepeatRecord]) -> dict[str, float]:
    """Return the median share of throttled periods of each pod that has a quota."""
    shares = {pod: [use.throttled_share for _, use in uses] for pod, uses in _uses(records).items()}
    known = {pod: [share for share in found if share is not None] for pod, found in shares.items()}
    return {pod: median(found) for pod, found in known.items() if found}


def standing_s(records: Sequence[RepeatRecord]) -> float | None:
    """Return how long the pod that stood still longest did so, for each token of one stream; none if none had a quota.

    Pods stand still at the same time or one after the other, and a token waits for all: it is held up so long at least.
    """
    found = [_median(_standing(record, use) for record, use in uses) for uses in _uses(records).values()]
    return max((one for one in found if one is not None), default=None)


def _of(arm: Arm) -> Iterable[PodCost]:
    idle = baselines(record for run in arm.runs for record in run.records)
    for cell in cells_of(arm):
        for pod, uses in _uses(records_of(arm, cell)).items():
            over = [one for record, use in uses for one in over_idle(record, idle) if one.pod == use.pod]
            less_idle = len(over) == len(uses)
            told = over if less_idle else [use for _, use in uses]
            yield PodCost(
                topology=arm.label,
                cell=cell.name,
                pod=pod,
                repeats=len(uses),
                cores=_median(_cores(use.cpu_s, use) for _, use in uses),
                agent_cores=_median(_cores(use.agent_cpu_s, use) for _, use in uses) or 0.0,
                cpu_per_token_s=_median(use.cpu_per_token_s for use in told),
                sent_bytes_per_token=_median(use.sent_bytes_per_token for use in told),
                less_idle=less_idle,
                throttled_share=_median(use.throttled_share for _, use in uses),
                standing_per_token_s=_median(_standing(record, use) for record, use in uses),
            )


def _uses(records: Iterable[RepeatRecord]) -> dict[str, list[tuple[RepeatRecord, PodUse]]]:
    found: dict[str, list[tuple[RepeatRecord, PodUse]]] = defaultdict(list)
    for record in records:
        of_pods = titles(record)
        for use in record.figures.pods:
            found[of_pods[use.pod]].append((record, use))
    return dict(found)


def _standing(record: RepeatRecord, use: PodUse) -> float | None:
    users = {request.user for request in record.requests}
    load = record.figures.load
    if use.throttled_s is None or load is None or not load.output_tokens:
        return None
    return use.throttled_s / (load.output_tokens / len(users))


def _cores(cpu_s: float | None, use: PodUse) -> float | None:
    return cpu_s / use.seconds if cpu_s is not None and use.seconds else None


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
