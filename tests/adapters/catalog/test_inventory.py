"""Real tables written by PyIceberg, every figure compared with PyIceberg's own inspection."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyiceberg.table import Table
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    YearTransform,
)

from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.domain.inventory import Content, ManifestContent, SizeClasses, TableInventory
from tests.adapters.catalog.lake import (
    NOW,
    ROWS,
    TARGET_BYTES,
    Lake,
    Memory,
    StoppedClock,
    entries_by_fastavro,
    identify,
    know_nothing,
    local_path,
    partitions,
    partitions_by_pyiceberg,
    read_by,
    rows,
    small_target,
    total,
)


def total_by_inspection(table: Table, content: int = 0) -> tuple[int, int, int]:
    files = [file for file in table.inspect.files().to_pylist() if file["content"] == content]
    return (
        len(files),
        sum(file["file_size_in_bytes"] for file in files),
        sum(file["record_count"] for file in files),
    )


def test_an_empty_table_has_zero_manifests_and_no_snapshot(lake: Lake) -> None:
    lake.make_table("sales", "orders")
    inventory = lake.read("sales", "orders")
    assert (inventory.manifests, inventory.unreadable, inventory.snapshots, inventory.refs) == (
        (),
        (),
        (),
        (),
    )
    assert inventory.current_snapshot_id is None
    assert lake.catalog.snapshots(identify("sales", "orders")) == ()


def test_totals_equal_pyicebergs_inspection(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    for count in (1, 50, 2000):
        table.append(rows(count))
    inventory = lake.read("sales", "orders")
    assert total(inventory) == total_by_inspection(table)
    assert [(m.path, m.length_bytes, m.spec_id) for m in inventory.manifests] == [
        (m["path"], m["length"], m["partition_spec_id"])
        for m in table.inspect.manifests().to_pylist()
    ]
    assert sum(sum(m.histogram) for m in inventory.manifests) == 3
    assert [m.formats for m in inventory.manifests] == [(("parquet", 1),)] * 3
    assert {share.partition for m in inventory.manifests for share in m.partitions} == {""}


def test_what_the_table_says_of_itself_is_passed_on(lake: Lake) -> None:
    table = lake.make_table("sales", "orders", **{"write.target-file-size-bytes": "1234"})
    table.append(rows(3))
    table.append(rows(4))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    table.manage_snapshots().create_tag(snapshot.snapshot_id, "kept", max_ref_age_ms=5000).commit()
    inventory = lake.read("sales", "orders")
    assert inventory.table == identify("sales", "orders")
    assert inventory.table_uuid == str(table.metadata.table_uuid)
    assert inventory.format_version == 2
    assert inventory.location == table.location()
    assert inventory.metadata_location == table.metadata_location
    assert inventory.metadata_bytes == local_path(table.metadata_location).stat().st_size
    assert inventory.properties["write.target-file-size-bytes"] == "1234"
    assert inventory.read_at == NOW
    assert inventory.current_snapshot_id == snapshot.snapshot_id
    assert not inventory.default_spec_is_partitioned
    assert [(ref.name, ref.is_branch, ref.max_ref_age_ms) for ref in inventory.refs] == [
        ("kept", False, 5000),
        ("main", True, None),
    ]
    assert [s.snapshot_id for s in inventory.snapshots] == [
        s.snapshot_id for s in table.snapshots()
    ]
    assert [s.parent_id for s in inventory.snapshots] == [None, table.snapshots()[0].snapshot_id]
    assert [s.operation for s in inventory.snapshots] == ["append", "append"]
    assert inventory.snapshots[1].summary["total-records"] == "7"
    assert inventory.snapshots[1].committed_at == datetime.fromtimestamp(
        snapshot.timestamp_ms / 1000, UTC
    )
    assert lake.catalog.snapshots(identify("sales", "orders")) == inventory.snapshots


def test_small_and_large_are_judged_by_the_target_that_the_caller_names(lake: Lake) -> None:
    table = lake.make_table("sales", "orders", mark="7")
    for count in (1, 2, 5000):
        table.append(rows(count))
    sizes = [file["file_size_in_bytes"] for file in table.inspect.files().to_pylist()]
    middle = int(sorted(sizes)[1])
    asked: list[str] = []

    def target_of(_table: object, properties: object) -> int:
        asked.append(str(properties))
        return middle

    inventory = lake.catalog.inventory(identify("sales", "orders"), target_of, know_nothing)
    assert isinstance(inventory, TableInventory)
    bounds = SizeClasses.around(middle)
    shares = [share for m in inventory.manifests for share in m.partitions]
    assert inventory.size_classes == bounds
    assert sum(s.small_count for s in shares) == sum(
        size < bounds.small_below_bytes for size in sizes
    )
    assert (
        sum(s.large_count for s in shares)
        == sum(size > bounds.large_above_bytes for size in sizes)
        == 1
    )
    assert sum(s.large_bytes for s in shares) == max(sizes)
    assert "'mark': '7'" in asked[0]


@pytest.mark.parametrize(
    ("transform", "source", "expected"),
    [
        (HourTransform(), "at", "p=2026-01-02-13"),
        (DayTransform(), "at", "p=2026-01-02"),
        (MonthTransform(), "day", "p=2026-01"),
        (YearTransform(), "day", "p=2026"),
        (IdentityTransform(), "day", "p=2026-01-02"),
        (IdentityTransform(), "at", "p=2026-01-02T13:00:00"),
        (IdentityTransform(), "id", "p=0"),
        (TruncateTransform(4), "name", "p=name"),
        (BucketTransform(8), "id", None),
    ],
)
def test_partition_values_are_written_as_iceberg_writes_them(
    lake: Lake, transform: BucketTransform[int], source: str, expected: str | None
) -> None:
    table = lake.make_table("sales", "orders")
    with table.update_spec() as update:
        update.add_field(source, transform, "p")
    table.append(rows(3, day=2, hour=13))
    inventory = lake.read("sales", "orders")
    assert inventory.default_spec_is_partitioned
    assert partitions(inventory) == partitions_by_pyiceberg(table)
    assert expected is None or expected in {text for _, text in partitions(inventory)}


def test_unusual_values_stay_apart_and_readable(lake: Lake) -> None:
    schema = pa.schema(
        [
            ("price", pa.decimal128(38, 2)),
            ("word", pa.string()),
            ("zoned", pa.timestamp("us", tz="UTC")),
            ("yes", pa.bool_()),
        ]
    )
    table = lake.make_table("sales", "odd", schema=schema)
    with table.update_spec() as update:
        for column in schema.names:
            update.add_field(column, IdentityTransform(), column)
    zoned = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    big = Decimal("123456789012345678901234567890123456.78")
    data = pa.table(
        {
            "price": [big, None],
            "word": ["a/b=ü%", "null"],
            "zoned": [zoned, None],
            "yes": [True, False],
        },
        schema=schema,
    )
    table.append(data)
    assert set(partitions(lake.read("sales", "odd"))) == {
        (1, f"price={big}/word=a%2Fb%3Dü%25/zoned=2026-01-02T03:04:05.000006+00:00/yes=true"),
        (1, "price=null/word=%6Eull/zoned=null/yes=false"),
    }


def test_an_evolved_spec_keeps_both_layouts_apart(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    table.append(rows(3))
    with table.update_spec() as update:
        update.add_field("day", DayTransform(), "d")
    table.append(rows(3, day=1))
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(2), "b")
    table.append(rows(9, day=2))
    inventory = lake.read("sales", "orders")
    found = partitions(inventory)
    assert found == partitions_by_pyiceberg(table)
    assert {spec for spec, _ in found} == {0, 1, 2}
    assert (0, "") in found
    assert (1, "d=2026-01-01") in found
    assert inventory.default_spec_id == 2
    assert total(inventory) == total_by_inspection(table)


def test_deleted_entries_do_not_count(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    for day in (1, 2, 3):
        table.append(rows(10, day=day))
    table.delete(f"day = '{date(2026, 1, 2).isoformat()}'")
    inventory = lake.read("sales", "orders")
    assert total(inventory) == total_by_inspection(table)
    assert total(inventory)[2] == 20
    assert len(entries_by_fastavro(inventory)) == 2


def test_a_second_inventory_reads_only_the_new_manifest(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    for _ in range(5):
        table.append(rows(3))
    memory = Memory()
    first = read_by(lake.catalog, identify("sales", "orders"), memory)
    memory.remember(first)
    table.append(rows(3))
    second = read_by(lake.catalog, identify("sales", "orders"), memory)
    assert [m.entries_read for m in first.manifests] == [1] * 5
    assert [m.entries_read for m in second.manifests] == [
        1,
        0,
        0,
        0,
        0,
        0,
    ]  # the newest manifest is listed first
    assert total(second) == total_by_inspection(table)
    assert memory.asked == [(str(table.metadata.table_uuid), TARGET_BYTES)] * 2


def test_a_known_digest_of_another_length_is_not_trusted(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    table.append(rows(3))
    memory = Memory()
    memory.remember(lake.read("sales", "orders"))
    for path, digest in memory.digests.items():
        memory.digests[path] = type(digest)(
            path, digest.length_bytes + 1, digest.spec_id, ManifestContent.DATA, 1
        )
    assert total(read_by(lake.catalog, identify("sales", "orders"), memory)) == total_by_inspection(
        table
    )


def test_the_catalogs_pointer_is_read_again_every_time(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    for expected in (3, 6, 9):
        table.append(rows(3))
        inventory = lake.read("sales", "orders")
        assert total(inventory)[2] == expected
        assert inventory.metadata_location == table.metadata_location


def test_metadata_compressed_by_gzip_reads_alike(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    table.append(rows(3))
    plain = lake.read("sales", "orders")
    source = local_path(table.metadata_location)
    packed = source.with_name("00009-aaaaaaaa-0000-4000-8000-000000000000.gz.metadata.json")
    packed.write_bytes(gzip.compress(source.read_bytes()))
    lake.point_to(f"file://{packed}", "orders")
    inventory = lake.read("sales", "orders")
    assert inventory.manifests == plain.manifests
    assert inventory.metadata_bytes == packed.stat().st_size


def test_a_v1_table_without_uuid_and_manifest_list_reads_too(lake: Lake) -> None:
    table = lake.make_table("sales", "orders", **{"format-version": "1"})
    table.append(rows(3))
    table.append(rows(5))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    metadata = json.loads(local_path(table.metadata_location).read_bytes())
    del (
        metadata["table-uuid"],
        metadata["partition-specs"],
        metadata["default-spec-id"],
        metadata["refs"],
    )
    metadata["partition-spec"] = []
    for stored in metadata["snapshots"]:
        if stored["snapshot-id"] == snapshot.snapshot_id:
            del stored["manifest-list"]
            stored["manifests"] = [
                manifest.manifest_path for manifest in snapshot.manifests(table.io)
            ]
    rewritten = local_path(table.metadata_location).with_name("v9.metadata.json")
    rewritten.write_text(json.dumps(metadata))
    lake.point_to(f"file://{rewritten}", "orders")
    inventory = lake.read("sales", "orders")
    assert inventory.table_uuid == table.location()
    assert inventory.format_version == 1
    assert total(inventory) == total_by_inspection(table)
    assert [ref.name for ref in inventory.refs] == ["main"]
    assert all(m.length_bytes == local_path(m.path).stat().st_size for m in inventory.manifests)


def test_many_manifests_are_read_in_the_order_of_their_list(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    for count in range(1, 13):
        table.append(rows(count))
    inventory = lake.read("sales", "orders")
    assert [m.partitions[0].record_count for m in inventory.manifests] == list(range(12, 0, -1))


def test_constructing_a_catalog_touches_nothing(lake: Lake) -> None:
    catalog = PyIcebergCatalog(
        "other", {"type": "sql", "uri": f"sqlite:///{lake.directory}/absent.db"}, StoppedClock()
    )
    assert catalog.name == "other"
    catalog.close()
    assert not (lake.directory / "absent.db").exists()


def test_rows_are_counted_at_any_snapshot_without_reading_data(lake: Lake) -> None:
    table = lake.make_table("sales", "orders", schema=ROWS)
    table.append(rows(10))
    table.append(rows(5))
    first, second = (snapshot.snapshot_id for snapshot in table.snapshots())
    assert lake.catalog.count_rows(identify("sales", "orders"), first, limit_bytes=0) == 10
    assert lake.catalog.count_rows(identify("sales", "orders"), second, limit_bytes=0) == 15
    assert lake.catalog.count_rows(identify("sales", "orders"), 4711, limit_bytes=0) is None


def test_a_table_that_is_answered_for_has_no_deletes_of_any_kind(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    table.append(rows(3))
    inventory = lake.catalog.inventory(identify("sales", "orders"), small_target, know_nothing)
    assert isinstance(inventory, TableInventory)
    assert [total(inventory, content) for content in Content if content is not Content.DATA] == [
        (0, 0, 0)
    ] * 3


def test_the_columns_are_read_with_their_types(lake: Lake) -> None:
    text = pa.string()
    fields = {
        "id": pa.int64(),
        "price": pa.decimal128(9, 2),
        "tags": pa.list_(text),
        "place": pa.struct({"city": text}),
        "more": pa.map_(text, text),
    }
    lake.make_table("ns", "typed", schema=pa.schema(fields))
    found = lake.read("ns", "typed")
    assert found.column_types == (
        (("id",), "long"),
        (("price",), "decimal(9, 2)"),
        (("tags",), "list"),
        (("place",), "struct"),
        (("place", "city"), "string"),
        (("more",), "map"),
    )
    assert found.columns == 3


def test_the_columns_of_a_wide_table_are_not_kept(lake: Lake) -> None:
    schema = pa.schema({f"c{number}": pa.int64() for number in range(501)})
    lake.make_table("ns", "wide", schema=schema)
    found = lake.read("ns", "wide")
    assert (found.columns, found.column_types) == (501, None)


def test_a_changed_sort_order_is_another_one(lake: Lake) -> None:
    table = lake.make_table("ns", "sorted")
    assert lake.read("ns", "sorted").sort_order == ""
    found = set()
    for column in table.schema().column_names[:2]:
        with table.update_sort_order() as update:
            update.asc(column, IdentityTransform())
        found.add(lake.read("ns", "sorted").sort_order)
    assert len(found) == 2
    assert "" not in found
