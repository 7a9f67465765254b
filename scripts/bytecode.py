"""Compiles what the commands import, once, at set-up.

Where Python is told to write no bytecode, each command, and Pulumi twice in each, would compile all of it again. Of the
AWS SDK, which has a package for each of AWS's services, those are compiled that the components name.
"""

import compileall
import re
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("benchmark", "components", "experiment", "rehearsal", "report", "scripts", "stackfiles")
_SERVICE = re.compile(r"\baws\.([a-z0-9]+)\.")


def _services() -> set[str]:
    return {name for file in (ROOT / "components").rglob("*.py") for name in _SERVICE.findall(file.read_text())}


def _compile(directory: Path) -> None:
    # Packages carry a file now and then that is not meant for this Python: what cannot be compiled is passed over.
    others = re.compile(rf"/pulumi_aws/(?!({'|'.join(sorted(_services()))})/)[a-z0-9_]+/")
    compileall.compile_dir(directory, quiet=2, workers=0, rx=others)


if __name__ == "__main__":
    for place in (Path(sysconfig.get_path("purelib")), *(ROOT / package for package in PACKAGES)):
        _compile(place)
