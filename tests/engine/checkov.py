"""The linter of rendered manifests, installed from its lock into an environment of its own, once."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from rehearsal.locks import locked
from tests.recording import ROOT

LOCK = ROOT / "requirements" / "checkov.txt"


class Failed(NamedTuple):
    """A check that an object does not pass; `what` is its kind and name."""

    check: str
    what: str


def ensure(home: Path) -> Path:
    """Return the program, installed if need be: some 200 MiB, and seconds."""
    digest = hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()[:12]
    environment = home / "checkov" / digest
    program = environment / "bin" / "checkov"
    with locked(home / "locks" / "checkov", lambda _: None):
        if (environment / "whole").exists():
            return program
        shutil.rmtree(environment, ignore_errors=True)
        uv = str(Path(sys.executable).with_name("uv"))
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(environment)], check=True)
        install = ["pip", "install", "--quiet", "--no-deps", "--require-hashes", "--requirements", str(LOCK)]
        subprocess.run([uv, *install, "--python", str(environment / "bin" / "python")], check=True)
        (environment / "whole").touch()
    return program


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
