"""Topologies as a person names them on the command line."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from experiment.errors import SplitbedError
from experiment.explain import problems
from experiment.strict import Strict
from experiment.topology import Topology
from report.verdict.reading import label_of
from stackfiles.yamltext import YAMLTextError, read

_SHORT: dict[str, dict[str, Any]] = {
    "single": {"kind": "single"},
    "split": {"kind": "split", "pipeline": 2},
    "replicas": {"kind": "replicas", "count": 2},
}
_FEWEST = 2


class _Given(Strict):
    topology: Topology


def parsed(texts: Sequence[str]) -> tuple[Topology, ...]:
    """Return the topologies of a campaign; the first is what the others are held against.

    A word is the smallest of its kind (`split` is two stages, `replicas` two copies), a YAML mapping is one as in a
    stack file.

    Raises:
        SplitbedError: one is none, serves nothing or is named twice, or there are fewer than two.
    """
    found = tuple(_parsed(text) for text in texts)
    twice = sorted({label(one) for one in found if found.count(one) > 1})
    if twice:
        raise SplitbedError(f"--topology: {', '.join(twice)} is named twice.", "Name each once; turns are repeated.")
    if len(found) < _FEWEST:
        raise SplitbedError(
            f"A campaign takes two topologies, and {len(found) or 'none'} is named.",
            "Name them as in --topology single --topology '{kind: split, pipeline: 2}'.",
        )
    return found


def label(topology: Topology) -> str:
    """Return a topology in words, as the verdict calls it."""
    return label_of(mapping(topology)) or topology.kind


def mapping(topology: Topology) -> dict[str, Any]:
    """Return a topology as it stands in a stack file."""
    return topology.model_dump(mode="json", exclude_defaults=True)


def slug(topology: Topology) -> str:
    """Return a topology as a name of a directory: `split-pipeline-2`."""
    return "-".join(str(part) for pair in mapping(topology).items() for part in pair).removeprefix("kind-")


def _parsed(text: str) -> Topology:
    try:
        value = _SHORT.get(text) or read(text)
    except YAMLTextError as error:
        raise SplitbedError(f"--topology {text}: it is not YAML: {error}.", _remedy()) from None
    if not isinstance(value, dict):
        raise SplitbedError(f"--topology {text}: there is no such topology.", _remedy())
    try:
        found = _Given.model_validate_json(json.dumps({"topology": value})).topology
    except ValidationError as error:
        told = "\n".join(f"  {one}" for one in problems(_Given, error))
        raise SplitbedError(f"--topology {text} is none:\n{told}") from None
    if not found.groups:
        raise SplitbedError(f"--topology {text}: it serves nothing, so there is nothing to measure.", _remedy())
    return found


def _remedy() -> str:
    return f"Name one of {', '.join(_SHORT)}, or a mapping as in '{{kind: split, pipeline: 3}}'."
