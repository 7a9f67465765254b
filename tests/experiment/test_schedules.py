import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from experiment import schedules

END = datetime(2026, 12, 31, 18, 0, tzinfo=timezone(timedelta(hours=1)))


def test_a_moment_is_said_in_utc() -> None:
    assert schedules.at(END) == "at(2026-12-31T17:00:00)"
    assert schedules.at(datetime(2027, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))) == "at(2026-12-31T22:30:00)"


def test_a_moment_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        schedules.at(END.replace(tzinfo=None))


def test_a_group_is_set_to_zero_and_keeps_its_largest_size() -> None:
    assert json.loads(schedules.to_zero("c", "engine", 2)) == {
        "ClusterName": "c",
        "NodegroupName": "engine",
        "ScalingConfig": {"MinSize": 0, "MaxSize": 2, "DesiredSize": 0},
    }


def test_the_warning_says_when_and_how_to_go_on() -> None:
    text = schedules.warning("some-split", "us-east-1", END.astimezone(UTC))
    assert "2026-12-31 17:00 UTC" in text
    assert "splitbed extend some-split" in text
