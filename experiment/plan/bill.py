"""The lines of a bill: each with its price where one is known, and in words where none is."""

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
        what = f"{group.count} x {group.instance}, {name}, {_PURCHASES[group.purchase]}"
        if group.purchase == "spot":
            ceiling = hourly_usd(self._region, group.instance, "on-demand")
            limit = f"; on demand it is {group.count * ceiling.usd:g} USD an hour" if ceiling else ""
            self.hourly.append(
                Hourly(what=what, usd=None, basis=f"spot prices move and are not kept{limit}", stays=False)
            )
            return
        self._add(what, price, group.count, f"of {group.instance}", stays=False)

    def disks(self, name: str, group: InstanceGroup) -> None:
        """Add the volumes of a group, which are gone with its instances."""
        price = tariff(self._region, "gp3-gib-month")
        hourly = Price(usd=price.usd / MONTH_H, source=price.source, date=price.date) if price else None
        size = group.count * group.disk_gib
        self._add(f"{group.count} x {group.disk_gib} GiB gp3, {name}", hourly, size, "of gp3-gib-month", stays=False)

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
        basis = f"{price.usd:.6g} USD each" if count != 1 else f"read {price.date}"
        self.hourly.append(Hourly(what=what, usd=price.usd * count, basis=basis, stays=stays))
