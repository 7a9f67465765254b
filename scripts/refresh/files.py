"""The data files of the catalogues as they are written: one entry a line, so that a refresh reads well as a diff."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "experiment" / "data"


def instances(described: Sequence[Mapping[str, Any]], source: str, date: str) -> str:
    """Return the text of `instances.json`.

    Args:
        described: rows as `scripts.refresh.instances.rows` makes them.
        source: where they are from.
        date: the day they were read there, as YYYY-MM-DD.
    """
    lines = ",\n".join(f"  {json.dumps(row)}" for row in described)
    return f'{{\n "source": {json.dumps(source)},\n "date": "{date}",\n "types": [\n{lines}\n ]\n}}\n'


def prices(regions: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of `prices.json`.

    Args:
        regions: `source`, `date` and `usd` an hour by instance type, of every region.
    """
    parts = []
    for region, found in sorted(regions.items()):
        lines = ",\n".join(f"   {json.dumps(name)}: {usd}" for name, usd in found["usd"].items())
        head = f'  "source": {json.dumps(found["source"])},\n  "date": "{found["date"]}",\n'
        parts.append(f' {json.dumps(region)}: {{\n{head}  "usd": {{\n{lines}\n  }}\n }}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def tariffs(regions: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Return the text of `tariffs.json`.

    Args:
        regions: `usd`, `date` and `source` by tariff, of every region.
    """
    parts = []
    for region, found in sorted(regions.items()):
        lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(price)}" for name, price in found.items())
        parts.append(f" {json.dumps(region)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def order(name: str) -> tuple[str, float]:
    """Return a key by which instance types of a family sort by size; sizes without a number of xlarge come last."""
    family, _, size = name.partition(".")
    steps = {"nano": 0.05, "micro": 0.1, "small": 0.2, "medium": 0.3, "large": 0.5, "xlarge": 1.0}
    number = size.removesuffix("xlarge")
    return family, steps.get(size) or (float(number) if number.isdecimal() else math.inf)
