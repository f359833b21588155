from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.grading.bands import grade
from maintainer.domain.health import Band
from maintainer.domain.policy import Policy
from maintainer.domain.units import MIB
from tests.samples import NOW, health_of_partitions

GOOD = health_of_partitions({"a": [500 * MIB] * 20})
TRIGGER = timedelta(seconds=50)


def test_a_stream_that_falls_behind_its_trigger_is_noted_and_changes_no_band() -> None:
    slow = replace(GOOD, commit_gap_seconds=80.4)
    graded = grade(slow, Policy(stream_trigger=TRIGGER), NOW)
    (finding,) = graded.findings
    assert (finding.metric, finding.observed, finding.bound) == ("stream_lag", 80.4, 50)
    assert finding.sentence == (
        "the busiest writer commits every 1m20s (median of 24 h), the stream's trigger is 50s"
    )
    assert (graded.band, graded.reason) == (Band.HEALTHY, "No limit is exceeded.")


def test_maintenance_may_help_a_stream_whose_table_has_something_to_do() -> None:
    policy = Policy(stream_trigger=TRIGGER)
    small = replace(health_of_partitions({"a": [5 * MIB] * 200}), commit_gap_seconds=80)
    findings = {finding.metric: finding for finding in grade(small, policy, NOW).findings}
    assert findings["stream_lag"].is_actionable
    assert grade(small, policy, NOW).band is grade(small, Policy(), NOW).band


@pytest.mark.parametrize(
    ("gap", "trigger"), [(55.0, TRIGGER), (9.0, TRIGGER), (None, TRIGGER), (500.0, None)]
)
def test_a_stream_on_time_or_without_a_trigger_is_not_worth_a_word(
    gap: float | None, trigger: timedelta | None
) -> None:
    health = replace(GOOD, commit_gap_seconds=gap)
    assert grade(health, Policy(stream_trigger=trigger), NOW).findings == ()
