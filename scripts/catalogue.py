"""`splitbed catalogue`: the dated facts that a plan stands on, and how to bring them up to date."""

import datetime as dt
import json
from typing import Annotated, Any, Literal

import typer

from experiment.catalogue.prices import Tariff
from experiment.errors import SplitbedError
from scripts.refresh import files, packages
from scripts.refresh.instances import rows

app = typer.Typer(
    help="Instance types and prices: the dated facts that a plan reads, and how to refresh them.", no_args_is_help=True
)


@app.callback()
def _catalogue() -> None:
    """Keep `refresh` a verb of its own."""


@app.command()
def refresh(
    source: Annotated[
        Literal["aws", "packages"],
        typer.Option("--from", help="AWS by your credentials, or packages that carry its facts (us-east-1 only)."),
    ] = "packages",
    region: Annotated[list[str] | None, typer.Option(help="A region of AWS; may be given again.")] = None,
    profile: Annotated[str | None, typer.Option(help="A profile of AWS's configuration.")] = None,
) -> None:
    """Write instance types and prices anew into `experiment/data`; read what changed with git before you keep it."""
    today = dt.datetime.now(dt.UTC).date().isoformat()
    if source == "packages":
        if region or profile:
            raise SplitbedError("Packages know one region, and no profile.", "Say --from aws to ask AWS.")
        described, origin = packages.described()
        _write_instances(rows(described), origin, today)
        _write_prices(packages.prices())
    else:
        _from_aws(region or ["us-east-1"], profile, today)
    typer.echo(f"Written to {files.DATA}. See what changed: git diff --stat experiment/data")


def _from_aws(regions: list[str], profile: str | None, today: str) -> None:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from scripts.refresh import aws

    try:
        session = boto3.Session(profile_name=profile)
        pricing = session.client("pricing", region_name=aws.PRICE_LIST_REGION)
        for region in regions:
            described = aws.described(session.client("ec2", region_name=region))
            _write_instances(rows(described), f"EC2's DescribeInstanceTypes in {region}", today)
            origin = "on-demand, Linux, by AWS's price list"
            _write_prices({region: {"source": origin, "date": today, "usd": aws.on_demand(pricing, region)}})
            _write_tariffs(region, aws.tariffs(pricing, region), today)
    except (BotoCoreError, ClientError) as error:
        raise SplitbedError(
            f"AWS did not answer: {error}",
            "It takes ec2:DescribeInstanceTypes and pricing:GetProducts; see `aws sts get-caller-identity`.",
        ) from error


def _write_instances(found: list[dict[str, Any]], origin: str, today: str) -> None:
    """Write what was found over what was known; types that this source does not have stay."""
    kept = {row["name"]: row for row in _read("instances")["types"]}
    merged = sorted({**kept, **{row["name"]: row for row in found}}.values(), key=lambda row: files.order(row["name"]))
    files.DATA.joinpath("instances.json").write_text(files.instances(merged, origin, today))


def _write_prices(found: dict[str, dict[str, Any]]) -> None:
    names = [row["name"] for row in _read("instances")["types"]]
    for prices in found.values():
        prices["usd"] = {name: prices["usd"][name] for name in names if name in prices["usd"]}
    files.DATA.joinpath("prices.json").write_text(files.prices({**_read("prices"), **found}))


def _write_tariffs(region: str, found: dict[Tariff, float], today: str) -> None:
    known = _read("tariffs")
    new: dict[str, Any] = {
        name: {"usd": usd, "date": today, "source": "AWS's price list"} for name, usd in found.items()
    }
    files.DATA.joinpath("tariffs.json").write_text(files.tariffs({**known, region: {**known.get(region, {}), **new}}))


def _read(name: str) -> Any:
    return json.loads(files.DATA.joinpath(f"{name}.json").read_text())
