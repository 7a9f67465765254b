"""Figures of runs, drawn to files; the same data give the same file."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from experiment.measure.load import APART, MERGED
from report.modes import STAGGERS, LoadRun
from report.quota import ROLES, kind, settings_of, throttled_share

_COLOURS: Mapping[str | None, str] = {MERGED: "#b3431e", APART: "#1f5f8b"}
_OTHER = "#777777"
_MARKERS = dict(zip(STAGGERS, ("o", "s", "^"), strict=True))


def _style() -> AbstractContextManager[None]:
    return mpl.rc_context({"svg.hashsalt": "splitbed", "font.size": 9, "axes.grid": True, "grid.alpha": 0.3})


def draw_modes(engines: Mapping[str, Sequence[LoadRun]], path: Path) -> None:
    """Draw time per token over steps per token, one panel an engine, as SVG."""
    with _style():
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        panels = figure.subplots(1, len(engines), squeeze=False)[0]
        for panel, (name, runs) in zip(panels, engines.items(), strict=True):
            for label, staggers in STAGGERS.items():
                there = [run for run in runs if run.stagger_ms in staggers and run.streams > 1]
                panel.scatter(
                    [run.steps_per_token for run in there],
                    [run.gap_ms for run in there],
                    s=[10 * run.streams for run in there],
                    marker=_MARKERS[label],
                    facecolors="none",
                    edgecolors=[_COLOURS.get(run.mode, _OTHER) for run in there],
                    label=f"started {label}" if label == "together" else f"staggered by {label}",
                )
            panel.set_title(name)
            panel.set_xlabel("engine steps per token of a stream")
            panel.set_xlim(0.8, 2.3)
            panel.set_ylim(bottom=0)
            legend = panel.legend(loc="lower right", fontsize=8)
            for handle in legend.legend_handles:
                if handle is not None:
                    handle.set_sizes([30])
        panels[0].set_ylabel("median time per token, ms")
        _save(figure, path)


def draw_quota(runs: Sequence[LoadRun], path: Path) -> None:
    """Draw time per token, and below it each pod's share of throttled periods, setting by setting, as SVG."""
    names = settings_of(runs)
    with _style():
        figure = Figure(figsize=(9, 5.4), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        for label in dict.fromkeys(kind(run) for run in runs):
            there = [run for run in runs if kind(run) == label]
            above.scatter(
                [names.index(run.setting) + _aside(run) for run in there],
                [run.gap_ms for run in there],
                s=[10 * run.streams for run in there],
                facecolors="none",
                edgecolors=_COLOURS.get(label, _OTHER),
                label=label,
            )
        above.set_ylabel("median time per token, ms")
        above.set_ylim(bottom=0)
        above.legend(title="streams (size: how many)", fontsize=8, title_fontsize=8)
        for role, colour, side in zip(ROLES, ("#333333", "#999999"), (-0.15, 0.15), strict=True):
            shares = [[throttled_share(run, role) for run in runs if run.setting == name] for name in names]
            known = [[value for value in of_one if value is not None] for of_one in shares]
            below.bar(
                [place + side for place in range(len(names))],
                [100 * sum(values) / len(values) if values else 0 for values in known],
                width=0.3,
                color=colour,
                label=role,
            )
        below.set_ylabel("throttled periods, %")
        below.set_ylim(0, 105)
        below.legend(fontsize=8)
        below.set_xticks(
            range(len(names)), [name.replace(" on ", "\non ").replace(", ", "\n") for name in names], fontsize=8
        )
        _save(figure, path)


def _aside(run: LoadRun) -> float:
    """Keep loads that differ from lying on each other."""
    return {1: -0.2, 4: 0.0, 8: 0.2}.get(run.streams, 0.1) + (0.06 if run.stagger_ms else 0.0)


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None})
    # Trailing blanks of the writer's own would trouble every diff.
    path.write_text("\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n")
