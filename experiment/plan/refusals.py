"""Why a stack cannot work, or may not: nothing is made of it."""

from collections.abc import Iterator

from experiment.plan.cache import raised
from experiment.plan.engine import Engine
from experiment.plan.memory import sure
from experiment.plan.money import Money
from experiment.plan.part import Part
from experiment.plan.placement import Placement
from experiment.settings import Settings


class Refusal(Part):
    """One reason; `up` stops before the first resource."""

    name: str
    text: str
    remedy: str


def refusals(settings: Settings, engine: Engine, placement: Placement, money: Money | None) -> Iterator[Refusal]:
    """Return what no acceptance helps against."""
    if engine.error is not None:
        yield Refusal(name="layout-refused", text=engine.error.message, remedy=engine.error.remedy)
    yield from _cache(settings, engine)
    yield from _memory(settings, engine)
    for one in placement.always:
        yield Refusal(name="pods-stay-pending", text=f"{one}.", remedy="Ask for less, or take more or larger nodes.")
    if money is not None and money.over_budget:
        total, what = (money.end_usd, "until the end date") if money.end_usd is not None else (money.run_usd, "a run")
        yield Refusal(
            name="over-budget",
            text=f"{total:.2f} USD {what} are more than the budget of {money.budget_usd:g} USD.",
            remedy="Move the end date nearer, take smaller nodes, or raise budget.usd.",
        )


def _cache(settings: Settings, engine: Engine) -> Iterator[Refusal]:
    cache = engine.cache
    if cache is None or cache.fits:
        return
    about = "A" if cache.exact else "By this estimate a"
    proposal = f"engine.max_model_len: {cache.proposed_len}, or " if cache.proposed_len else ""
    yield Refusal(
        name="kv-cache-refused",
        text=f"{about} request of {cache.max_model_len:,} tokens needs {cache.needed_gib:.2f} GiB of KV cache, and "
        f"{cache.available_gib:.2f} GiB are available"
        + (f"; the engine proposes {cache.proposed_len:,} tokens." if cache.proposed_len else "."),
        remedy=f"Take {proposal}{raised(settings.engine.kv_cache, cache.enough_gib)}.",
    )


def _memory(settings: Settings, engine: Engine) -> Iterator[Refusal]:
    memory = engine.memory
    if memory is None or memory.fit != "refused":
        return
    said = "; ".join(memory.short)
    advice = sure(memory, settings).rstrip(".")
    parts = "over more GPUs (topology.tensor) or pods" if settings.device == "gpu" else "over more pods"
    yield Refusal(
        name="memory-does-not-fit",
        text=f"{said[:1].upper()}{said[1:]}.",
        remedy=f"{advice}; or take larger nodes and ask for more."
        if advice
        else f"Split {parts}, take larger nodes and ask for more, or take a smaller model.",
    )
