"""What pods take for a load, less what they take for being there: the idle test of the same run is the baseline."""

from collections.abc import Iterable

from experiment.measure.pods import PodUse
from experiment.record import RepeatRecord

Baselines = dict[tuple[str, str, str], PodUse]
"""By run, plan and pod."""


def baselines(records: Iterable[RepeatRecord]) -> Baselines:
    """Return each pod's use while nothing was asked; of several idle repeats the longest."""
    found: Baselines = {}
    for record in records:
        if record.test_kind != "idle" or record.result != "finished" or record.disturbed:
            continue
        for use in record.figures.pods:
            key = (record.run, record.plan_hash, use.pod)
            if key not in found or found[key].seconds < use.seconds:
                found[key] = use
    return found


def over_idle(record: RepeatRecord, known: Baselines) -> tuple[PodUse, ...]:
    """Return what each pod with a baseline took for the load of a repeat, per token; nothing where there was none."""
    load = record.figures.load
    if record.test_kind == "idle" or load is None or not load.output_tokens:
        return ()
    pairs = ((use, known.get((record.run, record.plan_hash, use.pod))) for use in record.figures.pods)
    return tuple(use.over(idle, load.output_tokens) for use, idle in pairs if idle is not None)
