"""How the records of a run reach a bucket."""

from experiment.resources import PodResources

RESOURCES = PodResources(cpu=0.1, memory_gib=0.25)
"""What the container that carries them is given, beside the client in its pod."""

PERIOD_S = 5
"""Seconds between two looks at the directory; a test ends far more rarely."""

GRACE_S = 300
"""Seconds for what is still to be carried when the client has ended."""


def prefix(experiment: str, run: str) -> str:
    """Return the prefix of a run's records in a bucket: who measures that run may write below it and nowhere else."""
    return f"{experiment}/{run}"
