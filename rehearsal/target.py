"""The cluster a rehearsal runs on: one of our own making, or one that was given."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rehearsal.observer import ClusterUnreachableError, Observer

_PATIENCE_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Target:
    """A reachable cluster, with the settings a stack needs to land on it."""

    name: str
    kubeconfig: Path
    context: str | None
    settings: Mapping[str, Any]
    baseline: frozenset[str]
    exclusive: bool
    """Whether it is of our own making: then its nodes share this machine's files, and nobody else works there."""

    @cached_property
    def observer(self) -> Observer:
        """The eyes on the cluster."""
        return Observer(self.kubeconfig, self.context)

    @cached_property
    def identity(self) -> str:
        """What tells this cluster from one made anew in its place."""
        return self.observer.identity()

    def overrides(self, results: Path) -> dict[str, Any]:
        """Return settings, by dotted path, that put a stack on this cluster, and its records, if they can, there."""
        settings = {"cluster.kubeconfig": str(self.kubeconfig), "cluster.context": self.context, **self.settings}
        if self.exclusive:
            settings["benchmark.results"] = {"kind": "local", "path": str(results)}
        return settings

    def wait_until_alive(self) -> bool:
        """Return whether the API server answers, now or after it was restarted."""
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline:
            try:
                self.observer.check()
            except ClusterUnreachableError:
                time.sleep(1)
            else:
                return True
        return False

    def left_behind(self, namespace: str) -> frozenset[str]:
        """Return the objects that were not there before.

        On a given cluster others work too: there only what lies in `namespace`, and what Pulumi applied,
        counts as ours.
        """
        now = self.observer.objects()
        new = frozenset(now) - self.baseline
        if self.exclusive:
            return new
        return frozenset(
            name for name in new if now[name] or f" {namespace}/" in name or name.endswith(f" /{namespace}")
        )
