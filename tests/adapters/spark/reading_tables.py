"""Tables of every kind whose manifests are to be read twice, made by the Spark of a runner and
stretched by hand where Spark cannot make them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyiceberg.table import Table

from maintainer.adapters.spark import jobs
from maintainer.adapters.spark.local import LocalRunner
from maintainer.adapters.spark.statements.job import Statements
from maintainer.domain.identifier import TableIdentifier
from tests.adapters.spark.lakes import Lake, job_on, outcome_of
from tests.end_to_end.extreme_lake import change_entries, local_path, read_avro, write_avro

NAMESPACE = "readings"
STATEMENTS = """
create namespace if not exists lake.readings
create table lake.readings.flat (id bigint, word string) using iceberg tblproperties \
('format-version' = '2', 'write.delete.mode' = 'merge-on-read')
insert into lake.readings.flat select id, 'w' from range(0, 300, 1, 3)
insert into lake.readings.flat select id, 'w' from range(300, 310, 1, 1)
delete from lake.readings.flat where id >= 300
create table lake.readings.types (i int, l bigint, f float, d double, b boolean, s string, bin \
binary, dt date, ts timestamp, \
tz timestamp_ntz, dec decimal(9,2), big decimal(38,10), `we ird` string) using iceberg \
partitioned by (i, l, f, d, b, s, bin, dt, ts, tz, dec, big, `we ird`, bucket(4, s), truncate(2, \
s), truncate(100, l), truncate(2, dec)) \
tblproperties ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')
insert into lake.readings.types select 1, -5, cast(1.1 as float), 2.5D, true, 'a/b=null', \
X'00ff3d', date '2026-01-02', \
timestamp '2026-01-02 03:04:05.123456', timestamp_ntz '1969-12-31 23:59:59.5', cast(-1.50 as \
decimal(9,2)), cast(0.0000000001BD as decimal(38,10)), 'x'
insert into lake.readings.types select null, null, null, null, null, null, null, null, null, \
null, null, null, null
insert into lake.readings.types select 2, 9, cast('NaN' as float), double('-Infinity'), false, \
'null', X'', date '0001-01-01', \
timestamp '9999-12-31 20:59:59', timestamp_ntz '2026-01-01 00:00:00', \
cast(100000 as decimal(9,2)), \
cast(1234567890123456789012345678.0000000001BD as decimal(38,10)), 'ü'
create table lake.readings.evolved (id bigint, ts timestamp, region string) using iceberg \
partitioned by (days(ts)) \
tblproperties ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')
insert into lake.readings.evolved values (1, timestamp '2026-01-02 03:04:05', 'a')
alter table lake.readings.evolved add partition field region
insert into lake.readings.evolved values (2, timestamp '2026-01-03 03:04:05', 'b'), (3, null, null)
alter table lake.readings.evolved replace partition field ts_day with hours(ts) as h
insert into lake.readings.evolved values (4, timestamp '2026-01-03 03:04:05', 'b'), (5, timestamp \
'2026-01-03 03:04:05', 'b')
alter table lake.readings.evolved drop partition field h
alter table lake.readings.evolved add partition field months(ts) as month_of_it
insert into lake.readings.evolved values (6, timestamp '2026-02-03 03:04:05', 'c'), (7, timestamp \
'2026-02-03 03:04:05', 'c')
delete from lake.readings.evolved where id in (4, 6)
create table lake.readings.dropped (id bigint, day date, region string) using iceberg partitioned \
by (day, region) tblproperties ('format-version' = '1')
insert into lake.readings.dropped values (1, date '2026-01-01', 'a')
alter table lake.readings.dropped drop partition field day
insert into lake.readings.dropped values (2, date '2026-01-01', 'a')
create table lake.readings.orphaned (id bigint, day date) using iceberg partitioned by (day) \
tblproperties ('format-version' = '2')
insert into lake.readings.orphaned values (1, date '2026-01-01')
alter table lake.readings.orphaned drop partition field day
insert into lake.readings.orphaned values (2, date '2026-01-01')
alter table lake.readings.orphaned drop column day
create table lake.readings.positions (id bigint, part int) using iceberg partitioned by (part) \
tblproperties ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', \
'write.delete.granularity' = 'partition')
insert into lake.readings.positions select id, int(id % 3) from range(0, 600, 1, 3)
insert into lake.readings.positions select id, int(id % 3) from range(600, 900, 1, 2)
delete from lake.readings.positions where id % 7 = 0
delete from lake.readings.positions where id = 11
create table lake.readings.vectors (id bigint, part int) using iceberg partitioned by (part) \
tblproperties ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')
insert into lake.readings.vectors select id, int(id % 3) from range(0, 600, 1, 3)
delete from lake.readings.vectors where id % 7 = 0
delete from lake.readings.vectors where id % 11 = 0
create table lake.readings.branched (id bigint, part int) using iceberg partitioned by \
(truncate(10, part)) \
tblproperties ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')
insert into lake.readings.branched select id, int(id) from range(0, 30, 1, 1)
alter table lake.readings.branched create branch other
insert into lake.readings.branched.branch_other select id, int(id) from range(30, 60, 1, 1)
insert into lake.readings.branched select id, int(id) from range(60, 90, 1, 1)
"""
TABLES = (
    "flat",
    "types",
    "evolved",
    "dropped",
    "positions",
    "vectors",
    "branched",
    "equalities",
    "many",
)
MANY = 5_000


def make_all(runner: LocalRunner, lake: Lake) -> None:
    """All of TABLES."""
    run_statements(runner, STATEMENTS.strip().splitlines())
    make_equalities(lake)
    make_many(lake)


def run_statements(runner: LocalRunner, statements: list[str]) -> None:
    """Let the runner's Spark run statements of ours."""
    job = job_on(
        TableIdentifier("lake", (NAMESPACE,), "none"), f"make-{abs(hash(tuple(statements)))}"
    )
    with statements_of_job(statements):
        runner.submit(job)
    outcome = outcome_of(runner, job)
    assert outcome.kind == "finished", outcome


