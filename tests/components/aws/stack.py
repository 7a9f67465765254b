"""Settings of a stack on EKS, small enough to vary, with every part that AWS has something to do with."""

import copy
from typing import Any

_ENGINE_IMAGE = "vllm.invalid/engine:v0.31.0"

_SETTINGS: dict[str, Any] = {
    "name": "some-split",
    "owner": "the measuring team",
    "purpose": "is it faster, or not?",
    "end_date": "2100-12-31T18:00:00+01:00",
    "tags": {"CostCenter": "1234", "auto-delete": "{end_date}"},
    "cluster": {
        "kind": "eks",
        "region": "us-east-1",
        "zones": ["us-east-1a", "us-east-1b"],
        "version": "1.34",
        "account": "123456789012",
        "endpoint": {"kind": "public", "cidrs": ["203.0.113.0/24"]},
        "network": {"kind": "new", "cidr": "10.42.0.0/16", "egress": "nat"},
        "admins": ["arn:aws:iam::123456789012:role/ops/Admin"],
        "log_retention_days": 14,
    },
    "nodes": {
        "system": {"instance": "m7g.xlarge", "count": 1},
        "engine": {"instance": "m7g.2xlarge", "count": 2},
    },
    "lws": {"mode": "install"},
    "model": {
        "name": "google/gemma-3-1b-it",
        "served_name": "gemma-3-1b-it",
        "gated": True,
        "token_secret": "hub-token",
    },
    "engine": {
        "version": "0.31.0",
        "image": _ENGINE_IMAGE,
        "resources": {"cpu": 6, "memory_gib": 20},
        "max_model_len": 4096,
        "kv_cache": {"kind": "space", "gib": 4},
        "async_scheduling": False,
    },
    "topology": {"kind": "split", "pipeline": 2},
    "accept": ["split-fits-one-pod"],
    "benchmark": {
        "run": "1",
        "tests": [{"kind": "one-user", "prompt_tokens": 64, "output_tokens": 200, "repeats": 8}],
        "results": {"kind": "s3", "keep": False},
    },
}


def settings(**changes: Any) -> dict[str, Any]:
    """Return the settings with some values changed, named by dotted path with `__` for dots."""
    changed = copy.deepcopy(_SETTINGS)
    for path, value in changes.items():
        *above, last = path.split("__")
        place = changed
        for key in above:
            place = place[key]
        place[last] = value
    return changed
