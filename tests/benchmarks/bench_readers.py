"""Manifest entries per CPU second: our digests against PyIceberg and a warm local Spark, on a table
of 1,000,000 files with statistics of 20 columns.
"""

from __future__ import annotations

import json
import tempfile
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any, Final
from uuid import UUID

import fastavro
import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.table import StaticTable

from maintainer.adapters.catalog.manifests.fast_reader import digest_manifest, read_manifest_list
from maintainer.adapters.catalog.manifests.metadata import parse_metadata
from maintainer.domain.inventory import ManifestDigest, SizeClasses
from tests.benchmarks import spark_files
from tests.benchmarks.harness import (
    Measured,
    Timed,
    less_is_better,
    measure,
    more_is_better,
    peak_memory,
)

FILES: Final = 1_000_000
FILES_A_MANIFEST: Final = 4_000
MANIFESTS_FOR_PEERS: Final = (
    5  # inspect.files() would need hours and tens of gigabytes for all of them
)
COLUMNS: Final = 20
_PARTITION: Final = "column_0"
_BOUND_BYTES: Final = 8
TARGET: Final = SizeClasses.around(512 << 20)


def run(scale: float) -> list[Measured]:
    """Measure at this share of a million files; the peers read 20,000 of them at most."""
    manifests = max(1, round(FILES * scale / FILES_A_MANIFEST))
    with tempfile.TemporaryDirectory(prefix="bench-readers-") as directory:
        whole = make_table(Path(directory, "whole"), manifests)
        part = make_table(Path(directory, "part"), min(manifests, MANIFESTS_FOR_PEERS))
        ours = measure(lambda: digest_all(whole))
        if ours.result != manifests * FILES_A_MANIFEST:
            message = f"{ours.result} entries were read, not {manifests * FILES_A_MANIFEST}"
            raise AssertionError(message)
        rate = ours.result / ours.cpu_seconds
        inspected = measure(lambda: inspect_files(part), repeats=1)
        fetched = measure(lambda: fetch_entries(part))
        counted = spark_files.count_files(whole)
        memory, peer_memory = peak_memory(digest_all, part)[1], peak_memory(inspect_files, part)[1]
        rows = f"{ours.result:,} files"
        peer_rows = f"on {inspected.result:,}"
        spark = f"warm, {spark_files.MASTER}"
        lean, whole_rows = (counted.aggregate, counted.rows) if counted else (None, None)
        return [
            more_is_better(
                f"entries, {rows}",
                rate,
                inspected.result / inspected.cpu_seconds,
                f"PyIceberg inspect.files {peer_rows}",
                "/CPU s",
                reach=25,
            ),
            more_is_better(
                f"entries, {rows}",
                rate,
                fetched.result / fetched.cpu_seconds,
                f"PyIceberg fetch_manifest_entry {peer_rows}",
                "/CPU s",
                reach=4,
            ),
            more_is_better(
                f"entries, {rows}",
                rate,
                _rate(lean),
                f"Spark .files without statistics, {spark}",
                "/CPU s",
                reach=1.2,
            ),
            more_is_better(
                f"entries, {rows}",
                rate,
                _rate(whole_rows),
                f"Spark .files, all columns, {spark}",
                "/CPU s",
                reach=1.2,
            ),
            more_is_better(
                f"entries by one process, {rows}",
                ours.result / ours.wall_seconds,
                _wall_rate(lean),
                f"Spark .files, {spark}",
                "/s",
            ),
            less_is_better(
                f"peak memory, {inspected.result:,} files",
                memory / 1e6,
                peer_memory / 1e6,
                "PyIceberg inspect.files",
                "MB beyond start",
                reach=5,
            ),
        ]


def _rate(timed: Timed[int] | None) -> float | None:
    return timed.result / timed.cpu_seconds if timed else None


def _wall_rate(timed: Timed[int] | None) -> float | None:
    return timed.result / timed.wall_seconds if timed else None


def digest_all(metadata: Path) -> int:
    """Entries read by our readers, from metadata.json down."""
    table = parse_metadata(metadata.read_bytes())
    source = table.sources[table.current_snapshot_id or 0]
    digests: list[ManifestDigest] = []
    for listed in read_manifest_list(_path(source.list_path or "").read_bytes()):
        digests.append(  # noqa: PERF401 - the bytes of one at a time
            digest_manifest(_path(listed.path).read_bytes(), listed, table.specs, TARGET)
        )
    return sum(digest.entries_read for digest in digests)


