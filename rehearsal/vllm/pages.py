"""Tables and plots of the pages on engines, made anew from the kept runs: `python -m rehearsal.vllm.pages`.

The pages' words are written by hand; what lies between the two marks of a block is not.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rehearsal.vllm.quota import LOADS
from rehearsal.vllm.virtual import with_quota
from report import figures, modes, quota
from report.modes import LoadRun, read

PAGES = Path(__file__).parents[2] / "docs" / "engines"
BLOCK = re.compile(r"(?P<begin><!-- made: (?P<name>[\w-]+) -->\n)(?P<text>.*?)(?P<end><!-- end -->)", re.DOTALL)


def modes_blocks(runs: Sequence[LoadRun]) -> Mapping[str, str]:
    """Return the blocks of the page on modes, by name."""
    engines = by_engine(runs)
    return {
        "shares": modes.shares_table(engines),
        "clusters": modes.clusters_table(engines),
        "slowdowns": modes.slowdowns_table(engines),
        "origin": origin(runs),
    }


def quota_blocks(runs: Sequence[LoadRun]) -> Mapping[str, str]:
    """Return the blocks of the page on quotas, by name."""
    simulated = [run for cores in (None, 0.85, 0.6) for run in with_quota(LOADS, cores)]
    return {
        "summary": quota.summary_table(runs),
        "runs": quota.runs_table(runs),
        "simulated": quota.summary_table(simulated),
        "origin": origin(runs),
    }


def runs_of(name: str) -> list[LoadRun]:
    """Return the runs of a page; earlier ones from elsewhere as long as there are none of our own."""
    data = PAGES / "data"
    return read(data / f"{name}.jsonl") or read(data / f"{name}-earlier.jsonl")


def by_engine(runs: Sequence[LoadRun]) -> dict[str, list[LoadRun]]:
    """Return the runs of each engine, those that are simulated named so."""
    found: dict[str, list[LoadRun]] = {}
    for run in runs:
        found.setdefault(f"{run.engine} (simulated)" if run.simulated else run.engine, []).append(run)
    return found


def origin(runs: Sequence[LoadRun]) -> str:
    """Return a sentence on where and when the runs were made."""
    machines = dict.fromkeys(run.machine for run in runs)
    days = sorted({f"{run.at:%Y-%m-%d}" for run in runs if run.at is not None})
    when = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "day not kept"
    return f"{len(runs)} runs, {when}, {'; '.join(machines)}."


def filled(page: str, blocks: Mapping[str, str]) -> str:
    """Return a page with its blocks made anew.

    Raises:
        KeyError: the page has a block that is not made.
    """
    return BLOCK.sub(lambda found: f"{found['begin']}{blocks[found['name']]}\n{found['end']}", page)


def main() -> None:
    """Write both pages and their plots."""
    made: dict[str, tuple[Callable[[Sequence[LoadRun]], Mapping[str, str]], Callable[[Sequence[LoadRun], Path], None]]]
    made = {
        "modes": (modes_blocks, lambda runs, path: figures.draw_modes(by_engine(runs), path)),
        "quota": (quota_blocks, figures.draw_quota),
    }
    for name, (blocks, draw) in made.items():
        runs = runs_of(name)
        page = PAGES / f"{name}.md"
        page.write_text(filled(page.read_text(), blocks(runs)))
        draw(runs, PAGES / f"{name}.svg")


if __name__ == "__main__":
    main()
