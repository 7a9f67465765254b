from datetime import UTC, datetime

from experiment import ownership
from experiment.identity import Identity


def identity(**more: object) -> Identity:
    return Identity.model_validate({"name": "some-split", "owner": "me", "purpose": "to know, at last?", **more})


def test_everything_is_known_by_four_tags_and_the_organisations() -> None:
    end = datetime(2100, 1, 2, 3, 4, tzinfo=UTC)
    assert ownership.tags(identity(end_date=end, tags={"until": "{end_date}", "CostCenter": "1"})) == {
        "splitbed:experiment": "some-split",
        "splitbed:owner": "me",
        "splitbed:purpose": "to know at last",
        "splitbed:end-date": "2100-01-02T03:04:00+00:00",
        "until": "2100-01-02T03:04:00+00:00",
        "CostCenter": "1",
    }


def test_without_an_end_there_is_no_tag_that_names_one() -> None:
    assert "splitbed:end-date" not in ownership.tags(identity())
