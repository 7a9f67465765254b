"""Throughput and latency over users at once, or over requests a second, and where the topologies cross."""

from collections.abc import Sequence

from report.charts.chart import Chart, Numbers, Panel
from report.charts.lines import COLUMNS, lines, rows
from report.charts.series import cells, measured, measures
from report.verdict.crossover import OVER, Crossover
from report.verdict.reading import Arm

_NOT_HERE = "server_cpu_s_per_token"  # has a chart of its own, by pod
_TITLES = {
    "tokens_per_s": "Tokens a second, all users",
    "ttft_p50_s": "Time to first token, median",
    "ttft_p90_s": "Time to first token, p90",
    "gap_p99_s": "Gap between tokens, p99",
    "effective_p90_s": "Time to the whole reply, p90",
    "ttft_s": "Time to first token",
}
HOW = (
    "Marks are geometric means of the runs; thick whiskers are 95 % intervals of the runs, each by itself, thin ones "
    "the range of the repeats of a single run. Words are said by the table, not by eye: its intervals hold together."
)


def load(arms: Sequence[Arm], crossovers: Sequence[Crossover], *, simulated: bool) -> Chart | None:
    """Draw all figures of the tests with many users."""
    return _over(arms, ("concurrency", "open-loop"), "load", "Throughput and latency under load", crossovers, simulated)


def prompts(arms: Sequence[Arm], crossovers: Sequence[Crossover], *, simulated: bool) -> Chart | None:
    """Draw the time to the first token over the length of the prompt."""
    title = "Time to first token over prompt length"
    return _over(arms, ("prompt-length",), "prompt-length", title, crossovers, simulated)


def _over(
    arms: Sequence[Arm],
    kinds: Sequence[str],
    slug: str,
    title: str,
    crossovers: Sequence[Crossover],
    simulated: bool,
) -> Chart | None:
    panels: list[Panel] = []
    numbers: list[tuple[str, ...]] = []
    for kind in kinds:
        found = cells(arms, kind)
        for test in dict.fromkeys(cell.test for cell in found):
            of_test = [cell for cell in found if cell.test == test and cell.value is not None]
            crossings = [one for one in crossovers if one.test == test]
            for measure in measures(arms, of_test):
                lined = measured(arms, of_test, measure)
                if measure.name == _NOT_HERE or not lined:
                    continue
                name = _TITLES.get(measure.name, measure.title)
                several = f" ({test})" if len({cell.test for cell in found}) > 1 else ""
                panels.append(
                    lines(
                        f"{test}-{measure.name.replace('_', '-')}",
                        f"{name}{several}",
                        OVER[kind],
                        measure.unit,
                        lined,
                        simulated=simulated,
                        crossings=crossings if measure.judged else (),
                    )
                )
                numbers += rows(lined, f"{test}: {measure.title}", measure.unit)
    if not panels:
        return None
    return Chart(slug, title, HOW, tuple(panels), Numbers(COLUMNS, tuple(numbers)), simulated)
