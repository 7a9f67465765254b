"""All charts that the results have data for, and what is missing for the others."""

from collections.abc import Callable, Sequence

from report.charts.chart import Absent, Chart
from report.charts.cost import cost
from report.charts.follow_up import follow_up
from report.charts.gaps import gaps
from report.charts.goodput import goodput
from report.charts.interference import interference
from report.charts.load import load, prompts
from report.charts.pods import pods
from report.verdict.reading import Arm
from report.verdict.verdict import Verdict


def charts(arms: Sequence[Arm], verdict: Verdict) -> tuple[dict[str, Chart], tuple[Absent, ...]]:
    """Draw what can be drawn.

    Args:
        arms: what was measured.
        verdict: on just that.

    Returns:
        Charts by their slugs, in the order of the report, and the charts that are left out.
    """
    simulated = any(one.simulated for one in verdict.subjects)
    wanted: tuple[tuple[str, str, Callable[[], Chart | None]], ...] = (
        ("Throughput and latency under load", "no result of a test of kind concurrency or open-loop",
         lambda: load(arms, verdict.crossovers, simulated=simulated)),
        ("Gaps between tokens", "no result with eight gaps or more of a test of one user or of equal users",
         lambda: gaps(arms, verdict.modes, simulated=simulated)),
        ("A stream while a long prompt arrives", "no result of a test of kind interference with tokens on both sides",
         lambda: interference(arms, simulated=simulated)),
        ("Time to first token over prompt length", "no result of a test of kind prompt-length",
         lambda: prompts(arms, verdict.crossovers, simulated=simulated)),
        ("Follow-up, warm against cold", "no result of a test of kind follow-up with a cold control",
         lambda: follow_up(arms, simulated=simulated)),
        ("CPU and bytes per token, by pod", "the records hold no counters from inside the pods",
         lambda: pods(arms, simulated=simulated)),
        ("Cost", "no price of an hour is known, or no test of kind concurrency was run: give --hourly or --plan",
         lambda: cost(arms, verdict.prices, simulated=simulated)),
        ("Goodput within the objective", "no result of a test of kind profiles",
         lambda: goodput(arms, simulated=simulated)),
    )  # fmt: skip
    drawn: dict[str, Chart] = {}
    absent = []
    for title, why, draw in wanted:
        chart = draw()
        if chart is None:
            absent.append(Absent(title, why))
        else:
            drawn[chart.slug] = chart
    return drawn, tuple(absent)
