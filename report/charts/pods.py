"""What a token costs each pod: CPU time, and bytes that it sends to others."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from experiment.measure.pods import PodUse
from experiment.record import RepeatRecord
from report.charts.chart import Chart, Numbers, Panel
from report.charts.rungs import Dot, Rung, rungs
from report.charts.series import WHISKERS, cells, point
from report.idle import Baselines, baselines, over_idle
from report.verdict.pods import titles
from report.verdict.reading import Arm, Run
from report.verdict.samples import Cell, Sample, middle, records_of

_KINDS = ("one-user", "concurrency")
_FIGURES = (
    ("cpu_per_token_s", "CPU time per token", "s"),
    ("sent_bytes_per_token", "Sent per token", "bytes"),
)
_HOW = (
    "Counted inside each pod around each repeat, over the tokens that came back. {baseline} What the counting itself "
    "takes is part of it. {whiskers}"
)
_OFF = "What the same pod took while idle, in the same run, is taken off."
_IN = "No idle test was run beside, so what an idle pod takes is in it."


def pods(arms: Sequence[Arm], *, simulated: bool) -> Chart | None:
    """Draw one user alone and the most users, two panels each."""
    single = cells(arms, "one-user")[:1]
    many = cells(arms, "concurrency")[-1:]
    panels: list[Panel] = []
    rows: list[tuple[str, ...]] = []
    off = True
    for cell in (*single, *many):
        for name, title, unit in _FIGURES:
            found = []
            for place, arm in enumerate(arms):
                taken, over = _taken(arm, cell, name)
                for role, values in taken.items():
                    one = point(0.0, values)
                    if one is None or one.middle == 0:
                        continue
                    off = off and over
                    found.append(Rung(f"{arm.label}: {role}", place, (Dot(None, one, True),)))
                    shown = (
                        f"{value * (1000 if unit == 's' else 1):,.4g}" for value in (one.middle, one.low, one.high)
                    )
                    rows.append(
                        (cell.name, arm.label, role, f"{title}, {'ms' if unit == 's' else unit}", *shown, str(one.runs))
                    )
            if found:
                slug = f"{cell.name}-{'cpu' if unit == 's' else 'sent'}"
                panels.append(rungs(slug, f"{title}, {cell.name}", unit, found, simulated=simulated))
    if not panels:
        return None
    columns = ("test", "topology", "pod", "figure", "mean", "low", "high", "runs")
    how = _HOW.format(baseline=_OFF if off else _IN, whiskers=WHISKERS)
    return Chart(
        "pods", "CPU and bytes per token, by pod", how, tuple(panels), Numbers(columns, tuple(rows)), simulated
    )


def _taken(arm: Arm, cell: Cell, figure: str) -> tuple[dict[str, Sample], bool]:
    """Return a figure of each pod by its role, and whether the idle baseline is off in all of it."""
    by_run: dict[str, list[tuple[Run, float]]] = defaultdict(list)
    repeats: dict[str, list[float]] = defaultdict(list)
    off = True
    for run in arm.runs:
        idle = baselines(run.records)
        of_run: dict[str, list[float]] = defaultdict(list)
        for record in records_of(Arm(arm.label, (run,)), cell):
            for role, use, over in _uses(record, idle):
                value = getattr(use, figure)
                if value is not None:
                    of_run[role].append(value)
                    off = off and over
        for role, values in of_run.items():
            by_run[role].append((run, middle(values)))
            repeats[role] += values
    return {role: Sample(tuple(found), tuple(repeats[role])) for role, found in sorted(by_run.items())}, off


def _uses(record: RepeatRecord, idle: Baselines) -> Iterator[tuple[str, PodUse, bool]]:
    """Yield each pod's title and what it took, and whether its idle baseline is off."""
    over = {use.pod: use for use in over_idle(record, idle)}
    of_pods = titles(record)
    for use in record.figures.pods:
        yield of_pods[use.pod], over.get(use.pod, use), use.pod in over
