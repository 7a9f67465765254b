"""What a CPU quota does to a split engine: runs under several settings, side by side."""

from collections.abc import Sequence
from itertools import groupby
from statistics import median

from report.modes import CpuUse, LoadRun

ROLES = ("leader", "worker")


def settings_of(runs: Sequence[LoadRun]) -> list[str]:
    """Return the settings in the order in which they were measured."""
    return list(dict.fromkeys(run.setting for run in runs))


def kind(run: LoadRun) -> str:
    """Return the mode of a run for people; a stream alone has none."""
    return "one stream" if run.streams == 1 else run.mode or "neither"


def throttled_share(run: LoadRun, role: str) -> float | None:
    """Return the share of quota periods in which a pod stood still; None without a quota."""
    use = run.pods.get(role)
    return use.throttled / use.periods if use is not None and use.periods else None


def summary_table(runs: Sequence[LoadRun]) -> str:
    """Return, in Markdown, one line a setting: the range of gaps, and each pod's throttled periods and CPU time."""
    lines = [
        "| setting | runs | one stream | several streams | throttled: leader | throttled: worker | cores used |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting in settings_of(runs):
        of_one = [run for run in runs if run.setting == setting]
        alone = [run.gap_ms for run in of_one if run.streams == 1]
        several = [run.gap_ms for run in of_one if run.streams > 1]
        throttled = (_share(of_one, role) for role in ROLES)
        cores = ", ".join(_cores(of_one, role) for role in ROLES)
        lines.append(
            f"| {setting} | {len(of_one)} | {_gaps(alone)} | {_gaps(several)} | {' | '.join(throttled)} | {cores} |"
        )
    return "\n".join(lines)


def runs_table(runs: Sequence[LoadRun]) -> str:
    """Return, in Markdown, every run in the order in which it was made, settings apart."""
    lines = [
        "| setting | streams, stagger | mode | steps per token | time per token | tokens/s | leader | worker |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for setting, of_one in groupby(runs, key=lambda run: run.setting):
        for run in of_one:
            pods = " | ".join(_periods(run.pods.get(role)) for role in ROLES)
            lines.append(
                f"| {setting} | {run.streams}, {run.stagger_ms} ms | {kind(run)} | "
                f"{run.steps_per_token:.2f} | {run.gap_ms:.1f} ms | {run.tokens_per_s:.1f} | {pods} |"
            )
    return "\n".join(lines)


def _gaps(gaps: Sequence[float]) -> str:
    if not gaps:
        return "-"
    return f"{median(gaps):.0f} ms ({min(gaps):.0f} to {max(gaps):.0f})" if len(gaps) > 1 else f"{gaps[0]:.0f} ms"


def _share(runs: Sequence[LoadRun], role: str) -> str:
    uses = [run.pods[role] for run in runs if role in run.pods]
    periods = sum(use.periods for use in uses)
    if not periods:
        return "no quota"
    throttled = sum(use.throttled for use in uses)
    return f"{throttled} of {periods} ({100 * throttled / periods:.0f} %)"


def _cores(runs: Sequence[LoadRun], role: str) -> str:
    """Return the CPU time that a pod used, over the time that its runs took by their own rates."""
    pairs = [(run.pods[role].cpu_s, _length_s(run)) for run in runs if role in run.pods]
    known = [(cpu, seconds) for cpu, seconds in pairs if cpu is not None]
    used, length = sum(cpu for cpu, _ in known), sum(seconds for _, seconds in known)
    return f"{used / length:.2f}" if length else "not known"


def _length_s(run: LoadRun) -> float:
    return run.streams * run.tokens / run.tokens_per_s if run.tokens_per_s else 0.0


def _periods(use: CpuUse | None) -> str:
    if use is None:
        return "not known"
    if not use.periods:
        return "no quota"
    stood = "" if use.throttled_s is None else f", {use.throttled_s:.1f} s"
    return f"{use.throttled} of {use.periods}{stood}"
