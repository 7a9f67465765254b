"""The data files of the catalogues, each read once."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def read(name: str) -> Any:
    """Return what `experiment/data/<name>.json` holds; callers do not change it."""
    return json.loads(files("experiment").joinpath(f"data/{name}.json").read_text())