def inspect_files(metadata: Path) -> int:
    """Rows of PyIceberg's files table."""
    return int(StaticTable.from_metadata(str(metadata)).inspect.files().num_rows)


def fetch_entries(metadata: Path) -> int:
    """Entries that PyIceberg reads itself."""
    table = StaticTable.from_metadata(str(metadata))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    return sum(
        len(manifest.fetch_manifest_entry(table.io)) for manifest in snapshot.manifests(table.io)
    )


def make_table(directory: Path, manifests: int, partitions: int = 0) -> Path:
    """A table of one snapshot whose manifests are many names of one, with so many partitions in
    each; its metadata.json.
    """
    directory.mkdir()
    catalog = load_catalog(
        "bench",
        type="sql",
        uri=f"sqlite:///{directory}/catalog.db",
        warehouse=f"file://{directory}",
    )
    catalog.create_namespace("bench")
    rows = pa.table({f"column_{number}": [number] for number in range(COLUMNS)})
    table = catalog.create_table("bench.files", rows.schema)
    if partitions:
        with table.update_spec() as update:
            update.add_identity(_PARTITION)
    table.append(rows)
    catalog.close()
    return write_copies(table.metadata_location, manifests, partitions)


def write_copies(metadata_location: str, manifests: int, partitions: int = 0) -> Path:
    """Put so many manifests of FILES_A_MANIFEST files, which are many names of one, in the place of
    the only one of a table of one file; its metadata.json.
    """
    metadata = json.loads(_path(metadata_location).read_bytes())
    list_path = _path(metadata["snapshots"][0]["manifest-list"])
    list_header, (listed,) = _read(list_path)
    manifest = _path(listed["manifest_path"])
    header, (entry,) = _read(manifest)
    many = _write(header, [_vary(entry, number, partitions) for number in range(FILES_A_MANIFEST)])
    copies = [manifest.with_name(f"copy-{number}.avro") for number in range(manifests)]
    copies[0].write_bytes(many)
    for copy in copies[1:]:
        copy.hardlink_to(copies[0])
    told = listed | {"manifest_length": len(many), "added_files_count": FILES_A_MANIFEST}
    list_path.write_bytes(
        _write(list_header, [told | {"manifest_path": f"file://{copy}"} for copy in copies])
    )
    return _path(metadata_location)


def _vary(entry: dict[str, Any], number: int, partitions: int) -> dict[str, Any]:
    """Another file with statistics of its own: what is the same in all files is inflated and passed
    over for nothing, as in no real table.
    """
    random = Random(number)
    size = 1_000 + number * 7_919 * 4_099 % (1 << 30)
    told = entry["data_file"]
    values = {_PARTITION: number % partitions} if partitions else {}
    statistics = {
        "column_sizes": [
            {"key": each["key"], "value": random.randrange(1 << 12)}
            for each in told["column_sizes"]
        ],
        "value_counts": [
            {"key": each["key"], "value": size // 100 + 1} for each in told["value_counts"]
        ],
        "null_value_counts": [
            {"key": each["key"], "value": random.randrange(3)} for each in told["null_value_counts"]
        ],
        "lower_bounds": [
            {"key": each["key"], "value": random.randbytes(_BOUND_BYTES)}
            for each in told["lower_bounds"]
        ],
        "upper_bounds": [
            {"key": each["key"], "value": random.randbytes(_BOUND_BYTES)}
            for each in told["upper_bounds"]
        ],
    }
    identity = {
        "file_path": f"{told['file_path']}-{UUID(int=random.getrandbits(128))}.parquet",
        "file_size_in_bytes": size,
        "record_count": size // 100 + 1,
    }
    return entry | {"data_file": told | identity | statistics | {"partition": values}}


def _read(path: Path) -> tuple[dict[str, str], list[dict[str, Any]]]:
    reader = fastavro.reader(BytesIO(path.read_bytes()))
    return dict(reader.metadata), [record for record in reader if isinstance(record, dict)]


def _write(header: dict[str, str], records: list[dict[str, Any]]) -> bytes:
    stream = BytesIO()
    kept = {key: value for key, value in header.items() if not key.startswith("avro.")}
    fastavro.writer(
        stream,
        json.loads(header["avro.schema"]),
        records,
        codec="deflate",
        sync_interval=64_000,
        metadata=kept,
    )
    return stream.getvalue()


def _path(location: str) -> Path:
    return Path(location.removeprefix("file://"))
