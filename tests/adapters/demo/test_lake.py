from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from maintainer.adapters.demo import build_lake, lake_is_complete, rows
from maintainer.adapters.demo.spark import (
    ACCOUNT_BATCHES,
    ACCOUNTS,
    BALANCE_BATCHES,
    CHANGES_PER_BATCH,
    SparkLaunch,
)
from tests.adapters.demo.conftest import BuiltLake
from tests.lake_contents import (
    Contents,
    Files,
    contents,
    list_files,
    list_tables,
    read_rows,
    summarize,
)

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(900),
]  # the build comes first, on a machine that may be busy

# Rows and checksums as first built; they hold on every machine and every day.
EXPECTED = {
    "lake.archive.sensor_daily": Contents(5760, "c39c699f53e294f6"),
    "lake.cdc.accounts": Contents(6576, "0e7e991252264cad"),
    "lake.cdc.balances": Contents(6174, "299f2ac11f4a626f"),
    "lake.logs.gateway.access log": Contents(2400, "b26a09527d8e461c"),
    "lake.logs.raw_requests": Contents(16_000, "3337bebdfea3b341"),
    "lake.reference.exchange_rates": Contents(380, "a9f3c587f6614842"),
    "lake.sales.orders": Contents(180_000, "8f3b8579749bd00f"),
    "lake.streaming.page_views": Contents(57_259, "2ae6a50f2b08ecfb"),
    "lake.warehouse.events_by_day": Contents(144_000, "dd955cc06ee74b41"),
}
# data files, delete files, manifests, snapshots
LAYOUT = {
    "lake.archive.sensor_daily": (240, 0, 4, 4),
    "lake.cdc.accounts": (100, 96, 49, 25),
    "lake.cdc.balances": (44, 40, 14, 11),
    "lake.logs.gateway.access log": (80, 0, 8, 8),
    "lake.logs.raw_requests": (400, 0, 20, 20),
    "lake.reference.exchange_rates": (1, 0, 2, 280),
    "lake.sales.orders": (12, 0, 3, 3),
    "lake.streaming.page_views": (1631, 0, 48, 48),
    "lake.warehouse.events_by_day": (300, 0, 300, 12),
}


def metadata_of(built: BuiltLake, table: str) -> dict[str, Any]:
    path = next(path for name, _, _, path in list_tables(built.directory) if name == table)
    metadata: dict[str, Any] = json.loads(path.read_text())
    return metadata


def files_of(built: BuiltLake, table: str) -> Files:
    return list_files(
        next(path for name, _, _, path in list_tables(built.directory) if name == table)
    )


def files_by_partition(files: Files) -> Counter[str]:
    return Counter(str(sorted(file["partition"].items())) for file in files.data)


def sizes(files: Files) -> list[int]:
    return [file["file_size_in_bytes"] for file in files.data]


def committed_at(metadata: dict[str, Any]) -> list[datetime]:
    return [
        datetime.fromtimestamp(snapshot["timestamp-ms"] / 1000, UTC)
        for snapshot in metadata["snapshots"]
    ]


def merge_by_hand(batches: int) -> Contents:
    """The accounts after the batches, by a dictionary in the place of MERGE INTO."""
    accounts = {row[2]: row[2:] for row in rows.initial_accounts(ACCOUNTS)}
    for batch in range(1, batches + 1):
        for row in rows.account_changes(batch, CHANGES_PER_BATCH, ACCOUNTS):
            if row[1] == "D":
                accounts.pop(row[2], None)
            else:
                accounts[row[2]] = row[2:]
    columns = ("account_id", "region", "state", "balance", "changed_at")
    types = (
        pa.int64(),
        pa.string(),
        pa.string(),
        pa.decimal128(12, 2),
        pa.timestamp("us", tz="UTC"),
    )
    values = zip(*accounts.values(), strict=True)
    return summarize(
        pa.table(
            {
                name: pa.array(value, kind)
                for name, kind, value in zip(columns, types, values, strict=True)
            }
        )
    )


def test_both_readers_find_the_rows_that_every_build_has(built: BuiltLake) -> None:
    assert contents(built.directory) == EXPECTED


def test_spark_reads_the_same_number_of_rows(by_spark: Mapping[str, Any]) -> None:
    assert {name: found["rows"] for name, found in by_spark.items()} == {
        name: expected.rows for name, expected in EXPECTED.items()
    }


@pytest.mark.parametrize(
    ("table", "batches"),
    [("lake.cdc.accounts", ACCOUNT_BATCHES), ("lake.cdc.balances", BALANCE_BATCHES)],
)
def test_merge_into_left_what_the_changes_say(built: BuiltLake, table: str, batches: int) -> None:
    by_duckdb = summarize(read_rows(files_of(built, table)))
    assert merge_by_hand(batches) == EXPECTED[table] == by_duckdb


def test_every_table_has_the_files_manifests_and_snapshots_of_its_trouble(built: BuiltLake) -> None:
    found = {name: list_files(path) for name, _, _, path in list_tables(built.directory)}
    assert {
        name: (len(files.data), len(files.deletes), files.manifests, files.snapshots)
        for name, files in found.items()
    } == LAYOUT


