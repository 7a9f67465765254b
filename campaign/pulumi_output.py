"""Reading what Pulumi's CLI prints where it has no terminal."""

import re
from collections.abc import Sequence

_AMBIENT_HOST = "using pulumi-language-python from $PATH"
# " +  kubernetes:core/v1:Service serving-leader created (1s)"
_FINISHED = re.compile(r" *[-+~]{1,2} +\S*?(?P<kind>\w+) (?P<name>\S+) (?P<verb>created|deleted|updated|replaced)\b")


def finished_step(line: str) -> str | None:
    """Return a finished step in a person's words, or None where the line tells of something else."""
    step = _FINISHED.match(line)
    return f"{step['verb']} {step['kind']} {step['name']}" if step else None


def diagnostics(lines: Sequence[str]) -> str:
    """Return what went wrong: the diagnostics where there are any, else all that was printed."""
    start = next((i + 1 for i, line in enumerate(lines) if line.startswith("Diagnostics:")), 0)
    end = len(lines)
    if start:
        ends = (i for i, line in enumerate(lines) if i >= start and line.startswith(("Outputs:", "Resources:")))
        end = next(ends, end)
    return "\n".join(line for line in lines[start:end] if line.strip() and _AMBIENT_HOST not in line)
