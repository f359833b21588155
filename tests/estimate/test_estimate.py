from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.health import ManifestGroup, SnapshotStamp, TableHealth
from maintainer.domain.inventory import ManifestContent, Ref
from maintainer.domain.plan import Estimate
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import GIB, MIB
from maintainer.estimate.expire_snapshots import estimate_expire_snapshots, find_expired_refs
from maintainer.estimate.rewrite_data_files import estimate_rewrite_data_files
from maintainer.estimate.rewrite_manifests import estimate_rewrite_manifests, estimate_spec
from maintainer.measure.health import measure
from tests.samples import (
    NOW,
    health_of_partitions,
    inventory,
    manifest,
    share,
    snapshot,
    with_history,
)

RULE = RewriteDataFilesRule()


def with_options(**options: str) -> RewriteDataFilesRule:
    return replace(
        RULE, options=tuple((name.replace("_", "-"), value) for name, value in options.items())
    )


def test_four_small_files_in_each_partition_gain_nothing() -> None:
    estimate = estimate_rewrite_data_files(
        health_of_partitions({f"day={day}": [1000] * 4 for day in range(50)}), RULE
    )
    assert (estimate.items_before, estimate.items_removed, estimate.partitions) == (0, 0, 0)


def test_five_small_files_in_a_partition_become_one() -> None:
    estimate = estimate_rewrite_data_files(
        health_of_partitions({"day=1": [1000] * 5, "day=2": [1000] * 4}), RULE
    )
    assert (
        estimate.items_before,
        estimate.items_after,
        estimate.items_removed,
        estimate.bytes_rewritten,
        estimate.partitions,
    ) == (5, 1, 4, 5000, 1)


def test_two_files_with_more_bytes_than_the_target_are_taken() -> None:
    estimate = estimate_rewrite_data_files(
        health_of_partitions({"day=1": [270 * MIB, 270 * MIB]}), RULE
    )
    assert (estimate.items_before, estimate.items_after, estimate.items_removed) == (2, 1, 1)


def test_two_files_that_would_become_two_again_are_no_gain() -> None:
    estimate = estimate_rewrite_data_files(
        health_of_partitions({"day=1": [300 * MIB, 300 * MIB]}), RULE
    )
    assert (estimate.items_before, estimate.items_after, estimate.items_removed) == (2, 2, 0)


def test_one_large_file_is_split_and_counts_as_no_gain_in_files() -> None:
    estimate = estimate_rewrite_data_files(health_of_partitions({"day=1": [GIB]}), RULE)
    assert (estimate.items_before, estimate.items_removed) == (1, 0)


def test_files_of_another_spec_fall_in_one_group() -> None:
    shares = [share([1000] * 3, "day=1", spec_id=0), share([1000] * 3, "day=2", spec_id=0)]
    health = replace(measure(inventory((manifest("m", shares),))), default_spec_id=1)
    assert estimate_rewrite_data_files(health, RULE).items_removed == 5


def test_the_options_of_the_rule_are_the_planners() -> None:
    health = health_of_partitions({"day=1": [1000] * 4})
    assert estimate_rewrite_data_files(health, with_options(min_input_files="2")).items_removed == 3
    assert (
        estimate_rewrite_data_files(
            health_of_partitions({"a": [500 * MIB] * 3}), with_options(rewrite_all="true")
        ).items_before
        == 3
    )
    assert (
        "upper bound"
        in estimate_rewrite_data_files(
            health_of_partitions({"day=1": [1000] * 5}), replace(RULE, where="a = 1")
        ).note
    )


def test_a_remainder_is_folded_when_the_others_stay_near_the_target() -> None:
    target = 100 * MIB
    folded = health_of_partitions(
        {"a": [int(10.5 * MIB)] * 20}, target
    )  # 210 MiB: two files of 105
    assert estimate_rewrite_data_files(folded, RULE).items_after == 2
    apart = health_of_partitions(
        {"a": [int(14.5 * MIB)] * 10}, target
    )  # 145 MiB: 145 in one would be too much
    assert estimate_rewrite_data_files(apart, RULE).items_after == 2
    large = health_of_partitions(
        {"a": [18 * MIB] * 10}, target
    )  # a remainder of 80 MiB is a file of its own
    assert estimate_rewrite_data_files(large, RULE).items_after == 2


