"""The store's answers at 1,000, 10,000 and 100,000 tables, and what it takes on disk (SQLite).

Times are CPU times of this process, in which SQLite does its work: on a machine that is shared, wall times measure the others. The peer of each line is the
store itself with a hundredth of the tables: 1 is flat, and 0.67 is the fastest growth that is allowed. File counts are drawn from a heavy-tailed
(lognormal) distribution, cut at 5 million a table: 100,000 tables stand for about a billion files.
"""

from __future__ import annotations

import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

from sqlalchemy import func, insert, select

from maintainer.adapters.store import documents, fleet, open_store, samples
from maintainer.adapters.store.counters import recount
from maintainer.adapters.store.schema import health_samples, manifest_digests, table_health, tables
from maintainer.adapters.store.sql import SqlStore
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import Content, ManifestContent, ManifestDigest, PartitionDigest
from maintainer.ports.store import TABLE_SORTS, TableQuery
from tests.benchmarks.harness import Measured, less_is_better

FLAT: Final = 1 / 1.5
SIZES: Final = (1_000, 10_000, 100_000)
REPEATS: Final = 40
FEW: Final = 20  # rows of a page that every size of fleet can fill, whatever it is filtered by
DEEP_PAGES: Final = 5
FILES_PER_MANIFEST: Final = 8_000
PARTITIONS_PER_MANIFEST: Final = 30
DIGESTED_FILES: Final = 1_000_000
_AT: Final = datetime(2026, 5, 4, tzinfo=UTC)
_BATCH: Final = 2_000
_MIB: Final = 1024**2
_BANDS: Final = (*(Band.HEALTHY,) * 12, *(Band.WATCH,) * 5, *(Band.DEGRADED,) * 2, Band.CRITICAL)

Rows = dict[str, Any]


def run(scale: float) -> list[Measured]:
    """The same questions at each size, and the sizes of the files."""
    sizes = [max(100, int(size * scale)) for size in SIZES]
    found: dict[int, dict[str, float]] = {}
    disk = 0
    for size in sizes:
        with tempfile.TemporaryDirectory() as directory:
            store = open_store(f"sqlite:///{directory}/maintainer.db")
            files = fill(store, size)
            sys.stderr.write(f"bench: store of {size:,} tables, {files:,} files\n")
            found[size] = {name: percentile(work) for name, work in questions(store, size).items()}
            store.close()
            disk = bytes_of(directory)
    first, middle, last = sizes
    lines = [
        less_is_better(f"store: {name}, p95 at {last:,} tables", milliseconds, found[first][name], f"{first:,} tables", "ms", reach=_reach(name))
        for name, milliseconds in found[last].items()
    ]
    slowest = max(found[last], key=lambda name: found[last][name])
    lines += [
        less_is_better(f"store: the slowest ({slowest}), p95 at {last:,} tables", found[last][slowest], 100.0, "bound of 100 ms", "ms", reach=1),
        less_is_better(
            f"store: overview, p95 at {middle:,} tables", found[middle]["overview"], found[first]["overview"], f"{first:,} tables", "ms", reach=FLAT
        ),
        Measured("store: size per 100,000 tables, one sample each", disk / last * 100_000 / _MIB, None, "nobody", "MiB", None),
        Measured("store: digests per 1,000,000 files", digest_bytes() / _MIB, None, "nobody", "MiB", None),
    ]
    return lines


def _reach(name: str) -> float | None:
    """A search that finds little reads every name: that grows, and is held to 100 ms alone."""
    return None if "search" in name or "plan" in name else FLAT


def percentile(work: Callable[[], object]) -> float:
    """The 95th percentile in milliseconds."""
    work()
    gc.collect()
    gc.freeze()  # what the filling left behind is not looked through by a collection that the question happens to start
    times = []
    for _ in range(REPEATS):
        started = time.thread_time()
        work()
        times.append((time.thread_time() - started) * 1000)
    return statistics.quantiles(times, n=20, method="inclusive")[-1]


def questions(store: SqlStore, size: int) -> dict[str, Callable[[], object]]:
    """What the page asks for, by name."""
    asked: dict[str, Callable[[], object]] = {"overview": store.overview, "namespace counter": lambda: store.counters("lake", "space0000")}
    queries = {f"list by {'-' if down else ''}{sort}": TableQuery(sort=sort, descending=down) for sort in TABLE_SORTS for down in (False, True)}
    queries |= {f"list of {band} by -data_bytes": TableQuery(band=band, sort="data_bytes", descending=True, limit=FEW) for band in Band}
    queries |= {f"list of critical by {sort}": TableQuery(band=Band.CRITICAL, sort=sort, limit=FEW) for sort in ("name", "small_files", "measured_at")}
    queries |= {
        "list of a catalog by -data_files": TableQuery(catalog="lake", sort="data_files", descending=True, limit=FEW),
        "list of a catalog by name": TableQuery(catalog="sea", limit=FEW),
        "list of a namespace by -small_files": TableQuery(catalog="lake", namespace="space0000", sort="small_files", descending=True, limit=FEW),
        "list of a catalog's critical by -data_bytes": TableQuery(catalog="lake", band=Band.CRITICAL, sort="data_bytes", descending=True, limit=FEW),
        "search that finds many": TableQuery(search="TABLE0"),
        "search that finds one": TableQuery(search=f"table{size - 1:06}"),
    }
    for sort in ("name", "small_files", "measured_at"):
        query = TableQuery(sort=sort, descending=True)
        queries[f"deep page by -{sort}"] = deep(store, query)
    asked |= {name: partial(store.tables, query) for name, query in queries.items()}
    asked["nothing to plan"] = lambda: store.tables_to_plan(_AT, "v1")
    return asked


