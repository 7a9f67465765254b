"""The linter of rendered manifests."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml


class Failed(NamedTuple):
    """A check that an object does not pass; `what` is its kind and name."""

    check: str
    what: str


def manifests(golden: Mapping[str, Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the Kubernetes objects of a golden file; of a LeaderWorkerSet, which no linter knows, its pods."""
    for label, inputs in golden.items():
        kind = label.partition(" ")[0]
        if kind.endswith(":LeaderWorkerSet"):
            for role in ("leader", "worker"):
                template = inputs["spec"]["leaderWorkerTemplate"].get(f"{role}Template")
                if template is not None:
                    name, namespace = (inputs["metadata"][key] for key in ("name", "namespace"))
                    metadata = {**template["metadata"], "name": f"{name}-{role}", "namespace": namespace}
                    yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        elif kind.startswith("kubernetes:") and "helm.sh" not in kind:
            yield inputs


def lint(program: Path, documents: Sequence[Mapping[str, Any]], directory: Path) -> tuple[int, set[Failed]]:
    """Return how many checks were passed, and which were not."""
    (directory / "manifests.yaml").write_text(yaml.safe_dump_all(documents))
    ran = subprocess.run(
        [
            program, "--directory", directory, "--framework", "kubernetes", "--output", "json",
            "--compact", "--quiet", "--skip-download", "--soft-fail",
        ],
        capture_output=True, text=True, check=True, env={**os.environ, "LOG_LEVEL": "ERROR"},
    )  # fmt: skip
    said = json.loads(ran.stdout)
    assert said["summary"]["parsing_errors"] == 0
    failed = {Failed(one["check_id"], _what(one["resource"])) for one in said["results"]["failed_checks"]}
    return said["summary"]["passed"], failed


def _what(resource: str) -> str:
    """Make of `Kind.namespace.name` a kind and a name; what checkov derives from a template has labels behind it."""
    kind, _, name = resource.split(".", 2)
    return f"{kind}/{name}"
