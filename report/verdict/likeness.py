"""Whether two topologies may be compared at all, and what is unlike between them."""

from collections.abc import Callable, Sequence

from experiment.errors import SplitbedError
from experiment.record import RepeatRecord
from report.verdict.reading import Arm

_Trait = Callable[[RepeatRecord], str]

_WITHHOLD: dict[str, _Trait] = {
    "engine version": lambda record: record.engine.version or "not known",
    "prompts": lambda record: {"tokenize": "by the server's tokens", "assumed": "by assumed tokens"}[record.prompt_ids],
}


def refuse_unlike(arms: Sequence[Arm]) -> None:
    """Refuse what no caution could make comparable.

    Raises:
        SplitbedError: there are not two topologies, or their models differ, or one is simulated and another is not, or
            typed figures stand against records or against those of another source.
    """
    if len(arms) < 2:
        found = ", ".join(arm.label for arm in arms) or "none"
        raise SplitbedError(
            f"A comparison takes two topologies, and the results are of {found}.",
            "Name results of another one; LABEL=DIRECTORY gives results a name of their own.",
        )
    typed = {arm.label: any(run.typed for run in arm.runs) for arm in arms}
    if len(set(typed.values())) > 1 or any(run.records and typed[arm.label] for arm in arms for run in arm.runs):
        raise SplitbedError(
            "Typed figures cannot be compared with records: they were not measured alike.", "Compare like with like."
        )
    _one("The models differ", arms, lambda record: record.engine.model)
    _one(
        "Some results are simulated and some are not",
        arms,
        lambda record: "simulated" if record.engine.simulated else "a real engine",
    )
    sources = {run.about.source for arm in arms for run in arm.runs if run.about is not None}
    if len(sources) > 1:
        raise SplitbedError(f"The typed figures are of different sources: {'; '.join(sorted(sources))}.", "Use one.")


def _one(what: str, arms: Sequence[Arm], trait: _Trait) -> None:
    found = {arm.label: _traits([arm], trait) for arm in arms if any(run.records for run in arm.runs)}
    if len({value for values in found.values() for value in values}) > 1:
        said = "; ".join(f"{label}: {', '.join(sorted(values))}" for label, values in found.items())
        raise SplitbedError(f"{what}: {said}.", "Compare results of one model on one engine.")


def _traits(arms: Sequence[Arm], trait: _Trait) -> set[str]:
    return {trait(record) for arm in arms for run in arm.runs for record in run.records}


def withheld_for(arms: Sequence[Arm]) -> tuple[str, ...]:
    """Return why nothing that these topologies measured may be judged; empty if nothing speaks against it."""
    reasons = []
    if _traits(arms, lambda record: "simulated" if record.engine.simulated else "") == {"simulated"}:
        reasons.append("simulated: by Splitbed's stand-in engine, whose figures say nothing about any model")
    for what, trait in _WITHHOLD.items():
        found = {arm.label: ", ".join(sorted(_traits([arm], trait))) for arm in arms}
        if len(set(found.values()) - {""}) > 1:
            reasons.append(f"{what} differs: " + "; ".join(f"{label}: {value}" for label, value in found.items()))
    return tuple(reasons)


def _hardware(arms: Sequence[Arm]) -> list[str]:
    """Name machines that differ: a small one against a large one may be just what is asked, so it is no refusal."""
    types = {arm.label: _traits([arm], _machines) for arm in arms}
    if any("" in found for found in types.values()):
        return ["Not every record names its hardware: that all topologies ran on like nodes is for the reader to know."]
    if len({frozenset(found) for found in types.values()}) > 1:
        said = "; ".join(f"{label}: {', '.join(sorted(found))}" for label, found in types.items())
        return [f"HARDWARE DIFFERS, so a difference is one of machines as much as of topologies: {said}."]
    return []


def _machines(record: RepeatRecord) -> str:
    """Return the types of machines under the pods of a record, "" where one is not known."""
    types = [pod.instance_type for pod in record.pods.pods]
    return " and ".join(sorted({one for one in types if one})) if types and all(types) else ""


def cautions(arms: Sequence[Arm]) -> tuple[str, ...]:
    """Return what a reader must know and the records do not hold, or hold only in part."""
    found = []
    if any(run.records for arm in arms for run in arm.runs):
        found += _hardware(arms)
    unwatched = sorted({one for arm in arms for run in arm.runs for record in run.records for one in record.unwatched})
    if unwatched:
        found.append(f"Not watched, so it may have disturbed unnoticed: {'; '.join(unwatched)}.")
    if not _traits(arms, lambda record: "" if record.verdict is None else "judged") <= {"judged"}:
        found.append("Of some repeats the client did not say whether it was the limit itself.")
    return tuple(found)
