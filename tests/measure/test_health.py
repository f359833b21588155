from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from maintainer.domain.file_sizes import WHOLE_PARTITION, ListedFile, pack_files
from maintainer.domain.inventory import Content, ManifestContent, Ref, Unreadable
from maintainer.domain.units import GIB, KIB, MIB
from maintainer.measure.health import measure, positive_property, summarise, target_file_size
from tests.samples import inventory, manifest, share, snapshot


def test_health_is_the_sum_of_the_digests() -> None:
    data = manifest(
        "m1",
        [share([100, 300 * MIB], "day=1"), share([600 * MIB], "day=2")],
        5000,
        sizes=[100, 300 * MIB, 600 * MIB],
    )
    more = manifest("m2", [share([GIB], "day=1")], 6000, sizes=[GIB])
    deletes = manifest(
        "m3",
        [
            share([50], "day=1", Content.POSITION_DELETES),
            share([7], "day=2", Content.EQUALITY_DELETES),
        ],
        700,
    )
    vectors = manifest("m4", [share([11], "day=1", Content.DELETION_VECTORS)], 300)
    health = measure(inventory((data, more, deletes, vectors)))
    assert (health.data_files, health.data_bytes) == (4, 100 + 900 * MIB + GIB)
    assert health.average_file_size_bytes == (100 + 900 * MIB + GIB) / 4
    assert (health.small_files, health.small_file_ratio, health.small_file_bytes) == (
        2,
        0.5,
        100 + 300 * MIB,
    )
    assert health.records == 400
    assert (
        health.position_delete_files,
        health.equality_delete_files,
        health.deletion_vectors,
    ) == (1, 1, 1)
    assert (health.delete_bytes, health.delete_records) == (68, 300)
    assert (
        health.manifests,
        health.manifest_bytes,
        health.data_manifests,
        health.delete_manifests,
    ) == (4, 12000, 2, 2)
    assert sum(health.histogram) == 4
    assert sum(health.histogram_bytes) == health.data_bytes
    before = summarise(health)
    assert (before.histogram, before.histogram_bytes) == (health.histogram, health.histogram_bytes)
    assert health.formats == {"parquet": 4}
    first = health.partitions[0]
    assert (
        first.partition,
        first.data_files,
        first.small_files,
        first.large_files,
        first.delete_files,
    ) == ("day=1", 3, 2, 1, 2)
    assert first.average_file_size_bytes == (100 + 300 * MIB + GIB) / 3
    groups = [(group.content, group.count, group.bytes) for group in health.manifest_groups]
    assert groups == [(ManifestContent.DATA, 2, 11000), (ManifestContent.DELETES, 2, 1000)]


def test_an_empty_table_has_zero_files_and_no_average() -> None:
    health = measure(inventory(snapshots=()))
    assert (health.data_files, health.manifests, health.snapshots) == (0, 0, 0)
    assert health.average_file_size_bytes is None
    assert health.oldest_snapshot_at is None
    assert health.snapshot_id is None


def test_what_could_not_be_read_is_not_measured_rather_than_zero() -> None:
    health = measure(
        replace(
            inventory((manifest("m1", [share([1])]),)), unreadable=(Unreadable("m2", "truncated"),)
        )
    )
    unknown = (
        health.data_files,
        health.data_bytes,
        health.average_file_size_bytes,
        health.small_files,
        health.records,
        health.manifests,
        health.delete_bytes,
    )
    assert unknown == (None,) * 7
    assert health.snapshots == 1
    assert summarise(health).delete_files is None


def test_history_refs_and_times_come_along() -> None:
    snapshots = (snapshot(1, timedelta(days=3)), snapshot(2, timedelta(days=1), 1))
    health = measure(
        inventory(
            snapshots=snapshots,
            refs=(Ref("main", 2, is_branch=True), Ref("v1", 1, is_branch=False)),
        )
    )
    assert (health.snapshots, health.branches, health.tags) == (2, 1, 1)
    assert (health.oldest_snapshot_at, health.newest_snapshot_at) == (
        snapshots[0].committed_at,
        snapshots[1].committed_at,
    )
    assert [stamp.parent_id for stamp in health.history] == [None, 1]