def test_every_listed_file_exists_with_the_listed_size(built: BuiltLake) -> None:
    for _, _, _, path in list_tables(built.directory):
        files = list_files(path)
        for file in (*files.data, *files.deletes):
            assert (
                Path("/" + file["file_path"].removeprefix("file:").lstrip("/")).stat().st_size
                == file["file_size_in_bytes"]
            )


def test_snapshot_summaries_agree_with_the_manifests(built: BuiltLake) -> None:
    for _, _, _, path in list_tables(built.directory):
        metadata = json.loads(path.read_text())
        summary = next(
            snapshot["summary"]
            for snapshot in metadata["snapshots"]
            if snapshot["snapshot-id"] == metadata["current-snapshot-id"]
        )
        files = list_files(path)
        assert int(summary["total-data-files"]) == len(files.data)
        assert int(summary["total-records"]) == sum(file["record_count"] for file in files.data)
        assert int(summary["total-files-size"]) == sum(
            file.get("content_size_in_bytes") or file["file_size_in_bytes"]
            for file in (*files.data, *files.deletes)
        )


def test_the_stream_has_dozens_of_tiny_files_in_every_hour(built: BuiltLake) -> None:
    files = files_of(built, "lake.streaming.page_views")
    counts = files_by_partition(files)
    assert len(counts) == 48
    assert min(counts.values()) >= 33
    assert max(sizes(files)) < 16 * 1024


def test_the_changed_tables_have_position_deletes_and_deletion_vectors(built: BuiltLake) -> None:
    assert {file["file_format"] for file in files_of(built, "lake.cdc.accounts").deletes} == {
        "PARQUET"
    }
    assert {file["file_format"] for file in files_of(built, "lake.cdc.balances").deletes} == {
        "PUFFIN"
    }
    assert metadata_of(built, "lake.cdc.accounts")["format-version"] == 2
    assert metadata_of(built, "lake.cdc.balances")["format-version"] == 3


@pytest.mark.parametrize("table", ["lake.warehouse.events_by_day", "lake.sales.orders"])
def test_healthy_files_are_one_to_a_partition_and_near_their_target(
    built: BuiltLake, table: str
) -> None:
    files = files_of(built, table)
    target = int(metadata_of(built, table)["properties"]["write.target-file-size-bytes"])
    assert set(files_by_partition(files).values()) == {1}
    assert min(sizes(files)) >= 0.75 * target
    assert max(sizes(files)) <= 1.8 * target


def test_the_archive_has_exactly_four_small_files_in_each_of_many_partitions(
    built: BuiltLake,
) -> None:
    files = files_of(built, "lake.archive.sensor_daily")
    counts = files_by_partition(files)
    assert len(counts) == 60
    assert set(counts.values()) == {4}
    assert max(sizes(files)) < 16 * 1024


def test_the_request_log_is_unpartitioned_orc(built: BuiltLake) -> None:
    files = files_of(built, "lake.logs.raw_requests")
    assert {file["file_format"] for file in files.data} == {"ORC"}
    assert metadata_of(built, "lake.logs.raw_requests")["partition-specs"][0]["fields"] == []


def test_the_exchange_rates_have_a_long_past_that_expiry_may_end(built: BuiltLake) -> None:
    times = committed_at(metadata_of(built, "lake.reference.exchange_rates"))
    assert sum(time < datetime.now(UTC) - timedelta(days=5) for time in times) > 200
    assert times[0] == built.midnight - timedelta(days=70)
    assert times[-1] == built.midnight - timedelta(hours=6)


def test_histories_run_forward_and_never_into_the_future(built: BuiltLake) -> None:
    for name, _, _, path in list_tables(built.directory):
        metadata = json.loads(path.read_text())
        times = committed_at(metadata)
        logs = [entry["timestamp-ms"] for entry in metadata["metadata-log"]]
        assert times == sorted(times), name
        assert times[-1] <= datetime.now(UTC), name
        assert logs == sorted(logs), name
        assert metadata["last-updated-ms"] >= max([*logs, int(times[-1].timestamp() * 1000)]), name


def test_no_partition_or_path_of_the_lake_depends_on_the_day_of_the_build(built: BuiltLake) -> None:
    paths = [file["file_path"] for file in files_of(built, "lake.streaming.page_views").data]
    assert not [
        path
        for path in paths
        if not re.search(r"/data/hour=\d{3}/writer-\d{3}(-late)?\.parquet$", path)
    ]


def test_a_second_build_uses_the_lake_as_it_is(built: BuiltLake) -> None:
    before = {path: path.stat().st_mtime_ns for path in built.directory.rglob("*")}
    report = build_lake(
        built.directory,
        lambda _text: None,
        SparkLaunch("/nonexistent", "/nonexistent", ()),
        datetime.now(UTC),
    )
    assert not report.was_built
    assert lake_is_complete(built.directory)
    assert {path: path.stat().st_mtime_ns for path in built.directory.rglob("*")} == before


def test_the_build_says_what_it_made_and_leaves_nothing_of_its_own_work_behind(
    built: BuiltLake,
) -> None:
    assert len(built.said) == len(EXPECTED)
    assert {line.split(":")[0] for line in built.said} == {
        name.removeprefix("lake.") for name in EXPECTED
    }
    assert not (built.directory / "staging").exists()
