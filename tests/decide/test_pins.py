"""Pins that would protect nothing: tags that our own expiry would drop, and pins of snapshots that
the table does not have.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.grading.bands import grade
from maintainer.decide.plan import decide
from maintainer.domain.health import Band, TableHealth
from maintainer.domain.inventory import Ref
from maintainer.domain.pin import Pin
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, Policy
from maintainer.domain.rules import ExpireSnapshotsRule
from maintainer.estimate.retained_snapshots import describe_expiry, preview_expiry
from tests.samples import NOW, health_of_partitions, with_history

DAY = timedelta(days=1)
RULE = ExpireSnapshotsRule(max_age=5 * DAY, keep=2)
POLICY = Policy(mode=Mode.ENFORCE, rules=(RULE,))
PIN_TAG = Ref("maintainer-pin-replica", 9, is_branch=False)  # 12 days old


def daily(max_ref_age: timedelta | None = None, *refs: Ref, **pins: str) -> TableHealth:
    """20 snapshots, one a day, snapshot 1 the oldest."""
    health = with_history(
        health_of_partitions({"a": [1000]}), [timedelta(days=20 - n) for n in range(20)]
    )
    properties = {f"maintainer.pin.{name}": text for name, text in pins.items()}
    if max_ref_age is not None:
        properties["history.expire.max-ref-age-ms"] = str(max_ref_age // timedelta(milliseconds=1))
    return replace(health, properties=properties, refs=(*health.refs, *refs))


def test_guard_11_a_pin_tag_that_expiry_itself_would_drop_stops_the_expiry() -> None:
    plan = decide(daily(10 * DAY, PIN_TAG), POLICY, Circumstances(NOW))
    assert plan.planned == ()
    assert plan.skipped[0].code is SkipCode.PINNED
    assert plan.skipped[0].reason == (
        "expiry would drop tag maintainer-pin-replica, because history.expire.max-ref-age-ms is "
        "10 d: "
        "replace the tag with one that has its own retention (RETAIN ... DAYS), or drop it"
    )


@pytest.mark.parametrize(
    ("max_ref_age", "is_planned"),
    [(None, True), (13 * DAY, True), (12 * DAY + timedelta(hours=5), False)],
)
def test_guard_11_a_pin_tag_must_outlive_the_whole_job(
    max_ref_age: timedelta | None, is_planned: bool
) -> None:
    assert (
        bool(decide(daily(max_ref_age, PIN_TAG), POLICY, Circumstances(NOW)).planned) is is_planned
    )


def test_a_pin_tag_with_a_time_of_its_own_ends_with_it_and_other_tags_as_iceberg_has_it() -> None:
    for tag in (
        replace(PIN_TAG, max_ref_age_ms=DAY // timedelta(milliseconds=1)),
        replace(PIN_TAG, name="release"),
    ):
        assert preview_expiry(daily(10 * DAY, tag), RULE, (), NOW).refs == (f"tag {tag.name}",)
        assert decide(daily(10 * DAY, tag), POLICY, Circumstances(NOW)).planned


def test_a_pin_of_an_unknown_snapshot_is_a_finding_and_stands_in_the_preview() -> None:
    health = daily(replica="999")
    pins = (
        Pin("reader", 998, "ada", NOW),
        Pin("over", 997, "ada", NOW, NOW - DAY),
        Pin("held", 9, "ada", NOW),
    )
    graded = grade(health, POLICY, NOW, pins=pins)
    found = [finding for finding in graded.findings if finding.metric == "pin"]
    assert [finding.sentence for finding in found] == [
        "pin reader of ada names snapshot 998, which the table does not have: it protects nothing",
        (
            "table property maintainer.pin.replica names snapshot 999, which the table does not "
            "have: it protects nothing"
        ),
    ]
    assert {(finding.severity, finding.is_actionable) for finding in found} == {(Band.WATCH, False)}
    assert graded.band is Band.HEALTHY, "no maintenance changes it"
    sentence = describe_expiry(preview_expiry(health, RULE, pins, NOW), health, RULE)
    assert "; pin reader of ada names snapshot 998, which the table does not have" in sentence
    assert [
        f
        for f in grade(daily(replica="9"), POLICY, NOW, pins=pins[1:]).findings
        if f.metric == "pin"
    ] == []


def test_a_pin_property_that_is_no_snapshot_id_is_a_finding_too() -> None:
    (found,) = (
        finding
        for finding in grade(daily(replica="latest"), POLICY, NOW).findings
        if finding.metric == "pin"
    )
    assert found.sentence == (
        "table property maintainer.pin.replica is 'latest', but must be a snapshot id: "
        "nothing is expired"
    )


def test_a_table_whose_only_trouble_is_a_pin_exceeds_no_bound() -> None:
    healthy = with_history(health_of_partitions({"a": [512 * 2**20]}), [DAY])
    lost = replace(healthy, properties={"maintainer.pin.x": "999"})
    assert (grade(lost, POLICY, NOW).band, grade(lost, POLICY, NOW).reason) == (
        Band.HEALTHY,
        "No limit is exceeded.",
    )
