"""Reading some of what a snapshot added, on real files, and on files that somebody has broken."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.table import Table

from maintainer.adapters.catalog import canary
from maintainer.adapters.catalog.canary import MAX_FILES, read_canary
from maintainer.domain.effect import CanaryResult
from tests.adapters.catalog.lake import ROWS, Lake, identify, local_path, rows


def filled(lake: Lake, appends: int = 1) -> tuple[Table, list[int]]:
    table = lake.make_table("db", "t")
    for day in range(appends):
        table.append(rows(10, day=day + 1))
    return table, [snapshot.snapshot_id for snapshot in table.snapshots()]


def file_of(table: Table) -> Path:
    return local_path(next(iter(table.scan().plan_files())).file.file_path)


def read(lake: Lake, snapshot_ids: list[int]) -> CanaryResult:
    found = lake.catalog.read_canary(identify("db", "t"), snapshot_ids)
    assert found is not None
    return found


def test_what_is_as_its_manifest_says_is_read_without_a_word(lake: Lake) -> None:
    _, ids = filled(lake)
    assert read(lake, ids) == CanaryResult(1)


def test_guard_25_a_file_that_is_gone_is_named(lake: Lake) -> None:
    table, ids = filled(lake)
    file = file_of(table)
    file.unlink()
    found = read(lake, ids)
    assert (found.files_read, found.unread) == (0, ())
    assert found.problems == (f"file://{file} does not exist",)


def test_a_file_that_a_failure_names_is_older_if_another_snapshot_added_it(lake: Lake) -> None:
    table, ids = filled(lake, appends=2)
    paths = {
        entry["snapshot_id"]: entry["data_file"]["file_path"]
        for entry in table.inspect.entries().to_pylist()
    }
    older, newer = (paths[snapshot_id] for snapshot_id in ids)

    def find(failure: str) -> tuple[str, ...]:
        found = lake.catalog.read_canary(identify("db", "t"), ids[1:], failure)
        assert found is not None
        return found.older

    assert find(f"NotFoundException: {local_path(older)} (No such file)") == (older,)
    assert find(f"NotFoundException: {newer}") == ()
    assert find("NotFoundException: metadata/7-m0.avro") == ()


@pytest.mark.parametrize("root", ["file:/lake", "file:///lake", "/lake", "hdfs:/lake", "s3://lake"])
def test_a_failure_that_names_another_file_clears_no_job(root: str) -> None:
    older, own = f"{root}/t/a.parquet", f"{root}/t/b.parquet"
    entries = [
        SimpleNamespace(snapshot_id=number, data_file=SimpleNamespace(file_path=path))
        for number, path in ((1, older), (2, own))
    ]
    manifest = SimpleNamespace(fetch_manifest_entry=lambda _: entries)
    current = SimpleNamespace(manifests=lambda _: [manifest])
    table = cast("Table", SimpleNamespace(io=None, current_snapshot=lambda: current))

    def find(failure: str) -> tuple[str, ...]:
        return canary._find_older(table, [2], failure)

    assert find(f"File does not exist: {older}.") == (older,)
    assert find(f"File does not exist: {own}") == ()
    assert find("an error without a name") == ()
    assert find(f"Neither {older} nor {own} exists") == (), "one of them is the job's"
    assert find(f"File does not exist: {older}.crc") == (), "another file"


def test_a_manifest_that_cannot_be_read_clears_no_job_and_hides_no_problem(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, ids = filled(lake)
    file_of(table).unlink()

    def fail(*_: object) -> None:
        raise OSError("no manifest")

    monkeypatch.setattr(canary, "_find_older", fail)
    found = lake.catalog.read_canary(identify("db", "t"), ids, "NotFoundException: x.parquet")
    assert found is not None
    assert (len(found.problems), found.older) == (1, ())
    assert found.unread == ("the table's manifests: OSError: no manifest",)


def test_guard_25_another_file_in_its_place_is_named(lake: Lake) -> None:
    table, ids = filled(lake)
    file = file_of(table)
    pq.write_table(rows(11), file)
    assert " bytes, and its manifest says " in read(lake, ids).problems[0]


def test_a_file_that_holds_other_rows_than_its_manifest_says_is_named(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, ids = filled(lake)
    monkeypatch.setattr(canary, "_read_parquet", lambda *_: 9)
    assert read(lake, ids).problems == (
        f"file://{file_of(table)} has 9 rows, and its manifest says 10",
    )


@pytest.mark.parametrize("spoil_from", [0, 4])
def test_a_file_that_is_no_parquet_any_more_is_named(lake: Lake, spoil_from: int) -> None:
    """At once, or behind a footer that still reads well."""
    table, ids = filled(lake)
    file = file_of(table)
    raw = file.read_bytes()
    spoilt = len(raw) // 2 if spoil_from else len(raw)
    file.write_bytes(raw[:spoil_from] + b"\xff" * (spoilt - spoil_from) + raw[spoilt:])
    found = read(lake, ids)
    assert (found.files_read, len(found.problems) + len(found.unread)) == (0, 1)
    assert "cannot be read as PARQUET" in found.problems[0]


def test_a_file_whose_columns_are_none_of_the_tables_is_named(lake: Lake) -> None:
    table = lake.make_table("db", "t")
    path = lake.directory / "foreign.parquet"
    foreign = ROWS.set(0, pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "77"}))
    pq.write_table(rows(10).cast(foreign), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "pyiceberg.io.pyarrow._check_pyarrow_schema_compatible", lambda *_, **__: None
        )
        patch.setattr("pyiceberg.io.pyarrow.visit_pyarrow", lambda *_: None)
        table.add_files([f"file://{path}"], check_duplicate_files=False)
    found = read(lake, [snapshot.snapshot_id for snapshot in table.snapshots()])
    assert found.problems == (
        f"file://{path} has a column 'id' with field id 77, which is none of the table's",
    )


def test_only_a_few_files_of_many_are_read(lake: Lake) -> None:
    table = lake.make_table("db", "t", **{"write.target-file-size-bytes": "1"})
    with table.transaction() as transaction:
        for day in range(25):
            transaction.append(rows(3, day=day + 1))
    ids = [snapshot.snapshot_id for snapshot in lake.writer.load_table(("db", "t")).snapshots()]
    assert 1 <= read(lake, ids).files_read <= MAX_FILES


def test_a_snapshot_that_is_gone_has_nothing_to_read(lake: Lake) -> None:
    table, _ = filled(lake)
    assert read_canary(table, [12345]) == CanaryResult(0)


def test_what_cannot_be_looked_at_proves_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, ids = filled(lake)

    def refuse(*_: object) -> int:
        message = "the storage does not answer"
        raise OSError(message)

    monkeypatch.setattr(canary, "_count_in_memory", refuse)
    found = read(lake, ids)
    assert (found.files_read, found.problems) == (0, ())
    assert found.unread[0].endswith("OSError: the storage does not answer")
    assert lake.catalog.read_canary(identify("db", "none"), ids) is None
