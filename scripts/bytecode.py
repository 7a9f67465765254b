"""Compiles what the commands import, once, at set-up.

Where Python is told to write no bytecode, each command, and Pulumi twice in each, would compile all of it again. Of the
AWS SDK, which has a package for each of AWS's services, those are compiled that the components name.
"""

import compileall
import re
import sysconfig
import tomllib
from pathlib import Path

_SERVICE = re.compile(r"\baws\.([a-z0-9]+)\.")


def compile_all(root: Path, site: Path) -> None:
    """Compile our own packages below `root`, and those that are installed in `site`."""
    project = tomllib.loads((root / "pyproject.toml").read_text())
    ours = project["tool"]["uv"]["build-backend"]["module-name"]
    services = {name for file in (root / "components").rglob("*.py") for name in _SERVICE.findall(file.read_text())}
    others = re.compile(rf"/pulumi_aws/(?!({'|'.join(sorted(services))})/)[a-z0-9_]+/")
    for place in (site, *(root / package for package in ours)):
        # Packages carry a file now and then that is not meant for this Python: what cannot be compiled is passed over.
        compileall.compile_dir(place, quiet=2, workers=0, rx=others)


if __name__ == "__main__":
    compile_all(Path(__file__).resolve().parent.parent, Path(sysconfig.get_path("purelib")))
