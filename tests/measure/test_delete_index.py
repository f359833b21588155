from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.domain.file_sizes import (
    WHOLE_PARTITION,
    DeletedFiles,
    ListedFile,
    find_runs,
    pack_files,
)
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest, PartitionDigest
from maintainer.measure.delete_index import JoinedDeletes, join_deletes
from tests.examples import examples

FIRST, SECOND = 1, 2  # keys of two data files


def key(partition: str, content: Content = Content.DATA, spec_id: int = 0) -> PartitionDigest:
    return PartitionDigest(spec_id, partition, content, 0, 0, 0, 0, 0, 0, 0)


def listing(
    content: ManifestContent, partitions: list[PartitionDigest], files: list[ListedFile]
) -> ManifestDigest:
    return ManifestDigest(
        "m", 1, 0, content, 1, tuple(partitions), files=pack_files(files), lists_files=True
    )


def data(*files: ListedFile, partition: str = "p=1") -> ManifestDigest:
    return listing(ManifestContent.DATA, [key(partition), key("p=other")], list(files))


def deletes(content: Content, *files: ListedFile, partition: str = "p=1") -> ManifestDigest:
    return listing(ManifestContent.DELETES, [key(partition, content)], list(files))


TWO = (ListedFile(0, FIRST, 1000, 100, 5), ListedFile(0, SECOND, 2000, 100, 5))


def joined(*manifests: ManifestDigest, limit: int = 10) -> dict[int, tuple[float, int]]:
    found = join_deletes(manifests, limit).deleted.get((0, "p=1"), ())
    return {file.bytes: (file.least_ratio, file.delete_files) for file in found}


def test_without_deletes_nothing_is_joined() -> None:
    assert join_deletes([data(*TWO)], 10) == JoinedDeletes()
    assert (
        join_deletes([data(*TWO), deletes(Content.POSITION_DELETES, partition="p=2")], 10)
        == JoinedDeletes()
    )


def test_a_position_delete_of_one_file_deletes_a_share_of_that_file() -> None:
    found = joined(
        data(*TWO),
        deletes(
            Content.POSITION_DELETES, ListedFile(0, FIRST, 9, 30, 6), ListedFile(0, FIRST, 9, 10, 5)
        ),
    )
    assert found == {1000: (0.4, 2)}


def dangling(*manifests: ManifestDigest) -> dict[tuple[int, str], int] | None:
    return join_deletes(manifests, 10).dangling


def test_a_position_delete_whose_data_file_is_gone_or_newer_dangles() -> None:
    gone, older, right = (
        ListedFile(0, 99, 9, 30, 6),
        ListedFile(0, FIRST, 9, 30, 4),
        ListedFile(0, SECOND, 9, 30, 5),
    )
    assert dangling(data(*TWO), deletes(Content.POSITION_DELETES, gone, older, right)) == {
        (0, "p=1"): 2
    }
    assert dangling(
        data(*TWO, partition="p=2"), deletes(Content.POSITION_DELETES, gone, older, right)
    ) == {(0, "p=1"): 3}, "no data is left there"
    assert dangling(data(*TWO), deletes(Content.POSITION_DELETES, right)) == {}


def test_position_deletes_for_the_whole_partition_dangle_when_all_its_data_is_newer() -> None:
    files = [ListedFile(0, WHOLE_PARTITION, 9, 30, number) for number in (3, 4, 5, 6)]
    assert dangling(data(*TWO), deletes(Content.POSITION_DELETES, *files)) == {(0, "p=1"): 2}
    upgraded = ListedFile(0, 7, 1000, 100, 0)  # written in format version 1
    assert dangling(data(upgraded, *TWO), deletes(Content.POSITION_DELETES, *files)) == {}
    assert dangling(data(*TWO, partition="p=2"), deletes(Content.POSITION_DELETES, *files)) == {
        (0, "p=1"): 4
    }