def deep(store: SqlStore, query: TableQuery) -> TableQuery:
    """The query for a page far behind the first: the last full one of a small fleet, behind thousands of others of a large one."""
    total = store.tables(query).total
    wide = min(1000, max(1, total // (DEEP_PAGES + 1)))
    for _ in range(max(DEEP_PAGES, total // 2 // wide)):
        cursor = store.tables(TableQuery(sort=query.sort, descending=query.descending, limit=wide, cursor=query.cursor)).next_cursor
        if cursor is None:
            break
        query = TableQuery(sort=query.sort, descending=query.descending, cursor=cursor)
    return query


def fill(store: SqlStore, size: int) -> int:
    """Write the rows that so many measurements would have left, planned; returns how many files they stand for."""
    random = Random(size)  # noqa: S311 - a fleet that is the same each time
    healths = (_health(random, number, size) for number in range(size))
    files = 0
    while batch := list(islice(healths, _BATCH)):
        files += sum(health.data_files or 0 for health, _ in batch)
        with store._database.write() as connection:
            connection.execute(insert(tables), [_table(health, grade) for health, grade in batch])
            connection.execute(insert(table_health), [_documents(health, grade) for health, grade in batch])
            connection.execute(insert(health_samples), [samples.write_sample(health) for health, _ in batch])
    with store._database.write() as connection:
        recount(connection)
    return files


def _health(random: Random, number: int, size: int) -> tuple[TableHealth, Grade]:
    files = min(5_000_000, int(random.lognormvariate(5.0, 2.9)))
    average = random.lognormvariate(16.5, 1.6)
    small = int(files * random.random() ** 2)
    space = f"space{number % max(1, size // 100):04}"
    table = TableIdentifier("lake" if number % 2 else "sea", (space if number % 2 else f"other_{space}",), f"table{number:06}")
    at = _AT - timedelta(seconds=random.randrange(604_800))
    manifests = 1 + files // FILES_PER_MANIFEST
    health = TableHealth(
        table, f"00000000-0000-4000-8000-{number:012}", 2, f"s3://lake/{table.name}", f"s3://lake/{table.name}/metadata/{number}.json", number, at,
        512 * _MIB, 8 * _MIB, data_files=files, data_bytes=int(files * average), average_file_size_bytes=average if files else None, small_files=small,
        small_file_ratio=small / files if files else None, small_file_bytes=small * _MIB, records=files * 10_000, position_delete_files=files // 50,
        equality_delete_files=0, deletion_vectors=0, delete_bytes=0, delete_records=0, manifests=manifests, manifest_bytes=manifests * 2 * _MIB,
        data_manifests=manifests, delete_manifests=0, snapshots=random.randrange(1, 2000), oldest_snapshot_at=at, newest_snapshot_at=at, branches=1, tags=0,
        metadata_bytes=random.randrange(4_000, 4_000_000), histogram=tuple(random.randrange(1 + files) for _ in range(10)), formats={"parquet": files},
    )  # fmt: skip
    return health, Grade(random.choice(_BANDS), (), "the mean data file is far below its target")


def _table(health: TableHealth, grade: Grade) -> Rows:
    planned = {"planned_under": "v1", "plan_at": _AT + timedelta(hours=1)}
    return {**fleet._identity(health.table), **fleet._scalars(health, grade), **planned, "first_seen_at": health.measured_at}


def _documents(health: TableHealth, grade: Grade) -> Rows:
    summary, detail = documents.write_health(health)
    return {"full_name": str(health.table), "summary": summary, "detail": detail, "grade": documents.write_grade(grade)}


def digest_bytes() -> int:
    """What the digests of a million files take, in manifests of 8,000 files of 30 partitions each."""
    with tempfile.TemporaryDirectory() as directory:
        store = open_store(f"sqlite:///{directory}/maintainer.db")
        before = bytes_of(directory)
        store.record_digests("u", 512 * _MIB, _digests())
        with store._database.read() as connection:
            kept = connection.execute(select(func.count()).select_from(manifest_digests)).scalar_one()
        if kept != DIGESTED_FILES // FILES_PER_MANIFEST:
            message = f"{kept} digests were kept of {DIGESTED_FILES // FILES_PER_MANIFEST}"
            raise ValueError(message)
        store.close()
        return bytes_of(directory) - before


def _digests() -> Iterator[ManifestDigest]:
    random = Random(DIGESTED_FILES)  # noqa: S311 - the same each time
    for number in range(DIGESTED_FILES // FILES_PER_MANIFEST):
        path = f"s3://lake/table/metadata/{random.randbytes(16).hex()}-m0.avro"
        shares = tuple(_share(random, f"day={_AT.date() + timedelta(days=number * 3 + day)}") for day in range(PARTITIONS_PER_MANIFEST))
        histogram = tuple(random.randrange(FILES_PER_MANIFEST) for _ in range(10))
        yield ManifestDigest(path, 2 * _MIB, 0, ManifestContent.DATA, number, shares, histogram, (("parquet", FILES_PER_MANIFEST),), FILES_PER_MANIFEST)


def _share(random: Random, partition: str) -> PartitionDigest:
    files = FILES_PER_MANIFEST // PARTITIONS_PER_MANIFEST
    small = random.randrange(files)
    return PartitionDigest(0, partition, Content.DATA, files, random.randrange(2**38), random.randrange(2**30), small, random.randrange(2**34), 0, 0)


def bytes_of(directory: str) -> int:
    """Everything in a directory."""
    return sum(path.stat().st_size for path in Path(directory).iterdir())
