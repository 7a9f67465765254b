"""Where the rehearsal keeps what it builds and what runs."""

import os
from pathlib import Path


def home() -> Path:
    """Return `$SPLITBED_HOME`, or `splitbed` in the user's cache directory; nothing is created."""
    if explicit := os.environ.get("SPLITBED_HOME"):
        return Path(explicit)
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "splitbed"