def test_targets_come_from_the_tables_own_properties_and_malformed_ones_are_passed_over() -> None:
    assert target_file_size({"write.target-file-size-bytes": str(128 * MIB)}) == 128 * MIB
    assert target_file_size({"write.target-file-size-bytes": "lots"}) == 512 * MIB
    assert target_file_size({"write.target-file-size-bytes": "9" * 5000}) == 512 * MIB
    assert positive_property({"x": "0"}, "x", 7) == 7
    assert (
        measure(
            inventory(properties={"commit.manifest.target-size-bytes": str(64 * KIB)})
        ).target_manifest_size_bytes
        == 64 * KIB
    )


@given(st.lists(st.lists(st.integers(0, 2 * GIB), max_size=6), min_size=1, max_size=6))
def test_how_files_are_spread_over_manifests_makes_no_difference(spread: list[list[int]]) -> None:
    spread_out = measure(
        inventory(
            tuple(manifest(f"m{i}", [share(sizes)], sizes=sizes) for i, sizes in enumerate(spread))
        )
    )
    every = [size for sizes in spread for size in sizes]
    together = measure(inventory((manifest("m", [share(every)], sizes=every),)))
    for field in (
        "data_files",
        "data_bytes",
        "average_file_size_bytes",
        "small_files",
        "small_file_bytes",
        "records",
        "histogram",
    ):
        assert getattr(spread_out, field) == getattr(together, field)
    assert spread_out.partitions == together.partitions


def test_a_summary_adds_the_kinds_of_delete_files() -> None:
    deletes = [
        share([5], content=Content.POSITION_DELETES),
        share([5, 6], content=Content.EQUALITY_DELETES),
        share([5], content=Content.DELETION_VECTORS),
    ]
    assert summarise(measure(inventory((manifest("m", deletes),)))).delete_files == 4
    assert (
        measure(inventory((manifest("m", deletes),))).partitions[0].average_file_size_bytes is None
    )


def test_deletes_show_their_ratio_to_data_files_and_since_when_they_wait() -> None:
    history = (
        snapshot(1, timedelta(days=9)),
        snapshot(4, timedelta(days=5), 1),
        snapshot(6, timedelta(days=1), 4),
    )
    data = manifest("m1", [share([5] * 8)])
    deletes = replace(
        manifest(
            "m2",
            [
                share([1], content=Content.POSITION_DELETES),
                share([1], content=Content.EQUALITY_DELETES),
            ],
        ),
        sequence_number=3,
    )
    later = replace(
        manifest("m3", [share([1] * 2, content=Content.DELETION_VECTORS)]), sequence_number=6
    )
    health = measure(inventory((data, deletes, later), history))
    assert health.delete_file_ratio == 0.5
    assert health.oldest_delete_at == history[1].committed_at
    assert measure(inventory((data,), history)).oldest_delete_at is None
    assert measure(inventory((deletes,), history)).delete_file_ratio is None
    assert (
        measure(inventory((replace(deletes, sequence_number=99),), history)).oldest_delete_at
        is None
    )


def test_files_with_deletes_are_listed_singly_while_the_table_has_few_of_them() -> None:
    partitions = [f"day={day}" for day in range(40)]
    listed = [
        ListedFile(position, key, 1000 + key, 10, 1)
        for position in range(len(partitions))
        for key in range(1, 51)
    ]
    data = replace(
        manifest("m1", [share([1] * 50, partition) for partition in partitions]),
        files=pack_files(listed),
        lists_files=True,
    )
    deletes = replace(
        manifest("m2", [share([1], p, content=Content.EQUALITY_DELETES) for p in partitions]),
        files=pack_files(
            ListedFile(position, WHOLE_PARTITION, 1, 1, 2) for position in range(len(partitions))
        ),
        lists_files=True,
    )
    health = measure(inventory((data, deletes)))
    assert [[file.files for file in partition.deleted] for partition in health.partitions] == [
        [1] * 50
    ] * len(partitions)


