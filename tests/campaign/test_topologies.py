"""Topologies as a person names them."""

import pytest

from campaign import topologies
from experiment.errors import SplitbedError
from experiment.topology import Replicas, Single, Split


def test_words_and_mappings() -> None:
    assert topologies.parsed(["single", "{kind: split, pipeline: 3}", "replicas"]) == (
        Single(kind="single"),
        Split(kind="split", pipeline=3),
        Replicas(kind="replicas", count=2),
    )


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([], "takes two topologies, and none is named"),
        (["single"], "takes two topologies, and 1 is named"),
        (["single", "{kind: single}"], "single is named twice"),
        (["single", "spilt"], "--topology spilt: there is no such topology. Name one of single, split, replicas"),
        (["single", "{kind: none}"], "it serves nothing"),
        (["single", "{kind: split, pipeline: 1}"], "topology.pipeline: found 1: it must be 2 or more"),
        (["single", "{kind: spilt}"], 'topology.kind: found "spilt": there is no such kind. Did you mean split'),
        (["single", "{"], "it is not YAML"),
        (["single", "{kind: split, pipeline: 3, pipelin: 2}"], "pipelin"),
    ],
)
def test_what_is_none_is_a_sentence(texts: list[str], said: str) -> None:
    with pytest.raises(SplitbedError) as error:
        topologies.parsed(texts)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("text", "label", "slug"),
    [
        ("single", "single", "single"),
        ("split", "split (pipeline 2)", "split-pipeline-2"),
        ("{kind: replicas, count: 2, tensor: 2}", "replicas (count 2, tensor 2)", "replicas-count-2-tensor-2"),
    ],
)
def test_names(text: str, label: str, slug: str) -> None:
    found = topologies.parsed([text, "{kind: split, pipeline: 9}"])[0]
    assert (topologies.label(found), topologies.slug(found)) == (label, slug)
