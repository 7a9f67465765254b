"""Where this machine gets its Debian packages from."""

import os
import shutil
import subprocess
from collections.abc import Callable

from rehearsal.images.errors import ImageError

OVERRIDE = "SPLITBED_DEBIAN_MIRROR"


def debian_mirror(update: Callable[[], None]) -> str:
    """Return the address of a Debian mirror: `$SPLITBED_DEBIAN_MIRROR`, or one of apt's sources.

    `update` is called if apt has no package lists yet.

    Raises:
        ImageError: there is neither.
    """
    if chosen := os.environ.get(OVERRIDE):
        return chosen
    if shutil.which("apt-get") is not None:
        if mirror := _from_apt():
            return mirror
        update()
        if mirror := _from_apt():
            return mirror
    raise ImageError(
        "The stand-in's image is made of Debian packages, and no Debian mirror is among apt's sources here.",
        f"Name one in {OVERRIDE}.",
    )


def _from_apt() -> str | None:
    answer = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(LABEL) $(CREATED_BY) $(COMPONENT) $(SITE)"],
        capture_output=True,
        text=True,
        check=False,
    )
    for line in answer.stdout.splitlines():
        label, _, rest = line.partition(" ")
        created_by, _, rest = rest.partition(" ")
        component, _, site = rest.partition(" ")
        is_main = (label, created_by, component) == ("Debian", "Packages", "main")
        if is_main and site.startswith(("http://", "https://")):
            return site
    return None
