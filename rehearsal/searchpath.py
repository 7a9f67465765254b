"""Where programs are looked for: on PATH, and in the system's own directories, which a PATH may lack."""

import os
import shutil

# A root shell may lack the administrators' directories, and a service's PATH nearly all.
SYSTEM_DIRECTORIES = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def search_path() -> str:
    """Return PATH with the system's own directories behind it."""
    own = [place for place in os.environ.get("PATH", "").split(os.pathsep) if place]
    return os.pathsep.join(dict.fromkeys([*own, *SYSTEM_DIRECTORIES]))


def on_path(program: str) -> str | None:
    """Return the path of a program, looking in the system's own directories too."""
    return shutil.which(program, path=search_path())
