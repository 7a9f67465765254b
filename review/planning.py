"""The plan of a stack as a tree's own code makes it."""

import subprocess
import sys
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from experiment.plan.plan import ExperimentPlan

_PROGRAM = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from experiment.plan.plan import make
from stackfiles.stackfile import StackFile
settings = StackFile.read(Path(sys.argv[1])).check(datetime.min.replace(tzinfo=UTC))
sys.stdout.write(make(settings, datetime.fromisoformat(sys.argv[2])).to_json())
"""
_TIMEOUT_S = 120


def as_it_was(tree: Path, file: Path, now: datetime) -> ExperimentPlan | None:
    """Return the plan that the code of another tree makes of a stack file, its end date past or not.

    None if that code cannot, not within two minutes, or says it in a shape that is not today's.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, str(file), now.isoformat()],
            cwd=tree, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        return None
    try:
        return ExperimentPlan.model_validate_json(done.stdout)
    except ValidationError:
        return None
