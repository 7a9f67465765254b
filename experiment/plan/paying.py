"""Advice on money: what has no known price, and what a run may come to."""

from collections.abc import Iterator

from experiment.plan.facts import Facts
from experiment.plan.money import Money
from experiment.warning import Warning as Warned

_NAMED = 3
"""Lines that are named; a region without prices has none of any."""


def warnings(facts: Facts) -> Iterator[Warned]:
    """Return what a budget does not hold, though the plan is not above it."""
    if facts.money is not None:
        yield from _unpriced(facts.money)
        yield from _longest(facts.money)


def _unpriced(money: Money) -> Iterator[Warned]:
    lines = [line for line in money.hourly if line.usd is None]
    if not lines:
        return
    first, more = ", ".join(line.what for line in lines[:_NAMED]), len(lines) - _NAMED
    what = f"{first} and {more} more" if more > 0 else first
    budget = "" if money.budget_usd is None else f", and the budget of {money.budget_usd:g} USD is not held against it"
    yield Warned(
        "prices-not-known",
        f"What {what} cost an hour is not known ({lines[0].basis}): it is in none of the sums{budget}. "
        "`splitbed catalogue refresh --from aws` reads AWS's prices on demand.",
        {"lines": len(lines)},
    )


def _longest(money: Money) -> Iterator[Warned]:
    longest, budget = money.longest_usd, money.budget_usd
    # With an end date, what it costs until then is held against the budget, and no run goes on after it.
    if longest is None or budget is None or money.end_usd is not None or money.over_budget or longest <= budget:
        return
    yield Warned(
        "longest-run-over-budget",
        f"As expected the run costs {money.run_usd:.2f} USD; if every test takes as long as it may, it is "
        f"{longest:.2f} USD, above the budget of {budget:g}. An end date in time ends it before.",
        {"longest_usd": round(longest, 2), "budget_usd": budget},
    )
