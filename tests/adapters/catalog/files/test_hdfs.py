"""Files on a real HDFS, read without libhdfs."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hdfs_native import Client
from pyiceberg.catalog.memory import InMemoryCatalog
from pyiceberg.io import load_file_io

from maintainer.adapters.catalog.faults import kind_of_storage_error
from maintainer.adapters.catalog.files import hdfs
from maintainer.adapters.catalog.files.access import Access
from maintainer.adapters.catalog.files.hdfs import HdfsFileIO
from maintainer.adapters.catalog.files.storage import Storages
from maintainer.adapters.catalog.manifests.decoding import Batch, DecodingPool
from maintainer.adapters.catalog.pyiceberg_catalog import PyIcebergCatalog
from maintainer.adapters.clock import SystemClock
from maintainer.adapters.spark.java import find_java
from maintainer.domain.inventory import FaultKind, SizeClasses
from tests.hdfs import serve_hdfs

pytestmark = pytest.mark.slow

MOMENT = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_hdfs(tmp_path_factory.mktemp("hdfs")) as served:
        yield served


def put(address: str, path: str, content: bytes = b"content") -> str:
    client = Client(address)
    with client.create(path) as file:
        file.write(content)
    client.set_times(path, int(MOMENT.timestamp() * 1000), 0)
    return f"{address}{path}"


def access(address: str) -> Access:
    return Access(load_file_io({}, f"{address}/any"), Storages(), SystemClock())


def test_hdfs_is_read_without_libhdfs(address: str) -> None:
    location = put(address, "/w/db/t/metadata/it's a {file} %20 #1.json")
    chosen = load_file_io({}, location)
    assert isinstance(chosen, HdfsFileIO)
    file = chosen.new_input(location)
    assert (len(file), file.exists(), file.open().read()) == (7, True, b"content")
    assert (
        load_file_io({}, location.replace("hdfs", "HDFS", 1))
        .new_input(location.replace("hdfs", "HDFS", 1))
        .open()
        .read()
        == b"content"
    )
    missing = chosen.new_input(f"{address}/w/db/t/nothing")
    assert not missing.exists()
    for question in (missing.open, missing.__len__):
        with pytest.raises(FileNotFoundError) as reported:
            question()
        assert "\n" not in str(reported.value), "the name node's stack is nobody's business"
        assert kind_of_storage_error(reported.value) is FaultKind.METADATA_MISSING


def test_a_long_file_is_read_in_portions_and_from_anywhere(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdfs, "READ_BYTES", 1000)
    content = bytes(range(256)) * 100
    stream = HdfsFileIO().new_input(put(address, "/w/long", content)).open()
    assert stream.read() == content
    assert stream.read() == b""
    assert (stream.seek(-300, os.SEEK_END), stream.read(10), stream.tell()) == (
        len(content) - 300,
        content[-300:-290],
        len(content) - 290,
    )
    assert (stream.seek(5, os.SEEK_CUR), stream.read(10**9)) == (len(content) - 285, content[-285:])
    table = pa.table({"id": list(range(1000))})
    sink = io.BytesIO()
    pq.write_table(table, sink)
    assert (
        pq.ParquetFile(HdfsFileIO().new_input(put(address, "/w/p.parquet", sink.getvalue())).open())
        .read()
        .equals(table)
    )


def test_a_files_size_and_time_are_read(address: str) -> None:
    location = put(address, "/w/looked")
    seen = access(address).look(location)
    assert seen is not None
    assert (seen.size_bytes, seen.modified_at) == (7, MOMENT)
    assert access(address).look(f"{address}/w/nothing") is None


def test_files_under_a_location_are_listed_with_its_own_spelling(address: str) -> None:
    names = (
        "a",
        "data/p=1/it's a %20 {x} #1.parquet",
        "data/p=1/y",
        "data/_hidden/z",
        "metadata/m.avro",
    )
    for name in names:
        put(address, f"/w/listed/{name}")
    put(address, "/w/listed/data/empty", b"")
    put(address, "/w/listed_2/data/sibling")
    for location in (f"{address}/w/listed", f"{address}/w/listed/"):
        pages = access(address).list_files(location, 3)
        assert pages is not None
        found = [file for page in pages for file in page]
        assert {file.path for file in found} == {f"{address}/w/listed/{name}" for name in names}
        assert {(file.size_bytes, file.modified_at) for file in found} == {(7, MOMENT)}
        assert len(found) == len(names)


def test_a_big_directory_comes_in_pages(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(7):
        put(address, f"/w/big/{number}")
    monkeypatch.setattr(hdfs, "PAGE_FILES", 3)
    pages = access(address).list_files(f"{address}/w/big", 1)
    assert pages is not None
    assert [len(page) for page in pages] == [3, 3, 1]


def test_name_nodes_are_found_as_hadoop_finds_them(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(address, "/w/ha")
    host, port = address.removeprefix("hdfs://").split(":")
    services = {
        "dfs.nameservices": "cluster",
        "dfs.ha.namenodes.cluster": "gone,here",
        "dfs.namenode.rpc-address.cluster.gone": f"127.0.0.1:{free_port()}",
        "dfs.namenode.rpc-address.cluster.here": f"{host}:{port}",
    }

    def read(location: str, properties: dict[str, str]) -> bytes:
        return load_file_io(properties, location).new_input(location).open().read()

    assert (
        read("hdfs://cluster/w/ha", {f"hadoop.{name}": text for name, text in services.items()})
        == b"content"
    )
    assert read("hdfs:///w/ha", {"hdfs.host": host, "hdfs.port": port}) == b"content"
    assert read("hdfs:/w/ha", {"hadoop.fs.defaultFS": address}) == b"content"
    lines = "".join(
        f"<property><name>{name}</name><value>{escape(text)}</value></property>"
        for name, text in services.items()
    )
    (tmp_path / "hdfs-site.xml").write_text(f"<configuration>{lines}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    assert read("hdfs://cluster/w/ha", {}) == b"content"
    monkeypatch.setattr(hdfs, "DEFAULT_PORT", int(port))
    assert read(f"hdfs://{host}/w/ha", {}) == b"content"


def test_the_tables_of_a_cluster_share_their_connections_and_clusters_that_nobody_asks_are_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hdfs, "MAX_CLUSTERS", 2)
    monkeypatch.setattr(hdfs, "_CLUSTERS", hdfs._Clusters())

    def cluster(location: str, properties: dict[str, str] | None = None) -> object:
        return HdfsFileIO(properties).new_input(location)._cluster

    first = cluster("hdfs://one/w/a")
    assert cluster("hdfs://one/w/b", {"warehouse": "hdfs://one/w"}) is first
    second = cluster("hdfs://one/w/a", {"hadoop.dfs.ha.namenodes.one": "a,b"})
    assert second is not first
    assert cluster("hdfs://one/w/c") is first
    cluster("hdfs://two/w")
    assert cluster("hdfs://one/w/d") is first
    assert cluster("hdfs://one/w/a", {"hadoop.dfs.ha.namenodes.one": "a,b"}) is not second


def test_other_programs_start_after_hdfs_was_read(address: str) -> None:
    location = put(address, "/w/before")
    assert HdfsFileIO().new_input(location).open().read() == b"content"
    pool = DecodingPool(1)
    try:
        assert pool.decode(Batch([], {}, SizeClasses(1, 1, 1))).outcomes == []
        assert pool.ids(), "it was a process of its own that answered"
    finally:
        pool.close()
    # As the daemon starts Spark's driver, and as pyspark starts a JVM: with code of Python's
    # between fork and exec.
    java = [str(find_java(None, os.environ).home / "bin" / "java"), "-version"]
    for command, options in (
        (["true"], {"start_new_session": True}),
        (java, {"start_new_session": True}),
        (java, {"preexec_fn": lambda: None}),
    ):
        subprocess.run(command, timeout=60, capture_output=True, check=True, **options)


def test_locations_without_a_server_are_not_taken_for_local_ones() -> None:
    connected = InMemoryCatalog("lake")
    catalog = PyIcebergCatalog("lake", {}, SystemClock())
    ios = [
        catalog._io_for(connected, location)
        for location in (
            "/w/a:b",
            "file:///w/a",
            "file:/w/a",
            "hdfs:/w/a",
            "hdfs:///w/b",
            "hdfs://here/w",
        )
    ]
    assert [isinstance(found, HdfsFileIO) for found in ios] == [
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    assert ios[3] is ios[4] is not ios[5]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def test_a_name_node_that_is_gone_is_reported_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        hdfs, "READ_TIMEOUT_SECONDS", 8
    )  # by itself the client tries for longer, and then it would be said that nobody answered
    with pytest.raises(OSError, match="refused") as reported:
        HdfsFileIO().new_input(f"hdfs://127.0.0.1:{free_port()}/x").open()
    assert kind_of_storage_error(reported.value) is FaultKind.CATALOG_UNAVAILABLE


def test_a_name_node_that_says_nothing_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hdfs, "READ_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(hdfs, "CALLS_AT_MOST", 2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        reader = HdfsFileIO()
        for _ in range(4):  # the later ones find no place among those that still wait
            with pytest.raises(TimeoutError, match=r"did not answer within 0\.2 s"):
                reader.new_input(f"hdfs://127.0.0.1:{mute.getsockname()[1]}/x").exists()


def test_without_the_package_the_reason_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    with pytest.raises(ImportError, match=r"pip install 'iceberg-maintainer\[hdfs\]'") as reported:
        load_file_io({}, "hdfs://127.0.0.1:8020/x")
    assert kind_of_storage_error(reported.value) is FaultKind.UNSUPPORTED


def test_nothing_is_written_or_deleted_there() -> None:
    for refused in (HdfsFileIO().new_output, HdfsFileIO().delete):
        with pytest.raises(PermissionError, match="only read"):
            refused("hdfs://127.0.0.1:8020/x")
