"""Digests of what somebody else found in manifests, held against those of our own readers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from maintainer.adapters.catalog.manifests.manifest import ListedManifest
from maintainer.adapters.catalog.manifests.partition import Spec, SpecField
from maintainer.adapters.catalog.manifests.spark_rows import digest_found
from maintainer.domain.inventory import (
    Content,
    ManifestContent,
    ManifestDigest,
    SizeClasses,
    TableFault,
)
from maintainer.domain.reading import FoundFiles, FoundManifest, UnreadManifests
from tests.adapters.catalog.lake import (
    Lake,
    Memory,
    identify,
    local_path,
    read_by,
    records_of,
    rows,
    small_target,
)

CLASSES = SizeClasses.around(1000)
LISTED = ListedManifest("m.avro", 100, 1, ManifestContent.DATA, 7)
SPECS = {
    0: Spec(0, (SpecField(1000, "old", "identity"), SpecField(1001, "gone", "void"))),
    1: Spec(1, (SpecField(1000, "new", "identity"), SpecField(1002, "cost", "identity"))),
}
TYPES = {"new": "date", "cost": "decimal(38,10)"}
FILES = FoundFiles(
    {"new": 20455, "cost": Decimal("1.5")}, Content.DATA, "parquet", 0, (10, 2000), 5, 3
)
FOUND = FoundManifest("m.avro", 1, 4, TYPES, (FILES,))


def one(found: FoundManifest, listed: ListedManifest = LISTED) -> ManifestDigest:
    (digest,) = digest_found([found], [listed], SPECS, CLASSES)
    return digest


def none(found: FoundManifest, listed: ListedManifest = LISTED) -> bool:
    return list(digest_found([found], [listed], SPECS, CLASSES)) == []


def test_a_digest_has_what_the_list_and_what_was_found_say() -> None:
    digest = one(FOUND)
    assert (
        digest.path,
        digest.length_bytes,
        digest.spec_id,
        digest.sequence_number,
        digest.entries_read,
    ) == ("m.avro", 100, 1, 7, 4)
    (share,) = digest.partitions
    assert share.partition == "new=2026-01-02/cost=1.5000000000"
    assert (
        share.file_count,
        share.bytes,
        share.record_count,
        share.small_count,
        share.large_count,
    ) == (2, 2010, 5, 1, 1)
    assert (share.newest_sequence_number, share.sizes.listed) == (3, (10, 2000))
    assert (sum(digest.histogram), digest.formats, digest.files) == (2, (("parquet", 2),), b"")


def test_partitions_are_told_by_the_names_of_their_own_spec_though_found_by_the_newest() -> None:
    found = replace(
        FOUND, spec_id=0, files=(replace(FILES, partition={"new": None, "cost": None}),)
    )
    assert one(found, replace(LISTED, spec_id=0)).partitions[0].partition == "old=null"


def test_a_decimal_of_thirty_eight_digits_is_not_rounded() -> None:
    cost = Decimal("1234567890123456789012345678.0123456789")
    found = replace(FOUND, files=(replace(FILES, partition={"new": None, "cost": cost}),))
    assert one(found).partitions[0].partition == f"new=null/cost={cost}"


@pytest.mark.parametrize(
    "listed",
    [
        replace(LISTED, path="another.avro"),
        replace(LISTED, spec_id=0),
        replace(LISTED, is_encrypted=True),
        replace(LISTED, length_bytes=None),
    ],
    ids=["not listed", "of another spec", "encrypted", "without a length"],
)
def test_what_the_list_does_not_have_like_this_is_passed_over(listed: ListedManifest) -> None:
    assert none(FOUND, listed)


def test_a_spec_that_is_not_known_is_passed_over() -> None:
    assert none(replace(FOUND, spec_id=9), replace(LISTED, spec_id=9))


def test_a_partition_of_which_a_field_was_not_found_is_passed_over() -> None:
    assert none(replace(FOUND, types={"new": "date"}))


def test_files_that_are_to_be_listed_must_have_been_found_one_by_one() -> None:
    wanted = replace(LISTED, keeps_files=True)
    assert none(FOUND, wanted)
    each = replace(FILES, records=(2, 3), sequence_numbers=(None, 3), keys=(0, 9))
    digest = one(replace(FOUND, files=(each,)), wanted)
    assert digest.lists_files
    assert digest.files
    assert digest.partitions[0].newest_sequence_number == 7  # inherited from the manifest


def found_by_fastavro(lake: Lake, *name: str) -> Iterator[FoundManifest]:
    """What an engine would answer of a table that is partitioned by day and not changed since it
    was made.
    """
    table = lake.writer.load_table(name)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    for manifest in snapshot.manifests(table.io):
        entries: list[dict[str, Any]] = records_of(local_path(manifest.manifest_path).read_bytes())
        groups = tuple(
            FoundFiles(
                {},
                Content.DATA,
                "parquet",
                first,
                (entry["data_file"]["file_size_in_bytes"],),
                entry["data_file"]["record_count"],
                None,
            )
            for first, entry in enumerate(entries)
            if entry["status"] != 2
        )
        yield FoundManifest(
            manifest.manifest_path, manifest.partition_spec_id, len(entries), {}, groups
        )


def test_they_are_equal_to_those_of_our_readers(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    for day in (1, 2, 3):
        table.append(rows(day, day))
    table.delete("id > 1")
    ours = lake.read("sales", "orders")
    digests = lake.catalog.digests(
        identify("sales", "orders"),
        ours.current_snapshot_id or 0,
        small_target(ours.table, {}),
        found_by_fastavro(lake, "sales", "orders"),
    )
    assert isinstance(digests, Iterator)
    assert {digest.path: digest for digest in digests} == {
        digest.path: digest for digest in ours.manifests
    }


def test_more_unread_files_than_allowed_are_left_unread(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    for day in (1, 2, 3):
        table.append(rows(5, day))
    orders, memory = identify("sales", "orders"), Memory()
    (taken,) = lake.catalog.inventories([orders], small_target, memory.known, most_files=2)
    snapshot = lake.read("sales", "orders").current_snapshot_id
    assert snapshot is not None
    uuid = str(table.metadata.table_uuid)
    assert taken.outcome == UnreadManifests(
        orders,
        uuid,
        snapshot,
        small_target(orders, {}),
        3,
        3,
        is_partitioned=False,
        has_deletes=False,
    )
    (taken,) = lake.catalog.inventories([orders], small_target, memory.known, most_files=3)
    assert not isinstance(taken.outcome, UnreadManifests)
    memory.remember(read_by(lake.catalog, orders))
    table.append(rows(5, 4))
    (taken,) = lake.catalog.inventories([orders], small_target, memory.known, most_files=0)
    assert isinstance(taken.outcome, UnreadManifests)
    assert (taken.outcome.manifests, taken.outcome.files) == (1, 1)


def test_a_table_that_cannot_be_opened_has_no_digests_but_a_fault(lake: Lake) -> None:
    assert isinstance(lake.catalog.digests(identify("sales", "absent"), 1, 1000, ()), TableFault)


def test_of_a_snapshot_that_is_gone_the_current_ones_manifests_count(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    table.append(rows(5))
    ours = lake.read("sales", "orders")
    digests = lake.catalog.digests(
        ours.table, 42, small_target(ours.table, {}), found_by_fastavro(lake, "sales", "orders")
    )
    assert isinstance(digests, Iterator)
    assert tuple(digests) == ours.manifests