SIZES = st.lists(st.integers(1, 2 * GIB), max_size=12)


@given(st.dictionaries(st.sampled_from("abcdef"), SIZES, min_size=1))
def test_a_rewrite_never_promises_more_than_there_is(partitions: dict[str, list[int]]) -> None:
    health = health_of_partitions(partitions)
    estimate = estimate_rewrite_data_files(health, RULE)
    assert (
        0 <= estimate.items_removed <= estimate.items_before - estimate.partitions
        or estimate.items_removed == 0
    )
    assert 0 <= estimate.items_before <= (health.data_files or 0)
    assert estimate.items_after <= estimate.items_before or any(
        size > 1.8 * 512 * MIB for sizes in partitions.values() for size in sizes
    )
    assert 0 <= estimate.bytes_rewritten <= (health.data_bytes or 0)


@given(SIZES)
def test_what_a_rewrite_leaves_behind_is_not_rewritten_again(sizes: list[int]) -> None:
    """The output of an estimated rewrite, laid out evenly, offers no further gain: the loop
    converges.
    """
    small = [size for size in sizes if size <= 400 * MIB]
    before = estimate_rewrite_data_files(health_of_partitions({"a": small}), RULE)
    if not before.items_after:
        return
    rest = [size for size in small if size >= 384 * MIB]
    outputs = [before.bytes_rewritten // before.items_after] * before.items_after
    after = estimate_rewrite_data_files(health_of_partitions({"a": outputs + rest}), RULE)
    assert after.items_removed == 0


def with_live_files(groups: tuple[ManifestGroup, ...]) -> TableHealth:
    """Each of the two specs has a data file and a delete file."""
    health = health_of_partitions({"": [MIB]})
    (one,) = health.partitions
    live = tuple(replace(one, spec_id=spec_id, delete_files=1) for spec_id in (0, 1))
    return replace(health, partitions=live, manifest_groups=groups)


def test_manifests_whose_entries_are_all_removed_become_none() -> None:
    deletes = ManifestGroup(0, ManifestContent.DELETES, 2, 5000)
    data = replace(deletes, content=ManifestContent.DATA)
    health = with_live_files((data, deletes))
    without = tuple(replace(partition, delete_files=0) for partition in health.partitions)
    found = estimate_spec(replace(health, partitions=without), 0)
    assert (found.items_before, found.items_after, found.error_bound) == (4, 1, 0)
    both = estimate_spec(health, 0)
    assert (both.items_before, both.items_after) == (4, 2)


def test_manifests_are_counted_per_spec_against_their_ideal_number() -> None:
    groups = (
        ManifestGroup(0, ManifestContent.DATA, 300, 300 * 8000),
        ManifestGroup(0, ManifestContent.DELETES, 10, 80_000),
        ManifestGroup(1, ManifestContent.DATA, 20, 400 * MIB),
    )
    found = estimate_rewrite_manifests(with_live_files(groups))
    assert found is not None
    assert found.spec_id == 0
    assert (
        found.estimate.items_before,
        found.estimate.items_after,
        found.estimate.items_removed,
    ) == (310, 2, 308)
    assert estimate_rewrite_manifests(replace(health_of_partitions({}), manifest_groups=())) is None


def test_a_spec_whose_manifests_are_worth_a_rewrite_goes_before_a_larger_one() -> None:
    groups = (
        ManifestGroup(0, ManifestContent.DATA, 1000, 600 * 8 * MIB),
        ManifestGroup(1, ManifestContent.DATA, 300, 300 * 8000),
    )
    found = estimate_rewrite_manifests(with_live_files(groups))
    assert found is not None
    assert (found.spec_id, found.estimate.items_removed) == (1, 299)


DAY = timedelta(days=1)


def expired_of(ages: list[timedelta], older_than: timedelta = 5 * DAY, keep: int = 2) -> list[int]:
    health = with_history(health_of_partitions({}), ages)
    return sorted(estimate_expire_snapshots(health, NOW - older_than, keep, NOW).expired)


def test_snapshots_expire_when_old_and_beyond_the_newest_kept() -> None:
    assert expired_of([9 * DAY, 8 * DAY, 7 * DAY, 1 * DAY]) == [1, 2]
    assert expired_of([9 * DAY, 8 * DAY], keep=2) == []
    assert expired_of([3 * DAY, 2 * DAY, 1 * DAY]) == []


def refs_expired(refs: tuple[Ref, ...], **branch: int) -> list[int]:
    snapshots = tuple(snapshot(i, (10 - i) * DAY, parent_id=i - 1 or None) for i in range(1, 7))
    side = snapshot(20, 9 * DAY, parent_id=1)
    main = Ref("main", 6, is_branch=True, **branch)
    health = measure(inventory(snapshots=(side, *snapshots), refs=(main, *refs)))
    return sorted(estimate_expire_snapshots(health, NOW - 5 * DAY, 1, NOW).expired)


def test_tags_and_branches_hold_their_snapshots() -> None:
    assert refs_expired(()) == [1, 2, 3, 4, 20]
    assert refs_expired((Ref("v1", 2, is_branch=False),)) == [1, 3, 4, 20]
    assert refs_expired((Ref("audit", 20, is_branch=True, min_snapshots_to_keep=2),)) == [2, 3, 4]


def test_a_branchs_own_retention_goes_before_the_default() -> None:
    assert refs_expired((), min_snapshots_to_keep=4) == [1, 2, 20]
    assert refs_expired((), max_snapshot_age_ms=int((7.5 * DAY).total_seconds() * 1000)) == [
        1,
        2,
        20,
    ]


def test_refs_past_their_own_age_or_without_a_snapshot_hold_nothing() -> None:
    assert refs_expired((Ref("v1", 2, is_branch=False, max_ref_age_ms=1000),)) == [1, 2, 3, 4, 20]
    assert refs_expired((Ref("v1", 2, is_branch=False, max_ref_age_ms=10**12),)) == [1, 3, 4, 20]
    assert refs_expired((Ref("ghost", 99, is_branch=False),)) == [1, 2, 3, 4, 20]


def test_staged_snapshots_expire_by_age_alone() -> None:
    staged = (snapshot(7, 9 * DAY), snapshot(8, 1 * DAY), snapshot(9, 0 * DAY))
    health = replace(measure(inventory(snapshots=staged)), refs=())
    assert estimate_expire_snapshots(health, NOW - 5 * DAY, 1, NOW).expired == {7}


def test_the_oldest_that_is_kept_by_its_age_alone_waits() -> None:
    health = with_history(health_of_partitions({}), [4 * DAY, 3 * DAY, 1 * DAY])
    assert (
        estimate_expire_snapshots(health, NOW - 5 * DAY, 2, NOW).oldest_waiting_at == NOW - 4 * DAY
    )
    assert estimate_expire_snapshots(health, NOW - 5 * DAY, 10, NOW).oldest_waiting_at is None


def test_what_lies_before_a_tag_on_no_branch_goes_by_its_age() -> None:
    snapshots = (
        snapshot(1, 9 * DAY),
        snapshot(2, 2 * DAY),
        snapshot(3, 1 * DAY, parent_id=2),
        snapshot(4, 0 * DAY, parent_id=1),
    )
    health = measure(
        inventory(
            snapshots=snapshots,
            refs=(Ref("main", 4, is_branch=True), Ref("v1", 3, is_branch=False)),
        )
    )
    assert estimate_expire_snapshots(health, NOW - 5 * DAY, 1, NOW).expired == {1}


def test_a_history_that_refers_to_itself_ends() -> None:
    health = measure(
        inventory(snapshots=(snapshot(1, 9 * DAY, parent_id=2), snapshot(2, 8 * DAY, parent_id=1)))
    )
    assert estimate_expire_snapshots(health, NOW - 5 * DAY, 1, NOW).expired == {1}


@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=15), st.integers(1, 10), st.integers(1, 10)
)
def test_the_newest_snapshots_are_always_kept(ages: list[int], max_age: int, keep: int) -> None:
    ordered = sorted(ages, reverse=True)
    expired = expired_of([age * DAY for age in ordered], max_age * DAY, keep)
    assert len(ordered) - len(expired) >= min(keep, len(ordered))
    assert all(ordered[i - 1] > max_age for i in expired)


