"""Metadata that is made, or broken, so that its reader never ends or takes all memory: a
fault of that table, and the others are measured.
"""

from __future__ import annotations

import asyncio
import bz2
import gzip
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import fastavro
import pytest
import zstandard
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table

from maintainer.adapters.catalog import limits
from maintainer.adapters.catalog import reader as reading
from maintainer.adapters.catalog.files.access import Access
from maintainer.adapters.catalog.files.storage import Storages
from maintainer.adapters.catalog.limits import (
    MAX_BLOCK_BYTES,
    ImplausibleError,
    TooLargeError,
    UnreadableFileError,
    check_location,
    local_path,
)
from maintainer.adapters.catalog.manifests import manifest
from maintainer.adapters.catalog.manifests import packed_digests as gathered
from maintainer.adapters.catalog.manifests.container import open_container
from maintainer.adapters.catalog.manifests.decoding import decode_batch
from maintainer.adapters.catalog.manifests.digest_sums import Tally
from maintainer.adapters.catalog.manifests.fast_reader import digest_manifest, read_manifest_list
from maintainer.adapters.catalog.manifests.metadata import parse_metadata
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.catalog.reader import MetadataReader, ReadLimits
from maintainer.domain.inventory import (
    Content,
    FaultKind,
    ManifestContent,
    TableFault,
    TableInventory,
)
from tests.adapters.catalog.avro_bytes import avro, block, deflated, listing
from tests.adapters.catalog.lake import (
    Lake,
    StoppedClock,
    identify,
    know_nothing,
    list_of,
    manifest_of,
    rows,
    small_target,
)
from tests.adapters.catalog.lake import local_path as path_of
from tests.adapters.catalog.manifests.test_manifest import (
    CLASSES,
    SPECS,
    entry,
    listed_as,
    long,
    manifest_schema,
    write,
)
from tests.small_http import serve_on_loopback

SYNC = b"s" * 16
MIB = 1024**2


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    with closing(Lake(tmp_path)) as opened:
        yield opened


def make_two(lake: Lake) -> Table:
    """A table that is to be spoilt, and one beside it."""
    lake.make_table("sales", "customers").append(rows(3))
    table = lake.make_table("sales", "orders")
    table.append(rows(3))
    return table


def read_both(lake: Lake) -> TableInventory | TableFault:
    """What becomes of the spoilt one, after it is shown that the other is read as ever."""
    names = [identify("sales", "orders"), identify("sales", "customers")]
    found = {
        taken.table.name: taken.outcome
        for taken in lake.catalog.inventories(names, small_target, know_nothing)
    }
    assert isinstance(found["customers"], TableInventory)
    assert not found["customers"].unreadable
    spoilt = found["orders"]
    assert isinstance(spoilt, TableInventory | TableFault), spoilt
    return spoilt


def fault_of(lake: Lake) -> TableFault:
    found = read_both(lake)
    assert isinstance(found, TableFault), found
    return found


def reason_of(lake: Lake) -> str:
    """Why a piece of the spoilt table's metadata cannot be read."""
    found = read_both(lake)
    assert isinstance(found, TableInventory), found
    (unreadable,) = found.unreadable
    return unreadable.reason


def replace_by_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


# -- what is no file


def test_a_pipe_as_metadata_is_a_fault(lake: Lake) -> None:
    replace_by_pipe(path_of(make_two(lake).metadata_location))
    fault = fault_of(lake)
    assert fault.kind is FaultKind.METADATA_CORRUPT
    assert fault.reason.endswith("is not a regular file")


@pytest.mark.parametrize("find", [list_of, manifest_of])
def test_a_pipe_as_manifest_or_list_is_unreadable(
    lake: Lake, find: Callable[[Table], Path]
) -> None:
    replace_by_pipe(find(make_two(lake)))
    assert "is not a regular file" in reason_of(lake)


@pytest.mark.parametrize(
    "location",
    [
        "file:///dev/zero",
        "/dev/zero",
        "file:/dev/zero",
        "file://localhost/dev/zero",
        "FILE:///dev/zero",
    ],
)
def test_a_device_without_an_end_is_a_fault(lake: Lake, location: str) -> None:
    make_two(lake)
    lake.point_to(location, "orders")
    assert fault_of(lake).reason == "/dev/zero is not a regular file"


