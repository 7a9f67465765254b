import pytest

from experiment.tags import LONGEST_VALUE, tag_value
from tests.experiment.stacks import refused, settings_of


def test_the_organisations_tags_are_filled_in() -> None:
    settings = settings_of(
        "gemma-1b-split", end_date="2026-12-31T18:00:00+01:00", tags={"until": "{end_date}", "a": "{name}: b"}
    )
    assert settings.filled_tags() == {"until": "2026-12-31T18:00:00+01:00", "a": "gemma-1b-split: b"}


def test_a_tag_that_names_a_missing_end_date_is_left_out() -> None:
    settings = settings_of("gemma-1b-split", end_date=None, tags={"until": "{end_date}", "CostCenter": "1234"})
    assert settings.filled_tags() == {"CostCenter": "1234"}


def test_what_aws_refuses_in_a_value_becomes_a_space() -> None:
    settings = settings_of("gemma-1b-split", purpose="does it (really) pay?", tags={"why": "{purpose}"})
    assert settings.filled_tags() == {"why": "does it really pay"}
    assert tag_value("a\t<b>") == "a b"
    assert len(tag_value("x" * 1000)) == LONGEST_VALUE


@pytest.mark.parametrize(
    ("tags", "path", "why"),
    [
        ({"aws:x": "1"}, "tags.aws:x", "this key is not the organisation's"),
        ({"splitbed:owner": "1"}, "tags.splitbed:owner", "this key is not the organisation's"),
        ({"a": "{budget}"}, "tags.a", "there is nothing called {budget}"),
        ({"a": "b?"}, "tags.a", "it has characters that AWS refuses"),
        ({"a": 1}, "tags.a", "it is not text"),
        ({" a": "1"}, 'tags. a', "it has characters that cannot stand there, or is empty"),
        ({f"k{n}": "1" for n in range(31)}, "tags", "it has more than 30 entries"),
        ({"a": "x" * 257}, "tags.a", "it is longer than 256 characters"),
    ],
)  # fmt: skip
def test_tags_that_aws_would_refuse(tags: dict[str, str], path: str, why: str) -> None:
    (problem,) = refused("gemma-1b-split", tags=tags)
    assert (problem.path, problem.why) == (path, why)
    assert problem.remedy