def test_deletes_of_other_kinds_are_not_counted_among_the_dangling_ones() -> None:
    other = [
        deletes(kind, ListedFile(0, 99, 9, 30, 1))
        for kind in (Content.EQUALITY_DELETES, Content.DELETION_VECTORS)
    ]
    assert dangling(data(*TWO), *other) == {}
    vector = deletes(Content.DELETION_VECTORS, ListedFile(0, FIRST, 9, 50, 6))
    assert (
        dangling(
            data(*TWO), vector, deletes(Content.POSITION_DELETES, ListedFile(0, FIRST, 9, 20, 6))
        )
        == {}
    ), "the vector has them"


def test_what_dangles_is_not_known_where_files_are_not_listed_one_by_one() -> None:
    unlisted = replace(data(*TWO), files=b"", lists_files=False)
    positions = deletes(Content.POSITION_DELETES, ListedFile(0, FIRST, 9, 30, 6))
    assert dangling(unlisted, positions) is None
    assert dangling(data(*TWO), positions, replace(unlisted, partitions=())) == {}, (
        "a manifest without live entries"
    )


def test_a_delete_older_than_the_file_does_not_apply() -> None:
    assert (
        joined(
            data(*TWO),
            deletes(
                Content.POSITION_DELETES,
                ListedFile(0, FIRST, 9, 30, 4),
                ListedFile(0, WHOLE_PARTITION, 9, 30, 4),
            ),
        )
        == {}
    )


def test_deletes_for_the_whole_partition_are_counted_but_delete_no_known_share() -> None:
    assert joined(
        data(*TWO), deletes(Content.POSITION_DELETES, ListedFile(0, WHOLE_PARTITION, 9, 30, 5))
    ) == {1000: (0.0, 1), 2000: (0.0, 1)}


def test_equality_deletes_apply_to_files_that_are_older_than_they() -> None:
    assert (
        joined(
            data(*TWO), deletes(Content.EQUALITY_DELETES, ListedFile(0, WHOLE_PARTITION, 9, 30, 5))
        )
        == {}
    )
    assert joined(
        data(*TWO), deletes(Content.EQUALITY_DELETES, ListedFile(0, WHOLE_PARTITION, 9, 30, 6))
    ) == {1000: (0.0, 1), 2000: (0.0, 1)}
    everywhere = deletes(
        Content.EQUALITY_DELETES, ListedFile(0, WHOLE_PARTITION, 9, 30, 6), partition=""
    )
    assert joined(data(*TWO), everywhere) == {1000: (0.0, 1), 2000: (0.0, 1)}


def test_a_deletion_vector_takes_the_place_of_position_deletes() -> None:
    vector = deletes(Content.DELETION_VECTORS, ListedFile(0, FIRST, 9, 50, 6))
    older = deletes(
        Content.POSITION_DELETES,
        ListedFile(0, FIRST, 9, 20, 6),
        ListedFile(0, WHOLE_PARTITION, 9, 20, 6),
    )
    assert joined(data(*TWO), vector, older) == {1000: (0.5, 1), 2000: (0.0, 1)}


def test_no_file_loses_more_than_it_has() -> None:
    empty = ListedFile(0, SECOND, 2000, 0, 5)
    found = joined(
        data(TWO[0], empty),
        deletes(
            Content.POSITION_DELETES,
            ListedFile(0, FIRST, 9, 500, 6),
            ListedFile(0, SECOND, 9, 1, 6),
        ),
    )
    assert found == {1000: (1.0, 1), 2000: (0.0, 1)}


def test_deletes_stay_in_their_partition_and_spec() -> None:
    elsewhere = listing(
        ManifestContent.DELETES,
        [key("p=1", Content.POSITION_DELETES, spec_id=3)],
        [ListedFile(0, FIRST, 9, 30, 6)],
    )
    assert joined(data(*TWO), elsewhere, data(*TWO, partition="p=2")) == {}
    beside = data(*TWO, ListedFile(1, FIRST, 7, 100, 5))
    assert set(
        join_deletes(
            [beside, deletes(Content.DELETION_VECTORS, ListedFile(0, FIRST, 9, 50, 6))], 10
        ).deleted
    ) == {(0, "p=1")}


