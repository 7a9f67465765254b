"""Looks at a directory that somebody else has filled."""

import json
from pathlib import Path

from components.pod.weights.refusal import RefusedError

_INDEX = "model.safetensors.index.json"


def look(place: Path, named: str) -> None:
    """Check that a model is there, with every file that its own index of tensors names.

    Args:
        place: where this container has it.
        named: what the node calls it, for what is said.

    Raises:
        RefusedError: something is missing.
    """
    why = _lacking(place)
    if why is not None:
        raise RefusedError(
            f"{named} of this node holds no model that can be served, because {why}: put the model's files there on "
            "every engine node, readable by everybody, or mend model.weights.uri"
        )
    print(f"{named} of this node holds a model; nothing is fetched")


def _lacking(place: Path) -> str | None:
    try:
        names = {path.name for path in place.iterdir()}
        if "config.json" not in names:
            return "there is no config.json in it"
        json.loads((place / "config.json").read_text())
        if _INDEX in names:
            shards = set(json.loads((place / _INDEX).read_text())["weight_map"].values())
            missing = sorted(shards - names)
            return f"{missing[0]} is missing, which its index names" if missing else None
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    except (ValueError, KeyError, TypeError, AttributeError):
        return "its config.json or its index is not what it should be"
    return None if any(name.endswith((".safetensors", ".bin")) for name in names) else "there are no weights in it"
