"""Servers on loopback, real vLLM or the stand-in, single or split, that end with whoever started them."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rehearsal.child import duration, tied
from rehearsal.progress import Progress
from rehearsal.vllm.environment import Environment, VllmError

LOOPBACK = "127.0.0.1"
SERVED_NAME = "tiny"

_READY_SECONDS = 600.0
_POLL_SECONDS = 0.25
_BEAT_SECONDS = 15.0
# Its own /proc, since it has its own process ids; its own /dev/shm with all temporary files in it, so that no segment
# and no socket of a killed server stays.
_ISOLATED = """\
mount -t proc proc /proc && mount -t tmpfs -o size=2g tmpfs /dev/shm && mkdir /dev/shm/tmp &&
TMPDIR=/dev/shm/tmp exec "$@"
"""


@dataclass(frozen=True)
class Kind:
    """An engine: its name for people, the argv before its arguments, and its own environment variables."""

    name: str
    argv: Sequence[str]
    environ: Mapping[str, str]


@dataclass(frozen=True)
class Server:
    """A server that answers.

    Attributes:
        name: for people.
        port: on loopback.
        ready_s: seconds from its start until it answered.
        logs: one for each rank.
    """

    name: str
    port: int
    ready_s: float
    logs: Sequence[Path]


def real(environment: Environment) -> Kind:
    """Return real vLLM; it is given one thread for each rank, on a core of its own where there are enough."""
    variables = {
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_HOST_IP": LOOPBACK,
        "GLOO_SOCKET_IFNAME": "lo",
        "VLLM_LOOPBACK_IP": LOOPBACK,
        "PYTHONUNBUFFERED": "1",
        "PYTHONNOUSERSITE": "1",
        "VLLM_CACHE_ROOT": str(environment.cache / "vllm"),
        "TORCHINDUCTOR_CACHE_DIR": str(environment.cache / "torch"),
    }
    return Kind("vllm", environment.serve(), variables)


def standin(profile: str, parameters: str = "{}") -> Kind:
    """Return the stand-in with a profile and, as JSON, parameters that differ from it."""
    variables = {"SPLITBED_STANDIN_PROFILE": profile, "SPLITBED_STANDIN_PARAMETERS": parameters}
    return Kind("stand-in", (sys.executable, "-m", "rehearsal.engine", "serve"), variables)


@contextlib.contextmanager
def serving(
    kind: Kind,
    model: str,
    flags: Sequence[str],
    logs: Path,
    progress: Progress,
    *,
    stages: int = 1,
    environ: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """Run a server for the length of the block.

    Args:
        kind: which engine.
        model: what it serves, under the name `SERVED_NAME`.
        flags: further flags, the same for each rank.
        logs: directory for one log a rank.
        progress: hears of the start, which takes a minute or two with real vLLM.
        stages: pipeline stages, one process each.
        environ: further variables.

    Raises:
        VllmError: it ended, or did not answer in time.
    """
    logs.mkdir(parents=True, exist_ok=True)
    port, master = _free_port(), _free_port()
    arguments = [model, f"--served-model-name={SERVED_NAME}", f"--host={LOOPBACK}", f"--port={port}", *flags]
    if stages > 1:
        arguments += [
            f"--pipeline-parallel-size={stages}", f"--nnodes={stages}",
            f"--master-addr={LOOPBACK}", f"--master-port={master}",
        ]  # fmt: skip
    paths = [logs / f"{kind.name}-{stages}-{rank}.log" for rank in range(stages)]
    start = time.monotonic()
    progress.note(f"{kind.name}, {stages} {'stage' if stages == 1 else 'stages'}: starting")
    with contextlib.ExitStack() as ranks:
        processes = [
            ranks.enter_context(_rank(kind, [*arguments, *_rank_flags(rank, stages)], rank, path, environ or {}))
            for rank, path in enumerate(paths)
        ]
        _wait(kind, port, processes, paths, progress)
        ready = time.monotonic() - start
        progress.note(f"{kind.name}, {stages} {'stage' if stages == 1 else 'stages'}: ready after {duration(ready)}")
        yield Server(kind.name, port, ready, paths)


def _rank_flags(rank: int, stages: int) -> list[str]:
    if stages == 1:
        return []
    return [f"--node-rank={rank}", *(["--headless"] if rank else [])]


@contextlib.contextmanager
def _rank(
    kind: Kind, arguments: Sequence[str], rank: int, log: Path, environ: Mapping[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    cores = sorted(os.sched_getaffinity(0))
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("VLLM_", "PYTHON"))},
        "VLLM_CPU_OMP_THREADS_BIND": str(cores[rank % len(cores)]),
        **kind.environ,
        **environ,
    }
    argv = [*kind.argv, *arguments]
    isolated = os.geteuid() == 0
    command = tied(["sh", "-c", _ISOLATED, "sh", *argv] if isolated else argv, private_mounts=isolated)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=Path(__file__).parents[2],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(
    kind: Kind, port: int, processes: Sequence["subprocess.Popen[bytes]"], logs: Sequence[Path], progress: Progress
) -> None:
    start = beat = time.monotonic()
    while not _healthy(port):
        now = time.monotonic()
        for process, log in zip(processes, logs, strict=True):
            if process.poll() is not None:
                raise VllmError(
                    f"{kind.name} ended with status {process.returncode} while it started: {_last_line(log)}",
                    f"All it said is in {log}.",
                )
        if now - start > _READY_SECONDS:
            raise VllmError(
                f"{kind.name} did not answer within {duration(_READY_SECONDS)}.", f"What it said is in {logs[0]}."
            )
        if now - beat > _BEAT_SECONDS:
            beat = now
            progress.note(f"{kind.name}: {duration(now - start)} so far; {_last_line(logs[0])[:100]}")
        time.sleep(_POLL_SECONDS)


def _healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line]
    return (telling or lines or ["it printed nothing"])[-1]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
