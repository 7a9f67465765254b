"""Short commands that a cluster is made with."""

import subprocess
from pathlib import Path

from rehearsal.cluster.status import ClusterError

_TIMEOUT_S = 300.0


def output(*argv: str | Path) -> str:
    """Run a program to its end and return what it printed.

    Raises:
        ClusterError: it failed or took too long; with the last line it said.
    """
    line = " ".join(map(str, argv))
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClusterError(f"`{line}` did not work: {error}.", "Mend that and run the command again.") from None
    if done.returncode:
        words = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise ClusterError(f"`{line}` failed: {words}.", "Mend that and run the command again.")
    return done.stdout
