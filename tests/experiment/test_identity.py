"""The moment at which an experiment ends; other parts of it are among tests/experiment/test_settings.py."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from experiment.settings import before_up
from tests.experiment.stacks import refused, settings_of


def test_a_moment_keeps_the_time_zone_in_which_it_was_written() -> None:
    end = settings_of("gemma-1b-split", end_date="2026-12-31T18:00:00+05:30").end_date
    assert end == datetime(2026, 12, 31, 12, 30, tzinfo=UTC)
    assert end.utcoffset() == timedelta(hours=5, minutes=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-12-31T18:00Z", datetime(2026, 12, 31, 18, tzinfo=UTC)),
        ("2026-12-31 18:00:00+01:00", datetime(2026, 12, 31, 18, tzinfo=timezone(timedelta(hours=1)))),
        ("2026-12-31 18:00:00 -0800 PST", datetime(2027, 1, 1, 2, tzinfo=UTC)),
        ("2026-12-31 18:00:00 +0000 UTC", datetime(2026, 12, 31, 18, tzinfo=UTC)),
    ],
)
def test_moments_as_people_and_pulumi_write_them(text: str, expected: datetime) -> None:
    assert settings_of("gemma-1b-split", end_date=text).end_date == expected


@pytest.mark.parametrize("text", ["2026-12-31T25:00:00Z", "2026-13-01T00:00:00Z", "2026-12-31T18:00:00+99:00"])
def test_there_is_no_such_moment(text: str) -> None:
    (problem,) = refused("gemma-1b-split", end_date=text)
    assert problem.why == "there is no such day or time"
    assert "2026-12-31T18:00:00+01:00" in problem.remedy


def test_a_plan_does_without_an_end_date_and_up_asks_for_one() -> None:
    undated = settings_of("gemma-1b-split", end_date=None)
    (problem,) = before_up(undated)
    assert str(problem) == (
        "end_date: it is missing, and an EKS cluster costs money until it is taken down. "
        'Set the moment at which it ends, as in "2026-12-31T18:00:00+01:00".'
    )
    assert before_up(settings_of("gemma-1b-split", end_date="2026-12-31T18:00:00Z")) == []
    assert before_up(settings_of("rehearsal-split")) == []
