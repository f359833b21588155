"""The ids of rewritten rows, in metadata, files and manifests that somebody has doctored."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import ManifestContent

from maintainer.adapters.catalog import canary
from maintainer.adapters.catalog.canary import (
    ROW_ID_FIELD,
    find_first_new_id,
    find_lost_ids,
    find_unnumbered,
)
from maintainer.domain.effect import CanaryResult
from tests.adapters.catalog.lake import Lake, identify, local_path, rows

FIRST_NEW_ID = 100
EXISTING, ADDED = 0, 1


def parquet(ids: list[int | None] | None, path: Path, field_id: int = ROW_ID_FIELD) -> Path:
    """A file of one column beside its row ids, three rows in a row group."""
    fields = [pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})]
    values: list[list[int | None]] = [[0] * (1 if ids is None else len(ids))]
    if ids is not None:
        fields.append(pa.field("_row_id", pa.int64(), metadata={"PARQUET:field_id": str(field_id)}))
        values.append(ids)
    table = pa.table([pa.array(one, pa.int64()) for one in values], schema=pa.schema(fields))
    pq.write_table(table, path, row_group_size=3)
    return path


@pytest.mark.parametrize(
    ("ids", "lost"),
    [
        ([0, 99, 5, 7], None),
        ([], None),
        (None, "has no row ids (_row_id), so that its rows get new ids"),
        ([1, 2, 3, None], "has 1 rows without a row id, so that they get new ids"),
        ([1, 2, 3, 100], "has row id 100, but its rows had ids below 100"),
    ],
)
def test_guard_25_the_footer_shows_whether_rewritten_rows_kept_their_ids(
    ids: list[int | None] | None, lost: str | None, tmp_path: Path
) -> None:
    file = pq.ParquetFile(parquet(ids, tmp_path / "file.parquet"))
    assert find_lost_ids(file, FIRST_NEW_ID) == lost


def test_a_column_of_that_name_and_another_number_holds_no_row_ids(tmp_path: Path) -> None:
    file = pq.ParquetFile(parquet([1, 2], tmp_path / "file.parquet", field_id=7))
    assert str(find_lost_ids(file, FIRST_NEW_ID)).startswith("has no row ids")


def manifest(
    path: Path,
    *entries: tuple[int, int | None],
    content: ManifestContent = ManifestContent.DATA,
) -> Any:
    """A manifest of (status, first row id), as far as row ids need it."""
    file_fields = [
        {"name": "file_path", "type": "string", "field-id": 100},
        {"name": "first_row_id", "type": ["null", "long"], "default": None, "field-id": 142},
    ]
    data_file = {"type": "record", "name": "r2", "fields": file_fields}
    schema = {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            {"name": "status", "type": "int", "field-id": 0},
            {"name": "data_file", "type": data_file, "field-id": 2},
        ],
    }
    records = [
        {"status": status, "data_file": {"file_path": f"f{number}", "first_row_id": first}}
        for number, (status, first) in enumerate(entries)
    ]
    with path.open("wb") as file:
        fastavro.writer(file, schema, records)
    return SimpleNamespace(manifest_path=f"file://{path}", content=content)


def test_guard_25_a_manifest_that_lists_a_file_again_keeps_its_first_row_id(tmp_path: Path) -> None:
    kept = manifest(tmp_path / "kept.avro", (EXISTING, 0), (EXISTING, 99), (ADDED, None))
    deletes = manifest(tmp_path / "deletes.avro", (EXISTING, None), content=ManifestContent.DELETES)
    assert list(find_unnumbered(PyArrowFileIO(), [deletes, kept], FIRST_NEW_ID)) == []
    lost = manifest(tmp_path / "lost.avro", (EXISTING, 0), (EXISTING, None), (EXISTING, None))
    moved = manifest(tmp_path / "moved.avro", (EXISTING, 100))
    assert list(find_unnumbered(PyArrowFileIO(), [lost, moved], FIRST_NEW_ID)) == [
        f"manifest file://{tmp_path}/{listed}, but its rows had ids below 100"
        for listed in (
            "lost.avro lists f1 with no first row id",
            "moved.avro lists f0 with first row id 100",
        )
    ]


def doctor(lake: Lake, operation: str = "replace", parent_first: int | None = 0) -> list[int]:
    """Make two appends look like an append and a rewrite of format version 3."""
    table = lake.make_table("db", "t")
    table.append(rows(10))
    table.append(rows(10))
    path = local_path(table.metadata_location)
    document = json.loads(path.read_text())
    first, second = document["snapshots"]
    document |= {"format-version": 3, "next-row-id": 20}
    if parent_first is not None:
        first |= {"first-row-id": parent_first, "added-rows": 10}
    second |= {"first-row-id": 10, "added-rows": 10}
    second["summary"]["operation"] = operation
    doctored = path.with_name("doctored.metadata.json")
    doctored.write_text(json.dumps(document))
    lake.point_to(f"file://{doctored}", "t")
    return [first["snapshot-id"], second["snapshot-id"]]


def read(lake: Lake, snapshot_ids: list[int]) -> CanaryResult:
    found = lake.catalog.read_canary(identify("db", "t"), snapshot_ids)
    assert found is not None
    return found


def test_guard_25_a_rewritten_file_without_row_ids_is_named(lake: Lake) -> None:
    _, second = doctor(lake)
    found = read(lake, [second])
    assert found.unread == ()
    (problem,) = found.problems
    assert problem.endswith(".parquet has no row ids (_row_id), so that its rows get new ids")


@pytest.mark.parametrize("doctoring", [("append", 0), ("replace", None)])
def test_rows_that_are_new_or_had_no_ids_need_none(
    lake: Lake, doctoring: tuple[str, int | None]
) -> None:
    ids = doctor(lake, *doctoring)
    assert read(lake, ids) == CanaryResult(2)


def test_a_job_that_began_before_the_rows_had_ids_needs_none(lake: Lake) -> None:
    """A writer may make the first commit of format version 3 while the job runs."""
    _, second = doctor(lake)
    found = lake.catalog.read_canary(identify("db", "t"), [second], had_row_ids=False)
    assert found == CanaryResult(1)


def test_a_manifest_that_cannot_be_read_again_proves_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, second = doctor(lake)

    def refuse(*_: object) -> None:
        message = "the storage does not answer"
        raise OSError(message)

    monkeypatch.setattr(canary, "_list_again", refuse)
    assert read(lake, [second]).unread == (
        "the manifests' row ids: OSError: the storage does not answer",
    )


def test_without_the_snapshot_before_it_is_not_known_which_rows_had_ids(lake: Lake) -> None:
    first, second = doctor(lake)
    table = lake.writer.load_table(("db", "t"))
    assert find_first_new_id(table, second) == 10
    assert find_first_new_id(table, first) is None
    assert find_first_new_id(table, 12345) is None


def test_a_table_of_format_version_3_has_its_row_ids_in_the_inventory(lake: Lake) -> None:
    doctor(lake)
    inventory = lake.read("db", "t")
    assert inventory.next_row_id == 20
    assert [(one.first_row_id, one.added_rows) for one in inventory.snapshots] == [
        (0, 10),
        (10, 10),
    ]
