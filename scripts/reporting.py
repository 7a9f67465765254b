"""Reports onto the disk: one page, or a directory with the page and all that belongs to it."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from experiment.errors import SplitbedError
from report.page.directory import FIGURES, INDEX, VERDICT, files
from report.page.page import page
from report.page.report import Made, Report, Source, report
from report.verdict.reading import Named, Reading
from report.verdict.verdict import Verdict
from scripts.errors import ERRORS
from scripts.wholefile import put

METHOD = Path(__file__).resolve().parent.parent / "docs" / "method.md"
_RECKONED_WITH = ("splitbed", "numpy", "scipy", "matplotlib")


@dataclass(frozen=True)
class Reporting:
    """What is to be reported.

    Attributes:
        places: where its records are.
        reading: what they say.
        verdict: on just that.
        command: that judges the same again.
    """

    places: Sequence[Named]
    reading: Reading
    verdict: Verdict
    command: str

    def write(self, *, html: Path | None = None, directory: Path | None = None) -> None:
        """Write a page, a directory or both, and say where they are.

        Raises:
            SplitbedError: the directory holds something that is no report.
            OSError: it cannot be written.
        """
        if directory is not None:
            made_ready(directory)
        drawn = self._report()
        if directory is not None:
            for name, content in files(self._seen(drawn, directory)):
                put(directory / name, content)
            ERRORS.print(f"report: {directory / INDEX}", soft_wrap=True, markup=False, highlight=False)
        if html is not None:
            put(html, page(self._seen(drawn, html.parent)).encode())
            ERRORS.print(f"report: {html}", soft_wrap=True, markup=False, highlight=False)

    def _report(self) -> Report:
        versions = {"Python": platform.python_version(), **{name: version(name) for name in _RECKONED_WITH}}
        method = METHOD.read_text(encoding="utf-8") if METHOD.exists() else ""
        return report(self.reading, self.verdict, Made(datetime.now(UTC), self.command, versions), method)

    def _seen(self, drawn: Report, directory: Path) -> Report:
        """Return a report that leads to the records from a file of that directory."""
        return replace(drawn, sources=tuple(_source(place, directory) for place in self.places))


def made_ready(directory: Path) -> None:
    """Make a directory, or take the pictures of an earlier report out of it: of what is not drawn none may stay.

    Raises:
        SplitbedError: it holds something that is no report.
    """
    if directory.exists() and (not directory.is_dir() or (any(directory.iterdir()) and not _is_report(directory))):
        raise SplitbedError(
            f"--report {directory}: something is there already that is no report.", "Name another directory."
        )
    directory.mkdir(parents=True, exist_ok=True)
    for path in (directory / FIGURES).glob("*"):
        if path.suffix in (".svg", ".png"):
            path.unlink()


def _is_report(directory: Path) -> bool:
    return all((directory / name).is_file() for name in (INDEX, VERDICT))


def _source(place: Named, seen_from: Path) -> Source:
    count = sum(1 for _ in place.path.rglob("*.json")) if place.path.is_dir() else 1
    away = os.path.relpath(place.path.resolve(), seen_from.resolve())
    return Source(place.label or "", str(place.path), quote(Path(away).as_posix()), count)
