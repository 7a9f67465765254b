"""Numbers that are to be followed as they are printed: rounded to the side on which they still hold."""

from math import ceil, floor

_NOISE = 1e-9  # what sums of floats may be off by: about a byte of a GiB


def at_most(value: float, digits: int) -> float:
    """Return a limit rounded down, so that who keeps to it keeps within it."""
    scale: int = 10**digits
    return floor((value + _NOISE) * scale) / scale


def at_least(value: float, digits: int) -> float:
    """Return a need rounded up, so that who provides it provides enough."""
    scale: int = 10**digits
    return ceil((value - _NOISE) * scale) / scale


def counted(number: float, noun: str) -> str:
    """Return a number with its noun: `1 GPU`, `2 GPUs`, `0.5 CPUs`."""
    return f"{number:g} {noun}{'' if number == 1 else 's'}"
