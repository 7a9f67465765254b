"""Runs of many loads whose results outlive a kill: one line a run, and what is there is not run again."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rehearsal.progress import Progress
from rehearsal.vllm.modes import Load, line
from report.modes import LoadRun, read


@dataclass(frozen=True)
class Journal:
    """A file of runs that grows by whole lines."""

    path: Path

    def runs(self) -> list[LoadRun]:
        """Return the runs so far.

        Raises:
            ValueError: a whole line is no run.
        """
        return read(self.path)

    def append(self, found: LoadRun) -> None:
        """Add a run; half a line that a killed writer left is dropped first."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            file.seek(0)
            text = file.read()
            file.truncate(text.rfind(b"\n") + 1)
            file.write(found.model_dump_json().encode() + b"\n")


async def run_all(
    journal: Journal,
    wanted: Sequence[Load],
    make: Callable[[Load, int], Awaitable[LoadRun]],
    progress: Progress,
    *,
    engine: str,
    setting: str = "",
) -> list[LoadRun]:
    """Run the loads that the journal does not have yet for this engine and setting, and return all of theirs.

    Args:
        journal: has the runs so far, and gets each new one as soon as it is there.
        wanted: what is to be run, in this order; a load that is in it twice is run twice.
        make: runs one load; gets its place in `wanted`.
        progress: hears of each.
        engine: the engine's name as its runs have it.
        setting: what is varied.
    """
    there = [found for found in journal.runs() if found.engine == engine and found.setting == setting]
    have = Counter(Load(found.streams, found.stagger_ms, found.tokens) for found in there)
    for place, load in enumerate(wanted):
        if have[load]:
            have[load] -= 1
            continue
        found = await make(load, place)
        journal.append(found)
        there.append(found)
        progress.note(f"{engine}{', ' if setting else ''}{setting}, {place + 1} of {len(wanted)}: {line(found)}")
    return there
