"""Experiments of the posts as settings, for the plan's own tests; `stacks/` has those that people run."""

import copy
import json
from datetime import UTC, datetime
from typing import Any

from experiment.settings import Settings, load

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
END = "2026-12-03T12:00:00+00:00"

_EKS = {
    "kind": "eks",
    "region": "us-east-1",
    "zones": ["us-east-1a", "us-east-1b"],
    "endpoint": {"kind": "public", "cidrs": ["203.0.113.0/24"]},
}
_ENGINE = {
    "version": "0.31.0",
    "image": "registry.example/vllm:0.31.0",
    "dtype": "bfloat16",
    "compilation": {"mode": 2, "backend": "eager"},
    "async_scheduling": False,
}
_BASE: dict[str, Any] = {
    "owner": "somebody",
    "purpose": "a question",
    "end_date": END,
    "cluster": _EKS,
    "nodes": {
        "system": {"instance": "m7g.large", "count": 1},
        "engine": {"instance": "m7g.2xlarge", "count": 2},
    },
    "lws": {"mode": "install"},
    "topology": {"kind": "split", "pipeline": 2},
    "benchmark": {
        "run": "1",
        "tests": [{"kind": "one-user", "prompt_tokens": 64, "output_tokens": 200, "repeats": 8}],
        "results": {"kind": "s3"},
    },
}
GEMMA_1B: dict[str, Any] = {
    **_BASE,
    "name": "gemma-1b-split",
    "model": {"name": "google/gemma-3-1b-it", "served_name": "gemma", "token_secret": "hub"},
    "engine": {
        **_ENGINE,
        "resources": {"cpu": 6, "memory_gib": 20},
        "max_model_len": 4096,
        "kv_cache": {"kind": "space", "gib": 4},
    },
}
GEMMA_12B: dict[str, Any] = {
    **_BASE,
    "name": "gemma-12b-split",
    "model": {"name": "google/gemma-4-12B-it", "served_name": "gemma", "token_secret": "hub"},
    "engine": {
        **_ENGINE,
        "resources": {"cpu": 6, "memory_gib": 26},
        "max_model_len": 2048,
        "kv_cache": {"kind": "bytes", "bytes": 400_000_000},
        "flags": {"limit-mm-per-prompt": {"image": 0, "audio": 0, "video": 0}},
        "probes": {"startup_s": 1800},
    },
}


def settings(sample: dict[str, Any], **changes: Any) -> Settings:
    """Load a sample with values changed, named by dotted path with `__` for dots."""
    data = copy.deepcopy(sample)
    for path, value in changes.items():
        *above, last = path.split("__")
        place = data
        for key in above:
            place = place[key]
        place[last] = value
    return load(json.dumps(data), NOW)