@contextmanager
def statements_of_job(statements: list[str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            jobs,
            "statements_of",
            lambda _job, _listed: Statements(tuple(statements), len(statements) - 1),
        )
        yield


def make_equalities(lake: Lake) -> None:
    """Neither Spark nor PyIceberg writes equality deletes: Flink's stand here as a manifest of
    position deletes that says otherwise.
    """
    table = lake.load(lake.create("equalities", NAMESPACE, files=6, partitions=3))
    add_deletes(
        table,
        lambda entry: (
            entry
            | {
                "data_file": entry["data_file"]
                | {"content": 2, "equality_ids": [1], "file_path": "gone.parquet"}
            }
        ),
    )


def add_deletes(table: Table, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """A manifest of deletes beside the table's own: its first data file, changed."""
    list_path = local_path(_current_list(table))
    list_header, rows = read_avro(list_path)
    manifest = local_path(rows[0]["manifest_path"])
    header, entries = read_avro(manifest)
    path = manifest.with_name(f"deletes-{manifest.name}")
    write_avro(path, header | {"content": "deletes"}, [change(entries[0])])
    added = rows[0] | {
        "manifest_path": f"file://{path}",
        "manifest_length": path.stat().st_size,
        "content": 1,
        "added_files_count": 1,
    }
    write_avro(list_path, list_header, [*rows, added])


def make_many(lake: Lake) -> None:
    """Thousands of files of many sizes, in few partitions and two formats, some of them deleted, in
    manifests that interleave all of it.
    """
    table = lake.load(lake.create("many", NAMESPACE, files=1, partitions=2))

    def spread(entry: dict[str, Any], number: int) -> dict[str, Any]:
        file = entry["data_file"]
        changes = {
            "file_path": f"{file['file_path']}-{number}",
            "file_format": "ORC" if number % 5 == 0 else "PARQUET",
            "partition": {"part": None if number % 97 == 0 else number % 3},
            "file_size_in_bytes": 1 + number * 7_919 * 4_099 % (1 << 31),
            "record_count": 1 + number % 13,
        }
        return entry | {"status": 2 if number % 11 == 0 else 1, "data_file": file | changes}

    change_entries(
        table, lambda entry: [spread(entry, number) for number in range(MANY)], manifests=3
    )


def _current_list(table: Table) -> str:
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return snapshot.manifest_list
