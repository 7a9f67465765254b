"""The `go` command: which version, what it has already, and what its failures mean.

It works with the user's own caches (`go env GOMODCACHE GOCACHE`), so that what is there already is not
fetched or compiled again; a build that was interrupted goes on where it was.
"""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packaging.version import Version

from rehearsal.child import run_to_log
from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.programs import Program

_KNOWN_PLACES = (Path("/usr/local/go/bin/go"), Path("/usr/lib/go/bin/go"))
BUILD_FLAGS = ("-trimpath", "-buildvcs=false")
# What a user may have set for other work, and what would change a build behind its key.
_FIXED = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOWORK": "off", "GO111MODULE": "on"}
_UNSET = ("GOOS", "GOARCH", "GOEXPERIMENT")
_NETWORK = re.compile(
    r"dial tcp|no such host|i/o timeout|connection re(?:fused|set)|TLS handshake|unexpected EOF"
    r"|module lookup disabled|40[34] |410 Gone|50[0-9] |network is unreachable|x509:"
)
_NO_SPACE = "no space left on device"


@dataclass(frozen=True)
class Staleness:
    """How much of a program's build is still to be done."""

    compiled: float  # share of its packages that the build cache lacks, 0 to 1
    downloaded: bool  # all modules it needs are there


class Go:
    """The Go toolchain of this machine.

    Raises:
        ToolchainError: there is none.
    """

    def __init__(self) -> None:
        found = shutil.which("go") or next((str(p) for p in _KNOWN_PLACES if os.access(p, os.X_OK)), None)
        if found is None:
            raise ToolchainError(
                "Go is not installed (no `go` on PATH), and the rehearsal builds its programs with it.",
                "Install Go 1.26.6 or newer, or bring the programs yourself (see `--kubeconfig`).",
            )
        self.executable = found
        self.env = {**_home(), **{k: v for k, v in os.environ.items() if k not in _UNSET}, **_FIXED}
        self._versions: dict[Path, str] = {}

    def version(self, module: Path) -> str:
        """Return the version that builds in that directory, such as "go1.26.8".

        Raises:
            ToolchainError: it is older than the module's go.mod asks for.
        """
        if module not in self._versions:
            wanted = _go_line(module)
            answer = self._run(module, "env", "GOVERSION")
            found = answer.stdout.strip()
            if answer.returncode != 0 or not _at_least(found, wanted):
                bare = found or _run_version(self.executable)
                raise ToolchainError(
                    f"{self.executable} is {bare}, and {module.name} needs Go {wanted} or newer.",
                    f"Install Go {wanted} or newer and put it first on PATH.",
                )
            self._versions[module] = found
        return self._versions[module]

    @cached_property
    def caches(self) -> tuple[Path, Path]:
        """The user's module cache and build cache."""
        answer = self._run(Path("/"), "env", "GOMODCACHE", "GOCACHE")
        modules, builds = answer.stdout.split("\n")[:2]
        return Path(modules), Path(builds)

    def staleness(self, program: Program, module: Path) -> Staleness:
        """Look, without the network, how much there is still to do for `program`."""
        answer = self._run(
            module, "list", "-e", "-deps", *BUILD_FLAGS, "-ldflags", program.ldflags,
            "-f", "{{.DepOnly}} {{.Stale}} {{if .Error}}error{{end}}", program.package, offline=True,
        )  # fmt: skip
        packages = [line.split() for line in answer.stdout.splitlines()]
        needed = [stale for needed, stale, *error in packages if needed == "true" and not error]
        # The main package is never kept, so it does not count; and it may lack what the build lays beside it.
        errors = sum(len(package) == 3 and (package[0] == "true" or not program.embeds) for package in packages)
        if answer.returncode != 0 or not needed or errors:
            return Staleness(compiled=1.0, downloaded=False)
        return Staleness(compiled=needed.count("true") / len(needed), downloaded=True)

    def source_directory(self, program: Program) -> Path:
        """Return the directory of the program's pinned source module, fetched if need be.

        Raises:
            ToolchainError: it cannot be fetched.
        """
        answer = self._run(program.directory, "mod", "download", "-json", program.source)
        if answer.returncode != 0:
            raise explained(program.name, answer.stdout + answer.stderr)
        directory: str = json.loads(answer.stdout)["Dir"]
        return Path(directory)

    def build(self, program: Program, module: Path, output: Path, log: Path, beat: Callable[[float], None]) -> None:
        """Build `program` in the directory `module` to the file `output`; scratch files go beside it.

        Raises:
            ToolchainError: the build failed; its whole output is in `log`.
        """
        argv = [
            self.executable, "build", *BUILD_FLAGS, "-ldflags", program.ldflags,
            "-o", str(output), program.package,
        ]  # fmt: skip
        env = self.env | {"GOTMPDIR": str(output.parent)}
        if run_to_log(argv, log, beat=beat, cwd=module, env=env) != 0:
            raise explained(program.name, log.read_text(errors="replace"), log)

    def _run(self, cwd: Path, *arguments: str, offline: bool = False) -> subprocess.CompletedProcess[str]:
        env = self.env | ({"GOPROXY": "off", "GOTOOLCHAIN": "local"} if offline else {})
        return subprocess.run(
            [self.executable, *arguments],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )


def explained(name: str, output: str, log: Path | None = None) -> ToolchainError:
    """Turn the output of a failed `go` into one sentence."""
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("go: downloading")]
    where = f" (all of it is in {log})" if log else ""
    if any(_NO_SPACE in line for line in lines):
        return ToolchainError(
            f"The disk filled up while {name} was being built.",
            "Free some space, or move GOCACHE, GOMODCACHE or SPLITBED_HOME to a larger disk, and try again.",
        )
    if network := next((line for line in lines if _NETWORK.search(line)), None):
        return ToolchainError(
            f"Go could not fetch a module of {name}: {network.strip()}{where}.",
            "Check the network and `go env GOPROXY`, then run this again; what was fetched is kept.",
        )
    first = next((line.strip() for line in lines if not line.startswith("#")), "it printed nothing")
    return ToolchainError(f"Building {name} failed: {first}{where}.", "Run this again, or report it with that file.")


def _home() -> dict[str, str]:
    """Return where Go keeps its caches where nobody says: a service has no HOME, and Go does not look further."""
    try:
        return {"HOME": str(Path.home())}
    except RuntimeError:
        return {}  # Go says by itself what it misses


def _go_line(module: Path) -> str:
    match = re.search(r"^go (\S+)$", (module / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        raise ToolchainError(f"{module / 'go.mod'} names no Go version.", "Restore the file from the repository.")
    return match.group(1)


def _at_least(found: str, wanted: str) -> bool:
    match = re.match(r"go(\d+(?:\.\d+)*)", found)
    return match is not None and Version(match.group(1)) >= Version(wanted)


def _run_version(executable: str) -> str:
    answer = subprocess.run(
        [executable, "version"], capture_output=True, text=True, errors="replace", check=False, cwd="/",
        env=os.environ | {"GOTOOLCHAIN": "local"},
    )  # fmt: skip
    match = re.search(r"go\d[^ ]*", answer.stdout)
    return match.group() if match else "of an unknown version"