def manifests_of(*groups: ManifestGroup, partitions: int = 0, target: int = 8 * MIB) -> Estimate:
    health = health_of_partitions({f"p={n}": [MIB] for n in range(partitions)} or {"": [MIB]})
    live = tuple(replace(partition, delete_files=1) for partition in health.partitions)
    return estimate_spec(
        replace(health, partitions=live, manifest_groups=groups, target_manifest_size_bytes=target),
        0,
    )


def test_a_single_manifest_that_is_not_too_large_stays() -> None:
    data, deletes = (
        ManifestGroup(0, ManifestContent.DATA, 5, 5000),
        ManifestGroup(0, ManifestContent.DELETES, 1, 5000),
    )
    assert (manifests_of(data, deletes).items_before, manifests_of(data, deletes).items_after) == (
        5,
        1,
    )
    assert manifests_of(deletes).items_before == 0


def test_a_manifest_that_is_too_large_becomes_several_which_is_no_gain() -> None:
    found = manifests_of(ManifestGroup(0, ManifestContent.DATA, 1, 20 * MIB))
    assert (found.items_before, found.items_after, found.items_removed) == (1, 3, 0)


def test_no_more_tasks_write_manifests_than_there_are_partitions() -> None:
    group = ManifestGroup(0, ManifestContent.DATA, 50, 10 * MIB)
    assert (
        manifests_of(group, partitions=2, target=MIB).items_after == 9
    )  # two tasks, which begin another manifest at 1.2 MiB
    assert manifests_of(group, partitions=40, target=MIB).items_after == 10
    assert manifests_of(group, partitions=40, target=MIB).error_bound > 0
    assert (
        manifests_of(
            replace(group, content=ManifestContent.DELETES), partitions=40, target=MIB
        ).items_after
        == 10
    )


