"""What a person who stops a verb is told: how to go on."""

from collections.abc import Mapping

_KEPT = "The same command goes on from here; finished records are kept."
_BUILT = "The same command goes on from here; what was built is kept."
_ANEW = "The same command begins anew."

_GOES_ON: Mapping[str, str] = {
    "rehearse": f"{_KEPT} Until then all that is up stays up.",
    "campaign": _KEPT,
    "wait": "The benchmark goes on; the same command follows it again.",
    "fetch": "Records that have come are kept; the same command brings the others.",
    "extend": "The same command goes on from here.",
    "audit": "The same command looks again; tags that were mended stay so.",
    "sweep": "The same command looks again at what is left.",
    "image": _BUILT,
    "tools": _BUILT,
    "cluster": "`splitbed cluster up` goes on from here, and `splitbed cluster down` takes down what there is.",
}


def stopped(verb: str | None) -> str:
    """Return the line that a verb ends with; None stands for one that had not begun."""
    return f"Stopped. {_GOES_ON.get(verb or '', _ANEW)}"
