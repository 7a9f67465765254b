"""Who is signed in, and where."""

import re
from collections.abc import Iterator, Mapping

from cloud.account import Account, home
from cloud.preflight.check import Check
from experiment.cluster import EksCluster

_SESSION = re.compile(r"arn:(aws[a-z-]*):sts::(\d{12}):assumed-role/([^/]+)/.*")


def identity(account: Account, cluster: EksCluster, environment: Mapping[str, str]) -> Iterator[Check]:
    """Check the account that is signed in, and that its maker is not among the cluster's admins.

    Args:
        account: as it is opened by the credentials at hand.
        cluster: as the stack describes it.
        environment: variables of this process.
    """
    number, who = account.identity(home(cluster.region))
    if cluster.account is None:
        yield Check("account", ok=True, said=f"{number} ({who}); cluster.account names none, so any would do")
    else:
        yield Check(
            "account",
            ok=number == cluster.account,
            said=f"signed in to {number} as {who}"
            + ("" if number == cluster.account else f", and cluster.account is {cluster.account}"),
            remedy="Sign in to that account, or mend cluster.account.",
        )
    same = [admin for admin in cluster.admins if _principal(admin) == _principal(who)]
    yield Check(
        "cluster.admins",
        ok=not same,
        said=f"{same[0]} makes the cluster and administers it anyway; EKS refuses a second entry for it"
        if same
        else "whoever makes the cluster is not among them",
        remedy="Take it out of cluster.admins, or have another role run `pulumi up`.",
    )
    in_ci = bool(environment.get("CI")) and bool(environment.get("AWS_PROFILE"))
    yield Check(
        "profile",
        ok=not in_ci,
        said=f"AWS_PROFILE={environment['AWS_PROFILE']} is set in CI"
        if in_ci
        else "none that a pipeline brought along",
        remedy="Take the role by OpenID Connect there, without a profile.",
    )


def region(account: Account, cluster: EksCluster) -> Iterator[Check]:
    """Check that the stack's region is there and on, and that its zones are in it."""
    said = account.ask("ec2", home(cluster.region), "describe_regions", AllRegions=True)
    status = {one["RegionName"]: one.get("OptInStatus", "opt-in-not-required") for one in said["Regions"]}
    on = status.get(cluster.region, "unknown") in ("opt-in-not-required", "opted-in")
    default = account.default_region
    elsewhere = (
        f"; the environment names {default}, which does not matter" if default not in (None, cluster.region) else ""
    )
    yield Check(
        "region",
        ok=on,
        said=f"{cluster.region} is "
        + ("on" if on else "off in this account" if cluster.region in status else "no region")
        + elsewhere,
        remedy="Turn it on in the account's settings, or mend cluster.region.",
    )
    if not on:
        return
    zones = account.ask("ec2", cluster.region, "describe_availability_zones")["AvailabilityZones"]
    there = {one["ZoneName"] for one in zones if one["State"] == "available"}
    lacking = [zone for zone in cluster.zones if zone not in there]
    yield Check(
        "zones",
        ok=not lacking,
        said=f"{', '.join(lacking)}: not in this account" if lacking else ", ".join(cluster.zones),
        remedy=f"Take some of {', '.join(sorted(there))}.",
    )


def _principal(arn: str) -> tuple[str, str]:
    """Return account and name of a role or user; a session's ARN has lost the path of its role."""
    session = _SESSION.fullmatch(arn)
    if session:
        return session[2], session[3]
    return arn.split(":")[4], arn.rpartition("/")[2]
