from datetime import UTC, datetime, timedelta

import pulumi
import pytest

from components.aws.end_date import check_warning

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


def test_a_warning_that_is_still_to_come_is_made() -> None:
    check_warning(NOW + timedelta(seconds=1), NOW)


def test_a_warning_whose_moment_has_passed_is_refused_in_a_sentence() -> None:
    with pytest.raises(pulumi.RunError, match="less than a day away"):
        check_warning(NOW, NOW)
