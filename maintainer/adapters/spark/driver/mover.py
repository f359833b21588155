"""Moves files of a table within its storage, with the table's own access to the storage.

The files are those that a view lists and that a dry run of Iceberg's procedure still finds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

MOVE = "MOVE FILES "  # begins a statement that the driver program carries out; JSON follows
_WORKERS = 8  # files of an object store that are copied at the same time, through this JVM
_HADOOP = "org.apache.iceberg.hadoop.HadoopFileIO"
# The FileIO of a REST catalog, which chooses a FileIO for each scheme.
_RESOLVING = "org.apache.iceberg.io.ResolvingFileIO"

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


def move_files(session: JavaObject, statement: str, is_cancelled: Callable[[], bool]) -> JavaObject:
    """Carry out {"table", "view", "dry_run": a CALL or null, "overwrites"}.

    Returns a frame with the number of moved, known, gone, taken, failed and cancelled files. A file
    is not moved if its target exists, unless `overwrites` is true.
    """
    order = json.loads(statement.removeprefix(MOVE))
    # Pyspark has no public access to the JVM.
    utilities = session._jvm.org.apache.iceberg.spark.Spark3Util  # noqa: SLF001
    table = utilities.loadIcebergTable(session._jsparkSession, order["table"])  # noqa: SLF001
    still = (
        None
        if order["dry_run"] is None
        else {row[0] for row in session.sql(order["dry_run"]).toLocalIterator()}
    )
    mover = _HadoopMover(session, table.io()) if _is_on_hadoop(table) else _FileIOMover(table.io())
    counts: dict[str, int] = {}

    def move(row: JavaObject) -> str:
        if is_cancelled():
            return "cancelled"
        if still is not None and row.file_path not in still:
            return "known"
        try:
            return mover.move(row.file_path, row.target, overwrites=order["overwrites"])
        # An error of one file must not stop the others; the proof finds the file.
        except Exception as error:  # noqa: BLE001
            # This text goes to the driver's log.
            print(f"{row.file_path} could not be moved: {error}")  # noqa: T201
            return "failed"

    found = session.sql(f"SELECT file_path, target FROM {order['view']}")  # noqa: S608 - own view
    rows = found.toLocalIterator()
    with ThreadPoolExecutor(mover.workers) as pool:
        for outcome in pool.map(move, rows):
            counts[outcome] = counts.get(outcome, 0) + 1
    return session.createDataFrame(sorted(counts.items()), "outcome STRING, files LONG")


def _is_on_hadoop(table: JavaObject) -> bool:
    io = table.io()
    kind = io.getClass()
    if kind.getName() == _RESOLVING:
        kind = io.ioClass(table.location())
    return bool(kind.getName() == _HADOOP)


class _HadoopMover:
    """Renames files, which most of Hadoop's file systems do without copying."""

    workers = 1

    def __init__(self, session: JavaObject, io: JavaObject) -> None:
        self._path = session._jvm.org.apache.hadoop.fs.Path  # noqa: SLF001 - as above
        self._conf = io.getConf()

    def move(self, source: str, target: str, *, overwrites: bool) -> str:
        path, place = self._path(source), self._path(target)
        files = place.getFileSystem(self._conf)
        if not files.exists(path):
            return "gone"
        if files.exists(place):
            if not overwrites:
                return "taken"
            files.delete(place, False)  # noqa: FBT003 - Java has no named arguments
        files.mkdirs(place.getParent())
        return "moved" if files.rename(path, place) else "failed"


class _FileIOMover:
    """Copies a file, checks that the copy is complete, and only then deletes the original."""

    workers = _WORKERS

    def __init__(self, io: JavaObject) -> None:
        self._io = io

    def move(self, source: str, target: str, *, overwrites: bool) -> str:
        path, place = self._io.newInputFile(source), self._io.newOutputFile(target)
        if not path.exists():
            return "gone"
        if not overwrites and place.toInputFile().exists():
            return "taken"
        reading = path.newStream()
        try:
            writing = place.createOrOverwrite()
            try:
                reading.transferTo(writing)
            finally:
                writing.close()
        finally:
            reading.close()
        if place.toInputFile().getLength() != path.getLength():
            return "failed"
        self._io.deleteFile(source)
        return "moved"
