"""`python3 -m tests.bench.cost FILE COMMAND...`: runs a command and writes the CPU time of all that it started.

Whatever process of it loses its parent becomes a child here (a subreaper), so that none is left out.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def main(file: Path, command: list[str]) -> int:
    """Run it, wait for all its processes, and return its exit code."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    code = subprocess.run(command, check=False).returncode
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    file.write_text(json.dumps(used.ru_utime + used.ru_stime))
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
