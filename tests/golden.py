"""Golden files: what the program made when somebody last looked at it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

GOLDEN = Path(__file__).resolve().parent / "data" / "golden"


def check(request: pytest.FixtureRequest, name: str, text: str) -> None:
    """Compare with a golden file, or write it with `pytest --regenerate-golden`."""
    path = GOLDEN / name
    if request.config.getoption("--regenerate-golden"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert path.exists(), f"no golden file {name}: run `pytest --regenerate-golden` and read what it wrote"
    assert text == path.read_text(), f"{name} differs: if that is meant, run `pytest --regenerate-golden`"


def as_yaml(value: Any) -> str:
    """Return data as YAML with sorted keys; the monitor's numbers are floats, Kubernetes' are whole."""
    return yaml.safe_dump(_whole(value), sort_keys=True, width=120)


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
