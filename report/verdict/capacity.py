"""What a topology carries within an objective, and what a million tokens of it cost."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from experiment.measure.endurance import highest_rate
from experiment.measure.part import Amount, Count, Part
from experiment.plan.plan import ExperimentPlan
from experiment.record import RepeatRecord
from report.statistics.intervals import of_mean
from report.verdict.reading import Arm
from report.verdict.samples import cells_of, keep_all, measures_of, middle, sample

LEVEL = 0.95


class Capacity(Part):
    """Of one topology, one test and one profile of workload.

    Attributes:
        highest: of each run, the highest rate in requests a second at and below which every repeat kept the
            objective; None where none did.
        rates: that were tried.
        rate: that every run kept: the least of `highest`; None if a run kept none.
        goodput_tokens_per_s: at `rate`, the geometric mean of the runs; None without a rate.
        usd_per_million: dollars for a million such tokens; None without a price.
    """

    topology: str
    test: str
    profile: str
    runs: Count
    rates: tuple[Amount, ...]
    highest: tuple[Amount | None, ...]
    rate: Amount | None
    goodput_tokens_per_s: Amount | None
    usd_per_million: Amount | None


class Price(Part):
    """What a million tokens cost at one load; the interval is over the runs, each topology by itself."""

    topology: str
    cell: str
    runs: Count
    usd_per_million: Amount
    low: Amount | None
    high: Amount | None


class Money(Part):
    """What an hour of a topology costs, and where that was read."""

    topology: str
    usd_per_hour: Amount
    source: str


def hourly_by(plan: ExperimentPlan, label: str) -> Money | None:
    """Return what an hour costs by a plan; None where the stack pays for nothing."""
    if plan.money is None:
        return None
    unknown = f"; not counted: {', '.join(plan.money.unknown)}" if plan.money.unknown else ""
    dated = f", prices of {plan.money.dated[0]}" if plan.money.dated else ""
    return Money(
        topology=label, usd_per_hour=plan.money.hour_usd, source=f"plan of {plan.subject.name}{dated}{unknown}"
    )


def capacities(arms: Sequence[Arm], money: Mapping[str, Money]) -> tuple[Capacity, ...]:
    """Return what each topology carries in every test of profiles."""
    return tuple(found for arm in arms for found in _of(arm, money.get(arm.label)))


def prices(arms: Sequence[Arm], money: Mapping[str, Money]) -> tuple[Price, ...]:
    """Return the price of tokens in every cell whose deciding figure is tokens a second of all users."""
    return tuple(price for arm in arms if (hour := money.get(arm.label)) is not None for price in _prices(arm, hour))


def per_million(usd_per_hour: float, tokens_per_s: float) -> float:
    """Return dollars for a million tokens: usd_per_hour / (3600 tokens_per_s) x 1e6."""
    return usd_per_hour / (3600 * tokens_per_s) * 1e6


def _of(arm: Arm, hour: Money | None) -> Iterator[Capacity]:
    groups: dict[tuple[str, str], dict[str, list[tuple[float, RepeatRecord]]]] = defaultdict(lambda: defaultdict(list))
    for run in arm.runs:
        for record in run.records:
            if record.figures.goodput is not None and isinstance(record.value, str):
                profile, _, at = record.value.rpartition(" ")
                groups[record.test, profile][run.name].append((float(at), record))
    for (test, profile), runs in groups.items():
        highest = [highest_rate([(rate, _kept(record)) for rate, record in found]) for found in runs.values()]
        known = [rate for rate in highest if rate is not None]
        rate = min(known) if len(known) == len(highest) else None
        goodput = None
        if rate is not None:
            of_runs = [[_tokens(record) for tried, record in found if tried == rate] for found in runs.values()]
            goodput = middle([middle(values) for values in of_runs if values])
        yield Capacity(
            topology=arm.label,
            test=test,
            profile=profile,
            runs=len(runs),
            rates=tuple(sorted({rate for found in runs.values() for rate, _ in found})),
            highest=tuple(highest),
            rate=rate,
            goodput_tokens_per_s=goodput,
            usd_per_million=per_million(hour.usd_per_hour, goodput) if hour is not None and goodput else None,
        )


def _kept(record: RepeatRecord) -> bool:
    return record.figures.goodput is not None and record.figures.goodput.kept


def _tokens(record: RepeatRecord) -> float:
    return record.figures.goodput.tokens_per_s if record.figures.goodput is not None else 0.0


def _prices(arm: Arm, hour: Money) -> Iterator[Price]:
    for cell in cells_of(arm):
        for measure in measures_of(cell, [arm]):
            if measure.name != "tokens_per_s":
                continue
            costs = [
                per_million(hour.usd_per_hour, value)
                for _, value in sample(arm, cell, measure, keep_all).by_run
                if value
            ]
            if not costs:
                continue
            found = of_mean(costs, LEVEL) if len(costs) > 1 else None
            yield Price(
                topology=arm.label,
                cell=cell.name,
                runs=len(costs),
                usd_per_million=sum(costs) / len(costs),
                low=max(0.0, found.low) if found else None,
                high=found.high if found else None,
            )
