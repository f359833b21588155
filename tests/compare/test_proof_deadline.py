"""How long a job waits for a table that cannot be read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.compare.conclusion import (
    LONGEST_WAIT,
    PATIENCE,
    find_end_of_wait,
    is_worth_a_notice,
)
from tests.api.nouns import make_job
from tests.samples import NOW

SECOND = timedelta(seconds=1)
WAITING = replace(make_job(), unreadable_since=NOW)


@pytest.mark.parametrize(
    ("waited", "is_reported"),
    [
        (timedelta(0), False),
        (PATIENCE - SECOND, False),
        (PATIENCE, True),
        (-timedelta(hours=2), True),
    ],
)
def test_people_are_notified_after_a_quarter_of_an_hour_and_when_nobody_knows_how_long_it_is(
    waited: timedelta, is_reported: bool
) -> None:
    assert is_worth_a_notice(NOW, NOW + waited) is is_reported


def test_the_wait_ends_after_a_day() -> None:
    assert find_end_of_wait(WAITING, NOW + LONGEST_WAIT - SECOND) is None
    assert find_end_of_wait(WAITING, NOW + LONGEST_WAIT) == "its table could not be read for 1 d"


def test_the_wait_ends_when_somebody_asks_for_it() -> None:
    assert (
        find_end_of_wait(replace(WAITING, given_up_by="ada"), NOW)
        == "ada cancelled it while its table could not be read"
    )


def test_a_job_that_does_not_wait_has_no_end_of_it() -> None:
    assert find_end_of_wait(replace(make_job(), given_up_by="ada"), NOW) is None
