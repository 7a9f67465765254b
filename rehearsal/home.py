"""Where the rehearsal keeps what it builds and what runs."""

import os
from pathlib import Path

from experiment.errors import SplitbedError


class HomeError(SplitbedError):
    """There is no telling where to keep anything."""


def home() -> Path:
    """Return `$SPLITBED_HOME`, or `splitbed` in the user's cache directory; nothing is created.

    The path is absolute: programs that are started with it work in other directories.

    Raises:
        HomeError: the user whose home directory is meant has none.
    """
    explicit = os.environ.get("SPLITBED_HOME")
    try:
        if explicit:
            return Path(explicit).expanduser().absolute()
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:
        whose = f"of SPLITBED_HOME={explicit}" if explicit else "of this user"
        raise HomeError(f"The home directory {whose} is not known.", "Set SPLITBED_HOME to a full path.") from None
    return Path(cache).absolute() / "splitbed"
