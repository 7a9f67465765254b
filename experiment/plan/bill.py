"""The lines of a bill: each with its price where one is known, and in words where none is."""

from collections.abc import Sequence

from experiment.catalogue.prices import Price, Purchase, Tariff, hourly_usd, tariff
from experiment.nodes import InstanceGroup
from experiment.plan.part import Part

MONTH_H = 730
"""Hours of a month, as AWS bills what is priced by the month."""

_PURCHASES: dict[Purchase, str] = {"on-demand": "on demand", "spot": "spot", "reservation": "reserved"}


class Line(Part):
    """Something that costs.

    Attributes:
        what: in words.
        usd: dollars, an hour or for what the planned run uses up; None if the price or the amount is not known.
        basis: of what the sum is made, or what is not known.
    """

    what: str
    usd: float | None
    basis: str


class Hourly(Line):
    """Something that costs as long as it is there; `stays` says that AWS's schedule at the end date leaves it."""

    stays: bool


class Bill:
    """Collects lines, and what they rest on."""

    def __init__(self, region: str) -> None:
        self._region = region
        self.hourly: list[Hourly] = []
        self.once: list[Line] = []
        self.dates: set[str] = set()

    def per_hour(self, what: str, name: Tariff, count: int, *, stays: bool) -> None:
        """Add so many of something that has a price by the hour."""
        self._add(what, tariff(self._region, name), count, f"of {name}", stays=stays)

    def instances(self, name: str, group: InstanceGroup) -> None:
        """Add the instances of a group."""
        price = hourly_usd(self._region, group.instance, group.purchase)
        what = f"{group.count} x {group.instance} {_PURCHASES[group.purchase]} ({name})"
        if group.purchase == "spot":
            ceiling = hourly_usd(self._region, group.instance, "on-demand")
            limit = f"; on demand it is {group.count * ceiling.usd:g} USD an hour" if ceiling else ""
            self.hourly.append(
                Hourly(what=what, usd=None, basis=f"spot prices move and are not kept{limit}", stays=False)
            )
            return
        self._add(what, price, group.count, f"of {group.instance}", stays=False)

    def disks(self, groups: Sequence[InstanceGroup]) -> None:
        """Add the volumes of all groups, which are gone with their instances."""
        price = tariff(self._region, "gp3-gib-month")
        size = sum(group.count * group.disk_gib for group in groups)
        what = f"{size} GiB of gp3 volumes"
        if price is None:
            self._add(what, None, size, "of gp3-gib-month", stays=False)
            return
        self.dates.add(price.date)
        basis = f"{price.usd:g} USD a GiB and month, {price.date}"
        self.hourly.append(Hourly(what=what, usd=price.usd * size / MONTH_H, basis=basis, stays=False))

    def by_use(self, what: str, name: Tariff, amount_gb: float | None) -> None:
        """Add what is paid by the gigabyte (1e9 bytes)."""
        price = tariff(self._region, name)
        if price is None:
            self.once.append(Line(what=what, usd=None, basis=f"the price of {name} in {self._region} is not known"))
            return
        each = f"{price.usd:g} USD a GB"
        self.dates.add(price.date)
        if amount_gb is None:
            self.once.append(Line(what=what, usd=None, basis=f"how much is not known beforehand; {each}"))
        else:
            self.once.append(Line(what=what, usd=price.usd * amount_gb, basis=f"{amount_gb:.1f} GB at {each}"))

    def _add(self, what: str, price: Price | None, count: float, of: str, *, stays: bool) -> None:
        if price is None:
            basis = f"the price {of} in {self._region} is not known"
            self.hourly.append(Hourly(what=what, usd=None, basis=basis, stays=stays))
            return
        self.dates.add(price.date)
        basis = f"{price.usd:.6g} USD each, {price.date}" if count != 1 else price.date
        self.hourly.append(Hourly(what=what, usd=price.usd * count, basis=basis, stays=stays))