def test_the_tables_own_limit_for_refs_goes_where_a_ref_has_none() -> None:
    snapshots = tuple(snapshot(i, (10 - i) * DAY, parent_id=i - 1 or None) for i in range(1, 7))
    refs = (
        Ref("main", 6, is_branch=True),
        Ref("old", 2, is_branch=False),
        Ref("own", 2, is_branch=False, max_ref_age_ms=10**12),
        Ref("new", 4, is_branch=False),
    )
    health = measure(
        inventory(
            snapshots=snapshots,
            refs=refs,
            properties={"history.expire.max-ref-age-ms": str(int(7 * DAY.total_seconds() * 1000))},
        )
    )
    assert [ref.name for ref in find_expired_refs(health, NOW)] == ["old"]
    forever = replace(health, properties={"history.expire.max-ref-age-ms": str(2**63 - 1)})
    assert find_expired_refs(forever, NOW) == ()


class CountedHistory(tuple[SnapshotStamp, ...]):
    """Snapshots that count how often somebody goes through them."""

    __slots__ = ()
    passes: ClassVar[int] = 0

    def __iter__(self) -> Iterator[SnapshotStamp]:
        CountedHistory.passes += 1
        return super().__iter__()


def test_the_history_is_gone_through_as_often_for_many_refs_as_for_one() -> None:
    snapshots = tuple(snapshot(i, (400 - i) * DAY, parent_id=i - 1 or None) for i in range(1, 301))
    tags = tuple(Ref(f"tag-{i}", i, is_branch=False, max_ref_age_ms=10**12) for i in range(1, 201))
    health = measure(inventory(snapshots=snapshots, refs=(Ref("main", 300, is_branch=True), *tags)))
    passes = []
    for refs in (health.refs[:2], health.refs):
        CountedHistory.passes = 0
        estimate_expire_snapshots(
            replace(health, history=CountedHistory(health.history), refs=refs), NOW, 1, NOW
        )
        passes.append(CountedHistory.passes)
    assert passes[0] == passes[1] > 0


def test_a_ref_that_is_kept_longer_than_any_calendar_is_kept_for_ever() -> None:
    snapshots = tuple(snapshot(i, (10 - i) * DAY, parent_id=i - 1 or None) for i in range(1, 7))
    refs = (
        Ref("main", 6, is_branch=True),
        Ref(
            "side",
            3,
            is_branch=True,
            max_ref_age_ms=2**63 - 1,
            max_snapshot_age_ms=2**63 - 1,
            min_snapshots_to_keep=1,
        ),
        Ref("gone", 99, is_branch=False, max_ref_age_ms=2**63 - 1),
    )
    health = measure(inventory(snapshots=snapshots, refs=refs))
    assert [ref.name for ref in find_expired_refs(health, NOW)] == ["gone"]
    assert estimate_expire_snapshots(health, NOW, 1, NOW).expired == {4, 5}
