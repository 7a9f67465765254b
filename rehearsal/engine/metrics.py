"""Prometheus metrics by the recorded names, help texts, labels and buckets (`data/metrics.json`)."""

import json
import time
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rehearsal.engine.arguments import DATA

Labels = tuple[tuple[str, str], ...]
Scope = Literal["process", "engine", "http"]


def labels(values: Mapping[str, str]) -> Labels:
    """Return labels in the order in which they are shown."""
    return tuple(sorted(values.items()))


def one_two_five(limit: int) -> list[float]:
    """Return vLLM's token buckets: 1, 2, 5, 10, ... up to `limit`."""
    buckets: list[float] = []
    factor = 1
    while True:
        for digit in (1, 2, 5):
            if digit * factor > limit:
                return buckets
            buckets.append(float(digit * factor))
        factor *= 10


def number(value: float) -> str:
    """Return a number as the Prometheus client writes it."""
    text = repr(float(value))
    mantissa, dot, rest = text.partition(".")
    if "e" not in text and dot and len(mantissa.lstrip("-")) > 6:
        sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
        fraction = (digits[1:] + rest).rstrip("0")
        return f"{sign}{digits[0]}.{fraction}e+{len(digits) - 1:02d}"
    return "+Inf" if text == "inf" else text


@dataclass
class Series:
    """The value of one set of labels; counts per bucket for a histogram."""

    value: float = 0.0
    count: int = 0
    buckets: list[int] = field(default_factory=list)
    created: float = field(default_factory=time.time)


@dataclass
class Family:
    """One metric: its name, kind and series."""

    name: str
    kind: str
    help: str
    scope: Scope
    created: bool
    buckets: list[float]
    series: dict[Labels, Series] = field(default_factory=dict)

    def at(self, key: Labels) -> Series:
        """Return the series with these labels; it begins at zero."""
        found = self.series.get(key)
        if found is None:
            found = self.series[key] = Series(buckets=[0] * (len(self.buckets) + 1))
        return found

    def observe(self, value: float, key: Labels) -> None:
        """Count a value in a histogram or summary."""
        series = self.at(key)
        series.value += value
        series.count += 1
        if self.kind == "histogram":
            series.buckets[bisect_left(self.buckets, value)] += 1

    def lines(self) -> list[str]:
        """Return the lines of this metric in the text format."""
        lines = [f"# HELP {self.name} {self.help}", f"# TYPE {self.name} {self.kind}"]
        for key, series in self.series.items():
            lines += self._sample_lines(key, series)
        if self.created and self.series:
            name = self.name.removesuffix("_total") if self.kind == "counter" else self.name
            lines += [f"# HELP {name}_created {self.help}", f"# TYPE {name}_created gauge"]
            lines += [f"{name}_created{_braces(key)} {number(s.created)}" for key, s in self.series.items()]
        return lines

    def _sample_lines(self, key: Labels, series: Series) -> list[str]:
        if self.kind in ("counter", "gauge"):
            return [f"{self.name}{_braces(key)} {number(series.value)}"]
        lines = []
        if self.kind == "histogram":
            total = 0
            for limit, count in zip([*self.buckets, float("inf")], series.buckets, strict=True):
                total += count
                braces = _braces(labels({**dict(key), "le": number(limit)}))
                lines.append(f"{self.name}_bucket{braces} {number(total)}")
        lines.append(f"{self.name}_count{_braces(key)} {number(series.count)}")
        lines.append(f"{self.name}_sum{_braces(key)} {number(series.value)}")
        return lines


def _braces(key: Labels) -> str:
    if not key:
        return ""
    shown = (f'{name}="{_escaped(value)}"' for name, value in key)
    return "{" + ",".join(shown) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


class Registry:
    """All metrics of a server that serves `model_name`."""

    def __init__(self, model_name: str, max_model_len: int) -> None:
        self.common = {"engine": "0", "model_name": model_name}
        self.families: dict[str, Family] = {}
        facts: list[dict[str, Any]] = json.loads((DATA / "metrics.json").read_text())
        for fact in facts:
            buckets = fact.get("buckets", [])
            if isinstance(buckets, str):
                buckets = one_two_five(max_model_len)
            family = Family(fact["name"], fact["kind"], fact["help"], fact["scope"], fact["created"], buckets)
            self.families[family.name] = family
            for series in fact["series"]:
                common = self.common if family.scope == "engine" else {}
                family.at(labels({**common, **series}))

    def engine(self, name: str, **more: str) -> Series:
        """Return a series of the engine, `vllm:` left out of its name."""
        return self.families[f"vllm:{name}"].at(labels({**self.common, **more}))

    def add(self, name: str, amount: float, **more: str) -> None:
        """Increase a counter of the engine."""
        self.engine(name, **more).value += amount

    def set(self, name: str, value: float, **more: str) -> None:
        """Set a gauge of the engine."""
        self.engine(name, **more).value = value

    def observe(self, name: str, value: float) -> None:
        """Count a value in a histogram of the engine."""
        self.families[f"vllm:{name}"].observe(value, labels(self.common))

    def text(self) -> str:
        """Return everything in the text format."""
        lines = [line for family in self.families.values() for line in family.lines()]
        return "\n".join(lines) + "\n"
