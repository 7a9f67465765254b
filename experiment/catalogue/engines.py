"""Engine versions, by what each calls its metrics and flags."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from experiment.catalogue.data import read
from experiment.errors import SplitbedError
from experiment.versions import VLLM_VERSION

_SERIES = re.compile(r"_(?:bucket|sum|count)$")


@dataclass(frozen=True, kw_only=True)
class Engine:
    """One version of vLLM.

    Attributes:
        version: without a leading v.
        flags: file of its command line under `experiment/data`, without the ending.
        metrics: its own names on `/metrics`, without the `_created` ones, each with its Prometheus type.
        renamed: names of other versions by what this one calls the same; None for what it no longer tells.
        source: where this is from.
    """

    version: str
    flags: str
    metrics: Mapping[str, str]
    renamed: Mapping[str, str | None]
    source: str

    def metric(self, name: str) -> str:
        """Return what this version calls a metric that may have the name of another version.

        Args:
            name: as on `/metrics`; a histogram also as one of its series, with `_bucket`, `_sum` or `_count`.

        Raises:
            SplitbedError: the version has no such metric, or no longer; the message names one that is spelt nearly so.
        """
        ending = _SERIES.search(name)
        if ending and name not in self.metrics:
            return self.metric(name[: ending.start()]) + ending[0]
        if name in self.metrics:
            return name
        now = self.renamed.get(name)
        if now is not None:
            return now
        if name in self.renamed:
            raise SplitbedError(f"vLLM {self.version} no longer tells {name}.", "Leave it out.")
        near = difflib.get_close_matches(name, self.metrics, n=1)
        raise SplitbedError(f"vLLM {self.version} has no metric {name}.", f"Did you mean {near[0]}?" if near else "")


@cache
def engine(version: str = VLLM_VERSION) -> Engine:
    """Return what is known of a version.

    Raises:
        SplitbedError: nothing is.
    """
    known = {entry["version"]: entry for entry in read("engines")["engines"]}
    if version not in known:
        raise SplitbedError(f"Nothing is known of vLLM {version}.", f"Known: {', '.join(known)}.")
    return Engine(**known[version])
