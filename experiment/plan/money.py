"""What a stack costs: by the hour, for the planned run, until its end date; what has no known price is named."""

from datetime import datetime

from experiment.cluster import EksCluster, NewNetwork
from experiment.nodes import InstanceGroup
from experiment.plan.bill import Bill, Hourly, Line
from experiment.plan.duration import Duration
from experiment.plan.part import Part
from experiment.plan.traffic import Flows
from experiment.settings import Settings

NAT_GATEWAYS = 1
"""In the nodes' first zone."""
ENDPOINTS = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts")
"""Services that nodes, add-ons and Pod Identity reach by interfaces of their own where there is no gateway; that of S3
costs nothing."""


class Money(Part):
    """US dollars, taxes excluded.

    Attributes:
        hourly: what costs by the hour.
        once: what the planned run uses up.
        hour_usd: sum of the known prices by the hour.
        run_h: hours of the planned run; None if its length is not known.
        run_usd: what it costs; None likewise.
        longest_usd: what it costs if every test takes as long as it may; None likewise.
        end_h: hours until the end date; None without one.
        end_usd: what it costs if it is forgotten until then; None likewise.
        day_usd: what it costs if it is forgotten for a day.
        after_end_hour_usd: dollars an hour that go on after that, until somebody destroys the stack.
        budget_usd: the stack's own limit.
        unknown: what is in none of the sums, each with its reason.
        dated: the days on which the prices were read, the oldest first.
    """

    hourly: tuple[Hourly, ...]
    once: tuple[Line, ...]
    hour_usd: float
    run_h: float | None
    run_usd: float | None
    longest_usd: float | None
    end_h: float | None
    end_usd: float | None
    day_usd: float
    after_end_hour_usd: float
    budget_usd: float | None
    unknown: tuple[str, ...]
    dated: tuple[str, ...]

    @property
    def priced(self) -> bool:
        """All that costs by the hour has a known price."""
        return all(line.usd is not None for line in self.hourly)

    @property
    def over_budget(self) -> bool:
        """The known prices alone are above the limit, until the end date, or for the run without one."""
        total = self.end_usd if self.end_usd is not None else self.run_usd
        return self.budget_usd is not None and total is not None and total > self.budget_usd


def money(settings: Settings, lasts: Duration, now: datetime, flows: Flows) -> Money | None:
    """Return what the stack costs; None on a cluster that was given, which is not this stack's to pay for.

    Args:
        settings: of the stack.
        lasts: how long it takes.
        now: when the hours until the end date begin.
        flows: what goes over the network.
    """
    cluster = settings.cluster
    if not isinstance(cluster, EksCluster):
        return None
    bill = Bill(cluster.region)
    bill.per_hour("EKS control plane", "eks-cluster-hour", 1, stays=True)
    groups = {"system": settings.nodes.system, "engine": settings.nodes.engine}
    instances = {name: group for name, group in groups.items() if isinstance(group, InstanceGroup)}
    for name, group in instances.items():
        bill.instances(name, group)
    bill.disks(list(instances.values()))
    if isinstance(cluster.network, NewNetwork):
        _network(bill, settings, cluster, cluster.network, flows)
    _used(bill, settings, flows)
    run_h = lasts.run_s / 3600 if lasts.run_s is not None else None
    end_h = (settings.end_date - now).total_seconds() / 3600 if settings.end_date else None
    lines: list[Line] = [*bill.hourly, *bill.once]
    hour = sum(one.usd or 0 for one in bill.hourly)
    once = sum(one.usd or 0 for one in bill.once)
    return Money(
        hourly=tuple(bill.hourly),
        once=tuple(bill.once),
        hour_usd=hour,
        run_h=run_h,
        run_usd=None if run_h is None else hour * run_h + once,
        longest_usd=None if lasts.longest_run_s is None else hour * lasts.longest_run_s / 3600 + once,
        end_h=end_h,
        end_usd=None if end_h is None else hour * end_h + once,
        day_usd=hour * 24 + once,
        after_end_hour_usd=sum(one.usd or 0 for one in bill.hourly if one.stays),
        budget_usd=settings.budget.usd if settings.budget else None,
        unknown=tuple(f"{one.what}: {one.basis}" for one in lines if one.usd is None),
        dated=tuple(sorted(bill.dates)),
    )


def _network(bill: Bill, settings: Settings, cluster: EksCluster, network: NewNetwork, flows: Flows) -> None:
    if network.egress == "nat":
        bill.per_hour("NAT gateway", "nat-gateway-hour", NAT_GATEWAYS, stays=True)
        bill.per_hour("public address of the gateway", "public-ipv4-hour", NAT_GATEWAYS, stays=True)
        bill.by_use("weights through the gateway, once", "nat-gateway-gb", flows.downloaded_gb)
        bill.by_use("images through the gateway", "nat-gateway-gb", None)
    else:
        count = len(ENDPOINTS) * (len(cluster.zones) if _spread(settings) else 1)
        bill.per_hour(f"{count} interface endpoints", "interface-endpoint-hour", count, stays=True)


def _used(bill: Bill, settings: Settings, flows: Flows) -> None:
    bill.by_use("logs of the control plane", "cloudwatch-logs-ingest-gb", None)
    if settings.logs.kind == "cloudwatch":
        bill.by_use("logs of the pods", "cloudwatch-logs-ingest-gb", None)
    if _spread(settings) and settings.topology.size > 1:
        both = (
            None if flows.between_stages_gb is None else 2 * flows.between_stages_gb
        )  # who sends and who receives pay
        bill.by_use("traffic between stages in different zones", "cross-zone-gb", both)


def _spread(settings: Settings) -> bool:
    return isinstance(settings.nodes.engine, InstanceGroup) and settings.nodes.engine.spread
