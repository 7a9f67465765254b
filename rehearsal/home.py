"""Where the rehearsal keeps what it builds and what runs."""

import os
from pathlib import Path


def home() -> Path:
    """Return `$SPLITBED_HOME`, or `splitbed` in the user's cache directory; nothing is created.

    The path is absolute: programs that are started with it work in other directories.
    """
    if explicit := os.environ.get("SPLITBED_HOME"):
        return Path(explicit).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache).absolute() / "splitbed"