def test_many_files_with_deletes_become_classes() -> None:
    files = [ListedFile(0, n, 1000 + n, 100, 5) for n in range(1, 41)]
    vectors = deletes(
        Content.DELETION_VECTORS,
        *(ListedFile(0, n, 9, 10 if n <= 20 else 31 + n % 2, 6) for n in range(1, 41)),
    )
    found = join_deletes([data(*files), vectors], 10).deleted[0, "p=1"]
    assert found == (
        DeletedFiles(20, sum(range(1001, 1021)), 1001, 1020, 0.1, 0.1, 1),
        DeletedFiles(3, 3066, 1021, 1023, 0.31, 0.32, 1),
        *found[2:],
    )
    assert sum(group.files for group in found) == 40
    exact = join_deletes([data(*files), vectors], 40).deleted[0, "p=1"]
    assert len(exact) == 40
    assert sum(group.bytes for group in exact) == sum(group.bytes for group in found)


def test_files_that_were_not_kept_one_by_one_are_not_joined() -> None:
    unlisted = replace(data(*TWO), files=b"", lists_files=False)
    assert joined(unlisted, deletes(Content.DELETION_VECTORS, ListedFile(0, FIRST, 9, 50, 6))) == {}


def shorten(files: Sequence[DeletedFiles]) -> tuple[DeletedFiles, ...]:
    """What classes are, counted over all files at once."""
    alike: dict[tuple[int, int], list[DeletedFiles]] = defaultdict(list)
    for file in files:
        alike[int(file.least_ratio * 20), file.delete_files].append(file)
    return tuple(
        DeletedFiles(
            run.files,
            run.bytes,
            run.smallest,
            run.largest,
            min(f.least_ratio for f in some),
            max(f.most_ratio for f in some),
            count,
        )
        for (_, count), some in sorted(alike.items())
        for run in find_runs(sorted(f.bytes for f in some))
    )


FILES = st.lists(
    st.tuples(
        st.sampled_from((1000, 1010, 1100, 1200)), st.sampled_from((0, 100)), st.integers(1, 3)
    ),
    min_size=5,
    max_size=20,
)
DELETED = st.lists(
    st.tuples(st.integers(1, 20), st.sampled_from((1, 2, 90, 200)), st.integers(2, 3)),
    min_size=10,
    max_size=40,
)


@given(
    files=FILES,
    removed=DELETED,
    everywhere=st.lists(st.integers(1, 4), max_size=3),
    limit=st.integers(1, 12),
    manifests=st.integers(1, 4),
)
@settings(max_examples=examples(60))
def test_classes_are_the_same_however_the_files_come_together(
    files: list[tuple[int, int, int]],
    removed: list[tuple[int, int, int]],
    everywhere: list[int],
    limit: int,
    manifests: int,
) -> None:
    listed = [ListedFile(0, key, *file) for key, file in enumerate(files, start=1)]
    vectors = deletes(
        Content.POSITION_DELETES,
        *(ListedFile(0, key, 9, records, number) for key, records, number in removed),
    )
    equalities = deletes(
        Content.EQUALITY_DELETES,
        *(ListedFile(0, WHOLE_PARTITION, 9, 1, number) for number in everywhere),
        partition="",
    )
    parts = [
        data(*listed[start::manifests]) for start in range(manifests) if listed[start::manifests]
    ]
    single = join_deletes([*parts, vectors, equalities], 10**9).deleted.get((0, "p=1"), ())
    found = join_deletes([*parts, vectors, equalities], limit).deleted.get((0, "p=1"), ())
    assert found == (single if len(single) <= limit else shorten(single))
    assert all(file.files == 1 for file in single)
