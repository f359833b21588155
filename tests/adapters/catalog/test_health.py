"""Health of real and of extreme tables, held against counts that others made."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import fastavro
import pyarrow as pa

from maintainer.measure.health import measure
from tests.adapters.catalog.lake import NOW, Lake, local_path, rows

WIDTH = 200
HISTORY = 10_000


def test_what_is_kept_equals_pyicebergs_inspection_of_every_snapshot(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    for day in range(1, 5):
        table.append(rows(5, day))
    table.delete("id < 3")
    table.overwrite(rows(7))
    health = measure(lake.read("sales", "orders"))
    assert health.kept_data_files == len(
        {file["file_path"] for file in table.inspect.all_data_files().to_pylist()}
    )
    assert health.data_files == len(table.inspect.files())
    assert health.live_file_ratio == len(table.inspect.files()) / len(
        set(table.inspect.all_data_files()["file_path"].to_pylist())
    )
    assert health.snapshots == len(table.inspect.snapshots())
    assert [hold.name for hold in health.ref_retention] == table.inspect.refs()["name"].to_pylist()
    assert health.manifests == len(table.inspect.manifests())
    assert health.metadata_files == len(
        list(local_path(table.metadata_location).parent.glob("*.metadata.json"))
    )
    assert health.disagreements == ()
    listed = lake.read("sales", "orders").listed_files
    assert listed == len(table.inspect.files())


def test_a_manifest_list_that_miscounts_is_a_disagreement(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    table.append(rows(5))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    path = local_path(snapshot.manifest_list)
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        schema, metadata = reader.writer_schema, reader.metadata
        records: list[Any] = list(reader)
    records[0]["added_files_count"] = 5
    kept = {key: value for key, value in metadata.items() if not key.startswith("avro.")}
    with path.open("wb") as file:
        fastavro.writer(file, schema, records, metadata=kept)
    found = measure(lake.read("sales", "orders")).disagreements
    assert [(one.source, one.claimed, one.counted) for one in found] == [("manifest list", 5, 1)]


def test_a_summary_that_another_engine_wrote_wrongly_is_a_disagreement_and_no_more(
    lake: Lake,
) -> None:
    table = lake.make_table("sales", "orders")
    table.append(rows(5))
    rewrite(
        lake,
        table.metadata_location,
        lambda document: document["snapshots"][0]["summary"].update({"total-data-files": "12"}),
    )
    health = measure(lake.read("sales", "orders"))
    assert health.data_files == 1
    assert [(found.figure, found.claimed, found.counted) for found in health.disagreements] == [
        ("data files", 12, 1)
    ]


def rewrite(lake: Lake, metadata_location: str, change: Any) -> None:
    path = local_path(metadata_location)
    document = json.loads(path.read_bytes())
    change(document)
    changed = path.with_name("99999-changed.metadata.json")
    changed.write_text(json.dumps(document))
    lake.point_to(f"file://{changed}", "orders")


def test_ten_thousand_snapshots_are_counted_dated_and_rated(lake: Lake) -> None:
    table = lake.make_table("sales", "orders")
    table.append(rows(5))
    now = int(NOW.timestamp() * 1000)

    def lengthen(document: dict[str, Any]) -> None:
        last = document["snapshots"][0]
        files, records = last["summary"]["total-data-files"], last["summary"]["total-records"]
        counts = {
            "operation": "append",
            "total-data-files": files,
            "total-records": records,
            "engine-name": "spark",
        }
        minutes = range(HISTORY - 1, 0, -1)
        earlier = [
            {
                "snapshot-id": 10**6 + n,
                "sequence-number": n,
                "timestamp-ms": now - 60_000 * age,
                "manifest-list": "gone",
                "summary": counts,
            }
            | ({"parent-snapshot-id": 10**6 + n - 1} if n else {})
            for n, age in enumerate(minutes)
        ]
        last |= {
            "parent-snapshot-id": earlier[-1]["snapshot-id"],
            "timestamp-ms": now,
            "sequence-number": HISTORY,
        }
        last["summary"] = counts
        document["snapshots"] = [*earlier, last]

    rewrite(lake, table.metadata_location, lengthen)
    health = measure(lake.read("sales", "orders"))
    assert (health.snapshots, len(health.history)) == (HISTORY, HISTORY)
    assert health.oldest_snapshot_at == datetime.fromtimestamp(now / 1000, UTC) - timedelta(
        minutes=HISTORY - 1
    )
    assert (health.data_files, health.kept_data_files) == (1, 1)
    assert health.commits_per_hour is not None
    assert round(health.commits_per_hour) == 60
    assert [writer.writer for writer in health.writers] == ["spark"]
    assert health.growth_records_per_day == 0.0


def test_a_manifest_of_two_hundred_columns_is_read_like_any(lake: Lake) -> None:
    columns = {f"c{n}": [1, 2, 3] for n in range(WIDTH)}
    table = lake.make_table(
        "sales", "orders", schema=pa.schema([(name, pa.int64()) for name in columns])
    )
    table.append(pa.table(columns))
    health = measure(lake.read("sales", "orders"))
    files = table.inspect.files().to_pylist()
    assert (health.data_files, health.records) == (1, 3)
    assert health.data_bytes == sum(file["file_size_in_bytes"] for file in files)


def test_a_manifest_list_that_is_cut_short_is_unreadable_with_its_reason_and_nothing_is_guessed(
    lake: Lake,
) -> None:
    table = lake.make_table("sales", "orders")
    for day in range(1, 4):
        table.append(rows(5, day))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    path = local_path(snapshot.manifest_list)
    path.write_bytes(path.read_bytes()[:-40])
    health = measure(lake.read("sales", "orders"))
    assert [(piece.path, bool(piece.reason)) for piece in health.unreadable] == [
        (snapshot.manifest_list, True)
    ]
    assert (
        health.data_files,
        health.manifest_excess,
        health.storage_files,
        health.disagreements,
    ) == (None, None, None, ())
    assert health.snapshots == 3


def test_an_empty_table_has_no_rates_and_nothing_kept(lake: Lake) -> None:
    lake.make_table("sales", "orders")
    health = measure(lake.read("sales", "orders"))
    assert (
        health.data_files,
        health.kept_data_files,
        health.live_file_ratio,
        health.commits_per_hour,
    ) == (0, 0, None, None)
