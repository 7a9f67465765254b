"""Finding programs, and building those that are not there."""

import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rehearsal.child import duration
from rehearsal.disk import free_mib, gib, require_space
from rehearsal.locks import locked
from rehearsal.progress import Progress
from rehearsal.toolchain.builds import Build, sources, stated_version, wrong_version
from rehearsal.toolchain.chart import copied_chart
from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.golang import Go, explained
from rehearsal.toolchain.programs import PROGRAMS, Program
from rehearsal.toolchain.pruning import prune

_LINK_SECONDS = 20.0  # a build of which everything is cached but the last step
_BINARY_MIB = 130  # the largest of them


@dataclass(frozen=True)
class _Work:
    """What a build still takes, given what Go has already."""

    seconds: float
    fetched_mib: int
    compiled_mib: int


class Toolchain:
    """The programs of a rehearsal, from this machine or from the cache under `home`."""

    def __init__(self, home: Path, progress: Progress) -> None:
        self._home = home
        self._root = home / "tools"
        self._progress = progress

    @cached_property
    def _go(self) -> Go:
        return Go()

    def ensure(self, *names: str) -> dict[str, Path]:
        """Return the path of each program, after building those that are neither installed nor cached.

        What has to be built is announced first, with the time and the disk it takes.

        Raises:
            ToolchainError: Go is missing or too old, a module cannot be fetched, a build failed.
            DiskError: there is not enough room for what has to be built.
        """
        programs = [_program(name) for name in names]
        found = {program.name: path for program in programs if (path := self._installed(program))}
        wanted = [program for program in _in_order(programs) if program.name not in found]
        builds = [Build(program, self._root, self._go.version(program.directory)) for program in wanted]
        missing = [build for build in builds if not self._usable(build)]
        if missing:
            self._announce(missing)
            for build in missing:
                self._build(build)
        for build in builds:
            with suppress(OSError):  # a home that may only be read serves all the same
                os.utime(build.directory)  # it is in use: see `prune`
        found |= {build.program.name: build.binary for build in builds}
        return {name: found[name] for name in names}

    def lws_chart(self) -> Path:
        """Return a copy of the LeaderWorkerSet chart in the pinned module, with that module's version.

        Raises:
            ToolchainError: the module cannot be fetched, or its chart is for another version.
        """
        program = PROGRAMS["lws-manager"]
        self._go.version(program.directory)
        with locked(self._home / "locks" / "lws-chart", self._progress.note):
            return copied_chart(program, self._go, self._root)

    def _installed(self, program: Program) -> Path | None:
        """Return a fitting program of this machine, and say why another is not taken."""
        for place in program.places:
            path = Path(place).expanduser()
            if os.access(path, os.X_OK) and (program.fits is None or self._fits(program, path)):
                self._progress.note(f"{program.name}: {path}, which was there")
                return path
        on_path = shutil.which(program.name) if program.fits is not None else None
        if on_path is not None and self._fits(program, Path(on_path)):
            self._progress.note(f"{program.name}: {on_path}, which was there")
            return Path(on_path)
        return None

    def _fits(self, program: Program, path: Path) -> bool:
        said = stated_version(program, path)
        if said is not None and program.accepts(said):
            return True
        self._progress.note(f"{path} is left alone: it says {said or 'no version'}, and {program.fits} is needed")
        return False

    def _usable(self, build: Build) -> bool:
        flaw = build.flaw()
        if flaw:
            self._progress.note(f"{build.binary} is built anew: {flaw}")
        return flaw is None

    def _announce(self, missing: list[Build]) -> None:
        names = ", ".join(build.program.name for build in missing)
        self._progress.note(f"to be built: {names}; looking at what Go has of it already")
        ahead = [self._ahead(build.program) for build in missing]
        fetched, compiled = (sum(work.fetched_mib for work in ahead), sum(work.compiled_mib for work in ahead))
        ours = _BINARY_MIB * len(missing) + max(work.compiled_mib for work in ahead)
        modules, builds = self._go.caches
        require_space(
            f"Building {names}",
            {modules: fetched, builds: compiled, self._root: ours},
            {modules: "GOMODCACHE", builds: "GOCACHE"},
        )
        self._progress.step(
            f"Building {names}: about {duration(sum(work.seconds for work in ahead))} on 2 cores, once, and up "
            f"to {gib(fetched + compiled + ours)} of disk, most of it in Go's own caches "
            f"({gib(free_mib(builds))} free)"
        )

    def _ahead(self, program: Program) -> _Work:
        rest = self._go.staleness(program, program.directory)
        return _Work(
            seconds=max(program.cold_minutes * 60 * rest.compiled, _LINK_SECONDS),
            fetched_mib=0 if rest.downloaded else program.fetched_mib,
            compiled_mib=int(program.compiled_mib * rest.compiled),
        )

    def _build(self, build: Build) -> None:
        # One lock for all: two builds at once would only take turns on the same cores.
        with locked(self._home / "locks" / "toolchain", self._progress.note):
            if self._usable(build):
                self._progress.note(f"{build.program.name}: built by another process meanwhile")
                return
            self._root.mkdir(parents=True, exist_ok=True)
            for abandoned in self._root.glob(".building-*"):
                shutil.rmtree(abandoned, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=".building-", dir=self._root) as workplace:
                self._build_in(build, Path(workplace))

    def _build_in(self, build: Build, workplace: Path) -> None:
        program = build.program
        module = workplace / "module"
        module.mkdir()
        for path in sources(program):
            shutil.copy(path, module / path.name)
        if program.embeds:
            self._progress.note(f"{program.name}: fetching {program.source}")
            source = self._go.source_directory(program)
            for name in program.embeds:
                shutil.copyfile(source / name, module / Path(name).name)
        about = duration(self._ahead(program).seconds)
        self._progress.note(f"{program.name} {program.version}: about {about}")
        build.log.unlink(missing_ok=True)
        start = time.monotonic()
        self._go.build(
            program,
            module,
            workplace / program.name,
            build.log,
            lambda elapsed: self._progress.note(f"{program.name}: {duration(elapsed)} of about {about}"),
        )
        if flaw := wrong_version(program, workplace / program.name):
            raise explained(program.name, f"it was built, but {flaw}", build.log)
        took = time.monotonic() - start
        build.publish(workplace, took)
        prune(build, self._progress.note)
        self._progress.note(f"{program.name} {program.version}: built in {duration(took)}")


def _program(name: str) -> Program:
    try:
        return PROGRAMS[name]
    except KeyError:
        raise ToolchainError(
            f"There is no program {name!r} in the toolchain.", f"It knows {', '.join(PROGRAMS)}."
        ) from None


def _in_order(programs: list[Program]) -> list[Program]:
    """Sort as in `PROGRAMS`, without repeats: the estimates hold in that order."""
    names = {program.name for program in programs}
    return [program for program in PROGRAMS.values() if program.name in names]
