"""Engine versions, by what each calls its metrics and flags."""

from dataclasses import dataclass
from functools import cache

from experiment.catalogue.data import read
from experiment.errors import SplitbedError


@dataclass(frozen=True, kw_only=True)
class Engine:
    """One version of vLLM.

    Attributes:
        version: without a leading v.
        metrics: names on `/metrics`, with their Prometheus type.
        renamed: names of other versions, with what this one calls the same; None for what it no longer has.
        flags: file of its command line under `experiment/data`, without the ending.
        source: where the figures are from.
    """

    version: str
    metrics: dict[str, str]
    renamed: dict[str, str | None]
    flags: str
    source: str


@cache
def engine(version: str) -> Engine:
    """Return what is known of this version.

    Raises:
        SplitbedError: nothing is.
    """
    known = {entry["version"]: entry for entry in read("engines")["engines"]}
    if version not in known:
        raise SplitbedError(f"Nothing is known of vLLM {version}.", f"Known: {', '.join(known)}.")
    return Engine(**known[version])
