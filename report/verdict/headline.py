"""The verdict in one sentence, for a reader who reads no further."""

from collections import defaultdict
from collections.abc import Sequence

from report.verdict.decision import EITHER, Choice
from report.verdict.verdict import Verdict

_MOST = 3
"""Workloads that are named; more are counted."""

_SHORT = {
    "one user at a time, who reads along": "one user",
    "long prompts, short replies": "long prompts",
    "users whose streams must not freeze when others send long prompts": "streams that must not freeze",
    "conversations of many turns": "conversations",
    "service that must go on when a pod dies": "the loss of a pod",
}


def headline(verdict: Verdict) -> str:
    """Return which topology to take, for what, and how sure that is; what is simulated says so first."""
    said = _plain(_said(verdict), [one.topology for one in verdict.subjects])
    if any(one.simulated for one in verdict.subjects):
        return f"Simulated: {said[0].lower()}{said[1:]}"
    return said


def _plain(said: str, topologies: Sequence[str]) -> str:
    """Leave out the sizes of topologies that can be told apart without: `split (pipeline 2, tensor 1)` is the split."""
    short = [name.partition(" (")[0] for name in topologies]
    if len(set(short)) == len(short):
        for name, one in zip(topologies, short, strict=True):
            said = said.replace(name, one)
    return said


def _said(verdict: Verdict) -> str:
    names = " and ".join(one.topology for one in verdict.subjects)
    shown = [one for one in verdict.choices if one.sure == "shown"]
    if shown:
        return _shown(shown, verdict)
    if any(one.word is not None for one in verdict.comparisons):
        cheaper = {one.topology for one in verdict.choices} - {EITHER}
        less = f"; {cheaper.pop()} costs less by the hour" if len(cheaper) == 1 and verdict.money else ""
        return f"No difference was shown between {names}{less}."
    described = [one for one in verdict.choices if one.topology != EITHER]
    if not described:
        return f"Nothing can be said: {names} have no figure in common by which to choose."
    return f"Described, not judged: {_by_topology(described, 'measured better')}."


def _shown(shown: Sequence[Choice], verdict: Verdict) -> str:
    winners = dict.fromkeys(one.topology for one in shown)
    if len(winners) > 1:
        return f"It depends on the workload: {_by_topology(shown, 'is better')}."
    winner = next(iter(winners))
    even = sum(one.sure == "no difference shown" for one in verdict.choices)
    rest = f", and no difference was shown for {_counted(even)}" if even else ""
    return f"Take {winner}: it is better for {_listed([one.workload for one in shown])}{rest}."


def _by_topology(found: Sequence[Choice], how: str) -> str:
    by: dict[str, list[str]] = defaultdict(list)
    for one in found:
        by[one.topology].append(one.workload)
    return "; ".join(f"{topology} {how} for {_listed(workloads)}" for topology, workloads in by.items())


def _listed(workloads: Sequence[str]) -> str:
    named = [_short(workload) for workload in workloads[: _MOST + (len(workloads) == _MOST + 1)]]
    more = len(workloads) - len(named)
    if more:
        return f"{', '.join(named)} and {_counted(more)} more"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def _short(workload: str) -> str:
    """Shorten a workload to what fits into a sentence; the table names the load by which it was decided."""
    whole, _, load = workload.removesuffix(")").partition(" (")
    if load.endswith(" users"):
        return load
    return _SHORT.get(whole, whole.removeprefix("profile "))


def _counted(number: int) -> str:
    return f"{number} workload{'s' if number != 1 else ''}"