def test_skew_is_a_partitions_bytes_against_the_mean_of_all() -> None:
    health = measure(
        inventory(
            (
                manifest(
                    "m1",
                    [
                        share([100, 200], "day=1"),
                        share([100], "day=2"),
                        share([9], "day=3", Content.POSITION_DELETES),
                    ],
                ),
            )
        )
    )
    assert {partition.partition: partition.skew for partition in health.partitions} == {
        "day=1": 2.25,
        "day=2": 0.75,
        "day=3": 0.0,
    }
    assert health.partition_skew == 2.25
    assert measure(inventory((manifest("m1", [share([0])]),))).partition_skew is None


def test_manifests_exceed_what_their_bytes_need_by_spec_and_content() -> None:
    data = [manifest(f"m{n}", [share([5])], 3 * MIB) for n in range(6)]
    older = manifest("old", [share([5], spec_id=1)], 100, spec_id=1)
    deletes = [
        manifest(f"d{n}", [share([5], content=Content.POSITION_DELETES)], MIB) for n in range(2)
    ]
    health = measure(inventory((*data, older, *deletes)))
    assert [(g.spec_id, g.content, g.ideal, g.excess) for g in health.manifest_groups] == [
        (0, ManifestContent.DATA, 3, 3),
        (0, ManifestContent.DELETES, 1, 1),
        (1, ManifestContent.DATA, 1, 0),
    ]
    assert health.manifest_excess == 4
    assert replace(health.manifest_groups[0], ideal=None).excess is None


def test_live_files_are_set_against_all_that_kept_snapshots_reach() -> None:
    first = snapshot(
        1,
        timedelta(days=2),
        summary={
            "total-data-files": "8",
            "total-delete-files": "1",
            "total-records": "10",
            "total-files-size": "100",
        },
    )
    counts = {
        "total-data-files": "2",
        "added-data-files": "2",
        "deleted-data-files": "8",
        "total-delete-files": "0",
        "removed-delete-files": "1",
    }
    second = snapshot(
        2,
        timedelta(hours=20),
        1,
        "replace",
        counts | {"total-records": "10", "total-files-size": "80"},
    )
    health = measure(
        replace(inventory((manifest("m1", [share([40, 40])]),), (first, second)), metadata_files=3)
    )
    assert (health.kept_data_files, health.live_file_ratio) == (10, 0.2)
    assert (health.growth_bytes_per_day, health.growth_records_per_day) == (-10.0, 0.0)
    assert (health.commits_per_hour, health.commit_window_seconds) == (1 / 24, 86400.0)
    assert health.metadata_files == 3
    assert health.storage_files == 10 + 1 + 1 + 2 + 3
    assert [hold.name for hold in health.ref_retention] == ["main"]


def test_a_history_that_claims_fewer_files_than_are_live_says_nothing_of_what_is_kept() -> None:
    health = measure(
        inventory(
            (manifest("m1", [share([40, 40])]),), (snapshot(1, summary={"total-data-files": "1"}),)
        )
    )
    assert (health.kept_data_files, health.live_file_ratio) == (None, None)
    assert [found.figure for found in health.disagreements] == ["data files"]
    assert health.storage_files == 2 + 1 + 1 + 1


def test_deletion_vectors_share_their_files_so_none_is_counted_as_one() -> None:
    health = measure(
        inventory(
            (
                manifest("m1", [share([40])]),
                manifest("m2", [share([3, 3], content=Content.DELETION_VECTORS)]),
            )
        )
    )
    assert health.storage_files == 1 + 2 + 1 + 1


def test_a_summary_that_is_unreadable_leaves_the_new_figures_unknown() -> None:
    health = measure(
        replace(
            inventory((manifest("m1", [share([1])]),)), unreadable=(Unreadable("m2", "truncated"),)
        )
    )
    unknown = (
        health.delete_file_ratio,
        health.partition_skew,
        health.manifest_excess,
        health.oldest_delete_at,
        health.live_file_ratio,
        health.storage_files,
    )
    assert unknown == (None,) * 6
