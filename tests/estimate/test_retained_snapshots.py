"""Guards 9 to 12: floors, previews, pins, staged snapshots. Each is broken here on purpose and must
refuse.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.plan import decide
from maintainer.domain.action import ExpireSnapshots
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import SnapshotRole, SnapshotStamp, TableHealth
from maintainer.domain.inventory import Ref
from maintainer.domain.pin import Pin
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Mode, Policy
from maintainer.domain.rules import ExpireSnapshotsRule
from maintainer.estimate.retained_snapshots import (
    FLINK_TRUST,
    STREAM_ABOVE,
    ExpiryPreview,
    describe_expiry,
    find_keepers,
    preview_expiry,
)
from tests.samples import NOW, health_of_partitions, with_history

DAY = timedelta(days=1)
RULE = ExpireSnapshotsRule(max_age=5 * DAY, keep=2)


def daily(days: int = 20) -> TableHealth:
    """One snapshot a day, snapshot 1 the oldest."""
    return with_history(
        health_of_partitions({"a": [1000]}), [timedelta(days=days - n) for n in range(days)]
    )


def marked(health: TableHealth, snapshot_id: int, role: SnapshotRole, of: str = "") -> TableHealth:
    return replace(
        health,
        history=tuple(
            replace(s, role=role, role_of=of) if s.snapshot_id == snapshot_id else s
            for s in health.history
        ),
    )


def pin(snapshot_id: int, until: timedelta | None = None) -> Pin:
    return Pin("reader", snapshot_id, "ada", NOW, NOW + until if until is not None else None)


def preview(health: TableHealth, *pins: Pin, rule: ExpireSnapshotsRule = RULE) -> ExpiryPreview:
    return preview_expiry(health, rule, pins, NOW)


def gone(found: ExpiryPreview) -> list[int]:
    return [stamp.snapshot_id for stamp in found.snapshots]


def test_guard_10_the_preview_names_the_snapshots_the_refs_and_about_the_bytes() -> None:
    health = daily()
    history = tuple(replace(stamp, removed_bytes=100) for stamp in health.history)
    old_tag = Ref("release", 3, is_branch=False, max_ref_age_ms=86_400_000)
    found = preview(replace(health, history=history, refs=(*health.refs, old_tag)))
    assert gone(found) == list(range(1, 16))
    assert found.refs == ("tag release",)
    assert found.bytes_freed == 1600, "what the first one that stays took out is freed too"
    assert describe_expiry(found, health, RULE) == (
        "15 of 20 snapshots are older than 5 d and beyond the newest 2; tag release would be "
        "dropped; about 1.6 KiB of files would be deleted"
    )


def test_the_bytes_are_unknown_where_a_summary_is_missing_or_the_line_forks() -> None:
    health = daily()
    assert preview(health).bytes_freed is None, "the samples have no summaries"
    fork = SnapshotStamp(99, 4, NOW - 16 * DAY, 5)
    whole = tuple(replace(stamp, removed_bytes=1) for stamp in health.history)
    assert preview(replace(health, history=(*whole, fork))).bytes_freed is None


@pytest.mark.parametrize(
    ("properties", "refs"),
    [
        ({"maintainer.pin.replica": "7"}, ()),
        ({}, (Ref("maintainer-pin-replica", 7, is_branch=False),)),
    ],
)
def test_guard_11_nothing_newer_than_a_pin_of_a_property_or_tag_goes(
    properties: dict[str, str], refs: tuple[Ref, ...]
) -> None:
    health = daily()
    found = preview(replace(health, properties=properties, refs=(*health.refs, *refs)))
    assert gone(found) == [1, 2, 3, 4, 5, 6]
    assert found.keeper is not None
    assert found.keeper.snapshot_id == 7


def test_guard_11_nothing_newer_than_the_slowest_pin_goes() -> None:
    found = preview(daily(), pin(9), replace(pin(4), name="slow"), replace(pin(12), name="fast"))
    assert gone(found) == [1, 2, 3]
    sentence = describe_expiry(found, daily(), RULE)
    assert sentence.endswith("; snapshots newer than snapshot 4 are kept for pin slow of ada")


def test_a_pin_whose_time_is_over_or_whose_snapshot_is_gone_holds_nothing() -> None:
    assert len(gone(preview(daily(), pin(4, -DAY)))) == 15
    assert len(gone(preview(daily(), pin(999)))) == 15
    assert (
        len(
            gone(
                preview(replace(daily(), properties={"maintainer.pin.x": "999", "owner": "sales"}))
            )
        )
        == 15
    )
    held = preview(daily(), pin(4, DAY))
    assert held.keeper is not None
    assert held.keeper.reason.startswith("pin reader of ada until 2026-03-05 12:00 UTC")


def test_a_pin_on_what_stays_anyway_changes_nothing() -> None:
    assert preview(daily(), pin(19)) == preview(daily())


@pytest.mark.parametrize("text", ["", "latest", "-1", "\uff17"])
def test_guard_11_a_pin_that_cannot_be_read_holds_everything(text: str) -> None:
    plan = decide(
        replace(daily(), properties={"maintainer.pin.x": text}),
        Policy(mode=Mode.ENFORCE, rules=(RULE,)),
        Circumstances(NOW),
    )
    assert plan.planned == ()
    assert plan.skipped[0].code is SkipCode.PINNED
    assert "maintainer.pin.x" in plan.skipped[0].reason


def test_guard_11_the_last_checkpoint_of_each_flink_job_stays() -> None:
    health = daily()
    for snapshot_id, job in ((3, "a"), (8, "a"), (11, "b")):
        health = marked(health, snapshot_id, SnapshotRole.CHECKPOINT, job)
    found = preview(health)
    assert gone(found) == [1, 2, 3, 4, 5, 6, 7]
    assert found.keeper is not None
    assert found.keeper.reason == "the last checkpoint of Flink job a"


def test_a_flink_job_that_has_committed_nothing_for_long_holds_nothing() -> None:
    assert FLINK_TRUST == 14 * DAY
    assert len(gone(preview(marked(daily(), 3, SnapshotRole.CHECKPOINT, "a")))) == 15


def test_guard_11_flinks_marker_and_the_snapshot_that_it_names_stay() -> None:
    found = preview(marked(daily(), 12, SnapshotRole.MARKER, "9"))
    assert gone(found) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert len(gone(preview(marked(daily(), 12, SnapshotRole.MARKER, "unknown")))) == 11


def staged(age_days: int) -> TableHealth:
    health = daily()
    return replace(
        health,
        history=(
            SnapshotStamp(77, 1, NOW - age_days * DAY, 0, SnapshotRole.STAGED, "audit-7"),
            *health.history,
        ),
    )


def test_guard_12_a_staged_snapshot_stays_for_an_age_of_its_own() -> None:
    found = preview(staged(10))
    assert 77 not in gone(found)
    assert gone(found)[-1] == 10, "snapshot 11 is as old as the staged one and stays with it"
    assert found.keeper is not None
    assert found.keeper.reason == "audit audit-7, which has staged it and may publish it for 14 d"
    assert 77 in gone(preview(staged(15)))
    assert 77 in gone(preview(staged(10), rule=replace(RULE, staged_max_age=DAY)))


def test_a_staged_snapshot_that_became_a_branchs_is_no_longer_one() -> None:
    on_main = marked(daily(), 7, SnapshotRole.STAGED, "audit-7")
    assert list(find_keepers(on_main, RULE, (), NOW)) == []


def test_guard_11_a_branch_with_a_retention_of_its_own_cannot_drop_what_a_pin_holds() -> None:
    health = daily()
    impatient = Ref(
        "main", 20, is_branch=True, max_snapshot_age_ms=86_400_000, min_snapshots_to_keep=1
    )
    found = preview(replace(health, refs=(impatient,)), pin(10))
    assert found.refusal == (
        "a branch's own retention would drop snapshot 10, and everything from snapshot 10 on is "
        "kept for pin reader of ada"
    )
    plan = decide(
        replace(health, refs=(impatient,)),
        Policy(mode=Mode.ENFORCE, rules=(RULE,)),
        Circumstances(NOW, pins=(pin(10),)),
    )
    assert [skipped.code for skipped in plan.skipped] == [SkipCode.PINNED]


def test_a_very_long_history_goes_in_slices_from_its_old_end() -> None:
    count = RULE.max_snapshots_per_job + 700
    ages = [timedelta(days=30) + timedelta(minutes=count - n) for n in range(count)]
    health = with_history(health_of_partitions({"a": [1000]}), [*ages, DAY, timedelta(0)])
    first = preview(health)
    assert (len(first.snapshots), first.is_slice) == (5000, True)
    assert gone(first) == list(range(1, 5001))
    assert ("stream_results", "true") in first.action.options
    assert ", the oldest 5,000 first" in describe_expiry(first, health, RULE)
    rest = preview(replace(health, history=health.history[5000:], snapshots=702))
    assert (len(rest.snapshots), rest.is_slice) == (700, False)


def test_a_policy_says_how_many_snapshots_a_job_removes() -> None:
    rule = replace(RULE, max_snapshots_per_job=3)
    found = preview(daily(), rule=rule)
    assert (gone(found), found.is_slice) == (gone(preview(daily()))[:3], True)


def test_snapshots_of_one_instant_go_together() -> None:
    health = with_history(
        health_of_partitions({"a": [1000]}), [*[30 * DAY] * 12, DAY, timedelta(0)]
    )
    found = preview(health, rule=replace(RULE, max_snapshots_per_job=3))
    assert (len(found.snapshots), found.is_slice) == (12, False)


def test_a_small_run_keeps_the_policys_own_options() -> None:
    chosen = replace(RULE, options=(("stream_results", "false"), ("max_concurrent_deletes", "4")))
    assert preview(daily(), rule=chosen).action.options == (
        ("max_concurrent_deletes", "4"),
        ("stream_results", "false"),
    )
    many = with_history(
        health_of_partitions({"a": [1000]}),
        [timedelta(days=30, seconds=-n) for n in range(STREAM_ABOVE + 9)],
    )
    assert ("stream_results", "false") in preview(many, rule=chosen).action.options


def test_guard_9_every_statement_has_both_bounds_under_the_defaults_too() -> None:
    found = preview(daily(40), rule=ExpireSnapshotsRule())
    assert found.action == ExpireSnapshots(NOW - 5 * DAY, 10)


@given(st.integers(1, 20), st.lists(st.integers(1, 25), max_size=4), st.integers(1, 30))
def test_guard_11_neither_a_pinned_snapshot_nor_a_newer_one_goes(
    keep: int, pinned: list[int], age_days: int
) -> None:
    pins = tuple(Pin(f"p{n}", snapshot_id, "ada", NOW) for n, snapshot_id in enumerate(pinned))
    found = preview(daily(), *pins, rule=replace(RULE, keep=keep, max_age=age_days * DAY))
    held = [snapshot_id for snapshot_id in pinned if snapshot_id <= 20]
    assert all(snapshot_id < min(held, default=21) for snapshot_id in gone(found))
    assert found.refusal is None


@pytest.mark.parametrize(
    ("name", "snapshot_id"), [("", 1), ("a b", 1), ("x" * 101, 1), ("ok", -1), ("ok", 2**63)]
)
def test_a_pin_has_a_name_and_a_snapshot_id(name: str, snapshot_id: int) -> None:
    with pytest.raises(InvalidValueError, match="pin"):
        Pin(name, snapshot_id, "ada", NOW)


# -- tags of ours, that a rewrite can be rolled back to


def with_rollback_tag(health: TableHealth, snapshot_id: int, age: timedelta) -> TableHealth:
    tag = Ref(
        "maintainer-before-m-1",
        snapshot_id,
        is_branch=False,
        max_ref_age_ms=int(age.total_seconds() * 1000),
    )
    return replace(health, refs=(*health.refs, tag))


def test_guard_26_what_a_rewrite_can_be_rolled_back_to_stays_until_its_time_is_over() -> None:
    health = daily()
    held = with_rollback_tag(health, 3, 30 * DAY)
    assert gone(preview(held)) == [n for n in range(1, 16) if n != 3]
    assert "maintainer-before" not in describe_expiry(preview(held), held, RULE)
    lapsed = with_rollback_tag(health, 3, DAY)
    assert gone(preview(lapsed)) == list(range(1, 16))
    assert "; 1 expired rollback tag would be dropped" in describe_expiry(
        preview(lapsed), lapsed, RULE
    )


def test_a_tag_of_ours_keeps_nothing_but_its_own_snapshot_from_expiry() -> None:
    held = with_rollback_tag(daily(), 3, 30 * DAY)
    assert list(find_keepers(held, RULE, (), NOW)) == [], "it is no pin"


@pytest.mark.parametrize("age", [DAY, 30 * DAY])
def test_a_tag_of_ours_makes_no_expiry_run_for_its_own_sake(age: timedelta) -> None:
    young = with_rollback_tag(
        with_history(
            health_of_partitions({"a": [1000]}), [timedelta(hours=n) for n in (40, 30, 20, 10)]
        ),
        1,
        age,
    )
    policy = Policy(mode=Mode.ENFORCE, rules=(RULE,))
    plan = decide(young, policy, Circumstances(NOW))
    assert [skipped.code for skipped in plan.skipped] == [SkipCode.NOTHING_TO_GAIN]