def test_a_pipe_is_refused_before_somebodys_own_file_io_opens_it(tmp_path: Path) -> None:
    own = PyArrowFileIO({"py-io-impl": "pyiceberg.io.pyarrow.PyArrowFileIO"})
    access = Access(own, Storages(), StoppedClock())
    (tmp_path / "file").write_bytes(b"text")
    os.mkfifo(tmp_path / "pipe")
    assert asyncio.run(access.read(f"file://{tmp_path}/file")) == b"text"
    with pytest.raises(UnreadableFileError, match="not a regular file"):
        asyncio.run(access.read(f"file://{tmp_path}/pipe"))


def test_where_a_location_lies_on_this_machine() -> None:
    assert [
        local_path(text)
        for text in ("/a/b", "file:/a/b", "file:///a/b", "file://host/a/b", "s3://a/b")
    ] == ["/a/b"] * 4 + [None]


# -- where metadata may lie


class Listener(ThreadingHTTPServer):
    """Answers everything, and knows what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                self.send_response(200)
                self.end_headers()

            do_HEAD = do_GET

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener()
    with serve_on_loopback(server):
        yield server


def test_metadata_that_points_into_the_network_is_never_asked_for(
    lake: Lake, listener: Listener
) -> None:
    table = make_two(lake)
    inside = f"http://127.0.0.1:{listener.server_port}/latest/meta-data"
    document = json.loads(path_of(table.metadata_location).read_bytes())
    document["snapshots"][-1]["manifest-list"] = inside
    path_of(table.metadata_location).write_text(json.dumps(document))
    assert "has the scheme 'http'; files of tables are read by abfs, abfss, file," in reason_of(
        lake
    )
    lake.point_to(inside, "orders")
    fault = fault_of(lake)
    assert fault.kind is FaultKind.UNSUPPORTED
    assert listener.asked == []


@pytest.mark.parametrize(
    ("location", "allowed", "message"),
    [
        ("s3://lake/m", (), ""),
        ("/lake/m", ("file",), ""),
        ("s3://lake/m", ("file", "s3://lake"), ""),
        ("hdfs://10.0.0.7:8020/m", ("hdfs://10.0.0.7:8020",), ""),
        (
            "s3://other/m",
            ("file", "s3://lake"),
            "are read by file, s3://lake (scan.locations",
        ),
        ("/etc/passwd", ("s3",), "has the scheme 'file'; files of tables are read by s3 (scan."),
        ("m", (), "m has no scheme; files of tables are read by abfs,"),
        (
            "hdfs://169.254.169.254:80/m",
            (),
            "on the link-local address 169.254.169.254, which has no",
        ),
        ("hdfs://[fe80::1]/m", ("hdfs",), "is on the link-local address [fe80::1], which"),
        ("hdfs://u@[fe80::1]:80/m", (), "is on the link-local address [fe80::1], which"),
    ],
)
def test_metadata_is_read_from_allowed_locations_alone(
    location: str, allowed: tuple[str, ...], message: str
) -> None:
    if not message:
        check_location(location, allowed)
        return
    with pytest.raises(UnreadableFileError, match=re.escape(message)):
        check_location(location, allowed)


def test_the_reader_asks_for_allowed_locations_alone(lake: Lake) -> None:
    table = make_two(lake)
    bounds = ReadLimits(decode_processes=0, locations=("s3://lake",))
    with closing(MetadataReader(bounds)) as reader:
        access = Access(table.io, reader.storages, StoppedClock())
        with pytest.raises(UnreadableFileError, match="files of tables are read by s3://lake"):
            asyncio.run(access.read(table.metadata_location))


# -- what unfolds


def test_records_that_take_no_bytes_are_refused_in_any_number(lake: Lake) -> None:
    empty = {"type": "record", "name": "manifest_file", "fields": []}
    list_of(make_two(lake)).write_bytes(avro(empty, block(2**40, b"")))
    assert f"claims {2**40} records in 0 bytes" in reason_of(lake)


@pytest.mark.parametrize(
    "items",
    ["null", {"type": "fixed", "name": "none", "size": 0}, {"type": "record", "name": "empty",
    "fields": [{"name": "x", "type": {"type": "null"}}]},
     {"type": "record", "name": "endless", "fields": [{"name": "x", "type": "endless"}]}],
)  # fmt: skip
def test_arrays_of_items_that_take_no_bytes_are_refused(items: object) -> None:
    schema = manifest_schema(2)
    schema["fields"].append(
        {"name": "more", "type": {"type": "array", "items": items}, "field-id": 999}
    )
    raw = avro(schema, block(1, b"\x00" + long(2**40)))
    for read in (digest_manifest, manifest.digest_manifest):
        with pytest.raises(UnreadableFileError, match="take no bytes"):
            read(raw, listed_as(raw), SPECS, CLASSES)


@pytest.mark.parametrize(
    "items",
    [
        "long",
        ["null", "long"],
        {"type": "array", "items": "string"},
        {"type": "map", "values": "null"},
    ],
)
def test_arrays_of_other_items_are_read(items: object) -> None:
    schema = manifest_schema(2)
    schema["fields"].append(
        {"name": "more", "type": {"type": "array", "items": items}, "field-id": 999}
    )
    raw = write(schema, [entry() | {"more": []}])
    assert digest_manifest(raw, listed_as(raw), SPECS, CLASSES).entries_read == 1


@pytest.mark.parametrize(
    ("codec", "compress"),
    [("deflate", deflated), ("zstandard", zstandard.ZstdCompressor().compress), ("zstandard",
    zstandard.ZstdCompressor(write_content_size=False).compress),
     ("bzip2", bz2.compress)],
)  # fmt: skip
def test_a_block_that_unfolds_into_very_much_is_refused(
    codec: str, compress: Callable[[bytes], bytes]
) -> None:
    fits, bomb = compress(bytes(MIB)), compress(bytes(MAX_BLOCK_BYTES + 1))
    assert [
        len(data)
        for _, data in open_container(avro("null", block(1, fits), codec=codec.encode())).blocks()
    ] == [MIB]
    with pytest.raises(UnreadableFileError, match="cannot be decompressed"):
        list(open_container(avro("null", block(1, bomb), codec=codec.encode())).blocks())


def test_blocks_that_unfold_into_very_much_together_are_refused() -> None:
    raw = avro("null", *[block(1, deflated(bytes(MIB)))] * 5, codec=b"deflate")
    with pytest.raises(
        TooLargeError, match="the file, decompressed, has more than 4 MiB; the bound is 4 MiB"
    ):
        list(open_container(raw, 4 * MIB).blocks())


def test_metadata_that_unfolds_into_very_much_is_a_fault(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_DOCUMENT_BYTES", 8 * MIB)
    path_of(make_two(lake).metadata_location).write_bytes(gzip.compress(bytes(9 * MIB)))
    fault = fault_of(lake)
    assert (fault.kind, fault.reason) == (
        FaultKind.UNSUPPORTED,
        "metadata.json, decoded, has more than 8 MiB; the bound is 8 MiB",
    )


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"location": "file:///a\0b"}, "its location has a NUL character: 'file:///a\\x00b'"),
        (
            {"properties": {"write.data.path": "\0"}},
            "its property write.data.path has a NUL character: '\\x00'",
        ),
    ],
)
def test_a_path_with_a_nul_character_is_a_fault(
    lake: Lake, change: dict[str, object], what: str
) -> None:
    path = path_of(make_two(lake).metadata_location)
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change))
    fault = fault_of(lake)
    assert fault.kind is FaultKind.METADATA_CORRUPT
    assert fault.reason.endswith(what)


@pytest.mark.parametrize("values", [300_000, 1_000_000])
def test_metadata_of_very_many_values_is_a_fault(lake: Lake, values: int) -> None:
    path = path_of(make_two(lake).metadata_location)
    path.write_text(json.dumps(json.loads(path.read_bytes()) | {"metadata-log": [1] * values}))
    fault = fault_of(lake)
    assert fault.kind is FaultKind.UNSUPPORTED
    assert re.search(r"has [\d,]+ snapshots, refs and other parts; the bound is", fault.reason)


def test_a_file_that_passed_a_limit_is_not_read_again_until_the_table_points_to_another(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_two(lake)
    path = path_of(table.metadata_location)
    sound = path.read_bytes()
    path.write_text(json.dumps(json.loads(sound) | {"metadata-log": [1] * 300_000}))
    reads: list[str] = []
    read = Access.read

    async def spy(self: Access, location: str, most: int = 0) -> bytes:
        reads.append(location)
        return await read(self, location, most)

    monkeypatch.setattr(Access, "read", spy)
    first, second = fault_of(lake), fault_of(lake)
    assert first.reason == second.reason
    assert reads.count(table.metadata_location) == 1
    mended = path.with_name("mended.metadata.json")
    mended.write_bytes(sound)
    lake.point_to(f"file://{mended}", "orders")
    assert isinstance(read_both(lake), TableInventory)


def test_metadata_that_is_larger_than_its_bound_is_not_read(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_STORED_BYTES", 8 * MIB)
    path = path_of(make_two(lake).metadata_location)
    path.write_bytes(b" " * (9 * MIB))
    assert fault_of(lake).reason == f"file://{path} has 9 MiB; the bound is 8 MiB"


def test_large_documents_wait_for_their_part_of_one_budget(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_two(lake)
    path = path_of(table.metadata_location)
    path.write_text(json.dumps(json.loads(path.read_bytes())) + " " * (limits.FREE_BYTES + 1))
    lent: list[int] = []
    read = Access.read

    async def spy(self: Access, location: str, most: int = 0) -> bytes:
        if location == table.metadata_location and most > limits.FREE_BYTES:
            lent.append(lake.catalog._reader.documents.lent)
        return await read(self, location, most)

    monkeypatch.setattr(Access, "read", spy)
    assert isinstance(read_both(lake), TableInventory)
    assert lent == [reading.DECODED_FACTOR * path.stat().st_size]
    assert lake.catalog._reader.documents.lent == 0


def test_a_manifest_that_is_longer_than_its_list_says_is_unreadable(lake: Lake) -> None:
    path = manifest_of(make_two(lake))
    path.write_bytes(path.read_bytes() + bytes(MIB))
    assert "; the bound is" in reason_of(lake)


def test_a_small_manifest_that_holds_much_is_not_decoded_on_the_loop(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "INLINE_PLAIN_BYTES", 10)
    threads: list[str] = []
    decode = decode_batch

    def spy(batch: Any, most_bytes: int | None = None) -> Any:
        if most_bytes == reading.THREAD_PLAIN_BYTES:
            threads.append(threading.current_thread().name)
        return decode(batch, most_bytes)

    monkeypatch.setattr(reading, "decode_batch", spy)
    make_two(lake)
    assert isinstance(read_both(lake), TableInventory)
    assert threads == ["aside", "aside"]


def test_a_list_of_very_many_manifests_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_LISTED_MANIFESTS", 2)
    assert len(read_manifest_list(listing(2))) == 2
    with pytest.raises(UnreadableFileError, match="more than 2 manifests"):
        read_manifest_list(listing(3))


def test_a_manifest_has_a_bounded_number_of_entries_and_of_partitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("maintainer.adapters.catalog.manifests.digest_sums.MAX_ENTRIES", 2)
    raw = write(manifest_schema(2), [entry()] * 3)
    for read in (digest_manifest, manifest.digest_manifest):
        with pytest.raises(UnreadableFileError, match="more than 2 entries"):
            read(raw, listed_as(raw), SPECS, CLASSES)
    monkeypatch.setattr("maintainer.adapters.catalog.manifests.digest_sums.MAX_SHARES", 2)
    tally = Tally(CLASSES)
    tally.add_files("day=1", Content.DATA, "parquet", ([1], [1], [1], []))
    with pytest.raises(UnreadableFileError, match="more than 2 partitions"):
        tally.add_files("day=2", Content.DATA, "orc", ([1], [1], [1], []))


def test_a_table_of_very_many_partitions_is_a_fault(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathered, "MAX_PARTITIONS", 0)
    make_two(lake)
    found = lake.catalog.inventory(identify("sales", "orders"), small_target, know_nothing)
    assert isinstance(found, TableFault)
    assert found.reason == "it has more than 1,000,000 partitions, which is the bound"


# -- what cannot be true


@pytest.mark.parametrize("field", ["file_size_in_bytes", "record_count"])
@pytest.mark.parametrize("number", [2**50 + 1, 2**63 - 1])
def test_a_file_of_impossible_size_makes_its_manifest_unreadable(field: str, number: int) -> None:
    raw = write(manifest_schema(2), [entry(), entry(**{field: number})])
    for read in (digest_manifest, manifest.digest_manifest):
        with pytest.raises(ImplausibleError, match=f"a file of .*{number:,}"):
            read(raw, listed_as(raw), SPECS, CLASSES)


def test_a_file_of_a_pebibyte_is_read() -> None:
    raw = write(manifest_schema(2), [entry(file_size_in_bytes=2**50)])
    assert digest_manifest(raw, listed_as(raw), SPECS, CLASSES).partitions[0].bytes == 2**50


def repeated(*paths: str, times: int, status: int = 1) -> bytes:
    stream = BytesIO()
    entries = [entry(file_path=path, status=status) for path in paths] * times
    fastavro.writer(stream, manifest_schema(2), entries, codec="deflate", sync_interval=4 * MIB)
    return stream.getvalue()


@pytest.mark.parametrize("read", [digest_manifest, manifest.digest_manifest])
def test_a_file_that_is_listed_many_times_makes_its_manifest_unreadable(read: Any) -> None:
    raw = repeated("s3://a/data/x.parquet", "s3://a/data/y.parquet", times=1000)
    with pytest.raises(ImplausibleError, match=r"it lists the file s3://a/data/x.parquet twice"):
        read(raw, listed_as(raw), SPECS, CLASSES)


@pytest.mark.parametrize("read", [digest_manifest, manifest.digest_manifest])
def test_many_entries_of_one_file_are_sound_where_they_are_deleted_or_deletion_vectors(
    read: Any,
) -> None:
    deleted = repeated("s3://a/data/x.parquet", times=2000, status=2)
    assert read(deleted, listed_as(deleted), SPECS, CLASSES).entries_read == 2000
    vectors = write(
        manifest_schema(3),
        [entry(file_path="s3://a/data/v.puffin", content=1, file_format="puffin")] * 2000,
    )
    listed = listed_as(vectors, ManifestContent.DELETES)
    assert read(vectors, listed, SPECS, CLASSES).entries_read == 2000


def test_many_similar_paths_are_sound() -> None:
    paths = [f"s3://a/data/part-{number:05}.parquet" for number in range(5000)]
    raw = repeated(*paths, times=1)
    assert digest_manifest(raw, listed_as(raw), SPECS, CLASSES).entries_read == 5000


def test_a_list_that_names_a_manifest_twice_is_unreadable() -> None:
    listed = read_manifest_list(listing(3))
    assert len(listed) == 3
    rows = [["a", 9, 0, 1, 0, None, 1, 1, None]] * 2
    with pytest.raises(ImplausibleError, match="it lists the manifest a twice"):
        manifest.list_manifests(rows)


@pytest.mark.parametrize(("added", "is_plausible"), [(9 * 64, True), (9 * 64 + 1, False)])
def test_a_list_does_not_claim_more_files_than_a_manifest_can_hold(
    added: int, is_plausible: bool
) -> None:
    rows = [["a", 9, 0, 1, 0, None, added, 0, None]]
    if is_plausible:
        assert manifest.list_manifests(rows)[0].live_entries == added
        return
    with pytest.raises(ImplausibleError, match=r"lists 577 files in 9 bytes"):
        manifest.list_manifests(rows)
    with pytest.raises(ImplausibleError, match=r"lists -1 files"):
        manifest.list_manifests([["a", 9, 0, 1, 0, None, -1, 0, None]])


# -- what never ends


def test_a_table_whose_files_are_never_answered_is_a_fault_after_its_time(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make_two(lake)
    read = Access.read

    async def hang(self: Access, location: str, most: int = 0) -> bytes:
        if location == table.metadata_location:
            await asyncio.Event().wait()
        return await read(self, location, most)

    monkeypatch.setattr(Access, "read", hang)
    with closing(
        PyIcebergCatalog("lake", lake.properties, StoppedClock(), timeout=timedelta(seconds=1))
    ) as catalog:
        assert isinstance(
            catalog.inventory(identify("sales", "customers"), small_target, know_nothing),
            TableInventory,
        )
        for found in (
            catalog.inventory(identify("sales", "orders"), small_target, know_nothing),
            catalog.snapshots(identify("sales", "orders")),
        ):
            assert isinstance(found, TableFault)
            assert found.kind is FaultKind.FAILED
            assert found.reason.startswith("reading its metadata took longer than 1 s")


def test_a_property_of_thousands_of_digits_is_text() -> None:
    document = {
        "format-version": 2,
        "table-uuid": "u",
        "location": "file:///t",
        "properties": {"write.target-file-size-bytes": "9" * 5000, "other": 7},
    }
    assert (
        parse_metadata(json.dumps(document).encode()).properties["write.target-file-size-bytes"]
        == "9" * 5000
    )
