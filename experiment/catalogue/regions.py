"""Regions of AWS, as dated data: good for a hint, not for a refusal, as AWS may open another one any day."""

import difflib
from functools import cache

from experiment.catalogue.data import read


@cache
def regions() -> tuple[str, ...]:
    """Return the names of all regions that were known on the day of the data."""
    return tuple(read("regions")["regions"])


def meant(region: str) -> tuple[str, ...]:
    """Return the known regions that an unknown name is nearest to, the nearest first; none of a known one."""
    return () if region in regions() else tuple(difflib.get_close_matches(region, regions(), n=2, cutoff=0.75))
