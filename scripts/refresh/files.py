"""The data files of the catalogues as they are written: one entry a line, so that a refresh reads well as a diff."""

import json
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
