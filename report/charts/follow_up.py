"""The second turn of a conversation: its first token beside that of an unlike prompt of the same length."""

from collections.abc import Sequence

from report.charts.chart import Chart, Numbers
from report.charts.rungs import Dot, Rung, rungs
from report.charts.scale import number
from report.charts.series import WHISKERS, cells, measures, point_of
from report.verdict.reading import Arm
from report.verdict.samples import Cell, records_of

_ROUTES = {"service": "over the Service", "replica": "kept at one replica"}
_HOW = (
    "Time to the first token of a turn that repeats the conversation so far (warm), and of an unlike prompt of the "
    f"same length (cold); what lies between is what the prefix cache saves. {WHISKERS}"
)


def follow_up(arms: Sequence[Arm], *, simulated: bool) -> Chart | None:
    """Draw a row for each topology and route."""
    found, rows = [], []
    for cell in cells(arms, "follow-up"):
        by_name = {measure.name: measure for measure in measures(arms, [cell])}
        if not {"warm_ttft_s", "cold_ttft_s"} <= by_name.keys():
            continue
        for place, arm in enumerate(arms):
            warm, cold = (point_of(arm, cell, by_name[name]) for name in ("warm_ttft_s", "cold_ttft_s"))
            if warm is None or cold is None:
                continue
            hits = _hits(arm, cell)
            remark = "" if hits is None else f"{100 * hits:.0f} % cached"
            label = f"{arm.label}, {_ROUTES.get(str(cell.value), cell.value)}"
            found.append(Rung(label, place, (Dot("warm", warm, True), Dot("cold", cold, False)), remark))
            ends = (1000 * value for one in (warm, cold) for value in (one.middle, one.low, one.high))
            ratio = number(cold.middle / warm.middle) if warm.middle else "-"
            rows.append((label, *(f"{value:,.4g}" for value in ends), ratio, remark or "not known"))
    if not found:
        return None
    columns = (
        "topology and route",
        "warm, ms",
        "low",
        "high",
        "cold, ms",
        "low",
        "high",
        "cold / warm",
        "prefix cache",
    )
    panel = rungs("follow-up", "Time to first token", "s", found, simulated=simulated)
    return Chart("follow-up", "A follow-up turn, warm against cold", _HOW, (panel,),
                 Numbers(columns, tuple(rows)), simulated)  # fmt: skip


def _hits(arm: Arm, cell: Cell) -> float | None:
    """Return the share of the warm turn's tokens that the servers' prefix caches had; None where they do not tell."""
    known = [record.figures.follow_up for record in records_of(arm, cell)]
    pairs = [(one.warm_hits, one.warm_queries) for one in known if one is not None and one.warm_queries]
    hits = sum(hit or 0 for hit, _ in pairs)
    return hits / sum(asked or 0 for _, asked in pairs) if pairs else None
