"""The benchmark of rewrites on HDFS: a name node and a data node on this machine. Published: 17 s
and 29 s, 1.7x for three times the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hdfs_native import Client
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io import OutputFile, OutputStream
from pyiceberg.io.pyarrow import PyArrowFileIO, parquet_file_to_data_file
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table

from maintainer.adapters.catalog.files.hdfs import HdfsFileIO, HdfsInput
from tests.benchmarks.bench_rewrite import FEW, MANY, SCHEMA, TARGET_BYTES, compare, make_files
from tests.benchmarks.harness import Measured
from tests.hdfs import serve_hdfs

GROWTH_REACH = 1.7
_AT_ONCE = 128  # writes, each of which waits for the data node's word
_PATH = 1  # of a data file's fields


def run(scale: float) -> list[Measured]:
    """At scale 1 as on a local file system: the same files, which both read from HDFS."""
    few, many = round(FEW * scale), round(MANY * scale)
    with (
        TemporaryDirectory(prefix="bench-hdfs-") as scratch,
        serve_hdfs(Path(scratch) / "servers") as address,
    ):
        root = Path(scratch)
        _make_tables(root, address, few, many)
        lines = compare(root, f"{address}/warehouse", few, many, ("published, HDFS", GROWTH_REACH))
    return [replace(line, name=f"HDFS: {line.name}") for line in lines]


class WritingFileIO(HdfsFileIO):
    """Writes too, as no daemon does."""

    def new_output(self, location: str) -> OutputFile:
        """A file of any length."""
        return _Output(location, self)


class _Output(OutputFile):
    def __init__(self, location: str, io: WritingFileIO) -> None:
        super().__init__(location)
        self._io = io

    def __len__(self) -> int:
        return len(self.to_input_file())

    def exists(self) -> bool:
        return self.to_input_file().exists()

    def to_input_file(self) -> HdfsInput:
        return self._io.new_input(self.location)

    def create(self, overwrite: bool = False) -> OutputStream:
        del overwrite  # names are made up anew
        server, path = self.location.removeprefix("hdfs://").split("/", 1)
        return Client(f"hdfs://{server}").create(f"/{path}")


def _make_tables(root: Path, address: str, few: int, many: int) -> None:
    """The files are the same for all tables: a rewrite deletes none."""
    files = make_files(root, many)
    client = Client(address)

    def bring(number: int) -> None:
        with client.create(f"/files/{number}.parquet") as file:
            file.write((files / f"{number}.parquet").read_bytes())

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(bring, range(many)))
    implementation = f"{__name__}.{WritingFileIO.__qualname__}"
    with closing(
        SqlCatalog(
            "lake",
            uri=f"sqlite:///{root}/catalog.db",
            warehouse=f"{address}/warehouse",
            **{"py-io-impl": implementation},
        )
    ) as catalog:
        catalog.create_namespace("db")
        for count in (few, many):
            for owner in ("bare", "ours"):
                mapping = {"schema.name-mapping.default": SCHEMA.name_mapping.model_dump_json()}
                table = catalog.create_table(
                    f"db.{owner}_{count}",
                    SCHEMA,
                    properties={"write.target-file-size-bytes": str(TARGET_BYTES), **mapping},
                )
                _append(table, _describe(table, files, address, count))


def _append(table: Table, files: Iterator[DataFile]) -> None:
    with table.transaction() as transaction, transaction.update_snapshot().fast_append() as append:
        for file in files:
            append.append_data_file(file)


def _describe(table: Table, files: Path, address: str, count: int) -> Iterator[DataFile]:
    """From what is here, whose footers are read sooner."""
    here = PyArrowFileIO()
    for number in range(count):
        file = parquet_file_to_data_file(here, table.metadata, f"file://{files}/{number}.parquet")
        file[_PATH] = f"{address}/files/{number}.parquet"
        yield file
