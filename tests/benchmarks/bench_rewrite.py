"""rewrite_data_files at 3,000 and 9,000 small files: through the daemon, and as the bare CALL with
default options in a fresh Spark session.

The published figures are 17 s and 29 s on HDFS (1.7x for three times the files), 81 s and 162 s on
MinIO (2.0x).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from maintainer.adapters.spark.jars import default_directory, find_jars
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.domain.errors import RunnerUnavailableError
from tests.benchmarks import bare_call
from tests.benchmarks.harness import Measured, less_is_better
from tests.end_to_end.programs import Daemon, serving, wait_for

FEW, MANY = 3_000, 9_000
GROWTH_REACH = 2.0
TARGET_BYTES = 128 * 1024**2
ROWS_PER_FILE = 400  # of 130 bytes that do not compress: 53 KB, as in the published experiment
TEXT_BYTES = 60  # written as twice as many hexadecimal digits
DEADLINE_SECONDS = 900
SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "text", StringType()))
QUICK_STEPS = {
    f"MAINTAINER_{step}__INTERVAL": "500ms" for step in ("PLAN", "SUBMIT", "WATCH", "REVIEW")
}


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds on the clock: from the request until it is done, and of the procedure alone."""

    whole: float
    call: float


def run(scale: float) -> list[Measured]:
    """At scale 1: 3,000 and 9,000 files of 53 KB, the same for both."""
    few, many = round(FEW * scale), round(MANY * scale)
    with TemporaryDirectory(prefix="bench-rewrite-") as scratch:
        root = Path(scratch)
        _make_tables(root, few, many)
        return compare(
            root, f"file://{root}/warehouse", few, many, ("published, MinIO", GROWTH_REACH)
        )


def compare(
    root: Path, warehouse: str, few: int, many: int, published: tuple[str, float]
) -> list[Measured]:
    """Rewrite the tables of both sizes, as the daemon and as a bare CALL do it; nothing where there
    is no Spark.
    """
    try:
        java, jars = find_java(None, os.environ), find_jars(default_directory())
    except RunnerUnavailableError as error:
        sys.stderr.write(f"bench: no Spark: {error}\n")
        return []
    environment = {**os.environ, "JAVA_HOME": str(prepare_home(java, root))}
    bare = {
        files: _call_bare(root, warehouse, f"bare_{files}", ",".join(map(str, jars)), environment)
        for files in (few, many)
    }
    ours = {files: _ask_daemon(root, warehouse, f"ours_{files}") for files in (few, many)}
    return [
        less_is_better(
            f"rewrite {few:,} files, from request to proof",
            ours[few].whole,
            bare[few].whole,
            "fresh session and CALL",
            "s",
        ),
        less_is_better(
            f"rewrite {many:,} files, from request to proof",
            ours[many].whole,
            bare[many].whole,
            "fresh session and CALL",
            "s",
            reach=1.0,
        ),
        less_is_better(
            f"the CALL alone, {few:,} files",
            ours[few].call,
            bare[few].call,
            "CALL with default options",
            "s",
        ),
        less_is_better(
            f"the CALL alone, {many:,} files",
            ours[many].call,
            bare[many].call,
            "CALL with default options",
            "s",
        ),
        less_is_better(
            "growth for three times the files",
            ours[many].whole / ours[few].whole,
            published[1],
            published[0],
            "x",
            reach=1.0,
        ),
        Measured(
            "growth of the bare CALL", bare[many].whole / bare[few].whole, None, "", "x", None
        ),
    ]


def _make_tables(root: Path, few: int, many: int) -> None:
    """Each table has its own links to the same files, since a rewrite's old files may be deleted
    one day.
    """
    catalog = SqlCatalog(
        "lake", uri=f"sqlite:///{root}/catalog.db", warehouse=f"file://{root}/warehouse"
    )
    catalog.create_namespace("db")
    files = make_files(root, many)
    for count in (few, many):
        for owner in ("bare", "ours"):
            table = catalog.create_table(
                f"db.{owner}_{count}",
                SCHEMA,
                properties={"write.target-file-size-bytes": str(TARGET_BYTES)},
            )
            folder = root / table.name()[-1]
            folder.mkdir()
            for number in range(count):
                os.link(files / f"{number}.parquet", folder / f"{number}.parquet")
            table.add_files([f"file://{folder}/{number}.parquet" for number in range(count)])
    catalog.close()


def make_files(root: Path, count: int) -> Path:
    """The directory in which they lie, numbered."""
    files = root / "files"
    files.mkdir()
    random = Random(0)
    for number in range(count):
        texts = [random.randbytes(TEXT_BYTES).hex() for _ in range(ROWS_PER_FILE)]
        ids = pa.array(range(number * ROWS_PER_FILE, (number + 1) * ROWS_PER_FILE), pa.int64())
        pq.write_table(pa.table({"id": ids, "text": texts}), files / f"{number}.parquet")
    return files


def _call_bare(
    root: Path, warehouse: str, name: str, jars: str, environment: dict[str, str]
) -> Taken:
    started = time.monotonic()
    command = [
        sys.executable,
        bare_call.__file__,
        str(root),
        jars,
        f"CALL lake.system.rewrite_data_files(table => 'db.{name}')",
        warehouse,
    ]
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return Taken(time.monotonic() - started, float(json.loads(done.stdout)["seconds"]))


def _ask_daemon(root: Path, warehouse: str, name: str) -> Taken:
    """A daemon that has just started, without a Spark: the first job starts it."""
    home = root / f"home-{name}"
    (home / "policies").mkdir(parents=True)
    (home / "policies" / "default.yaml").write_text(
        'tables: "*"\nmode: observe\nrules: {rewrite_data_files: {}}\n'
    )
    lake = f"{{type: sql, uri: 'sqlite:///{root}/catalog.db', warehouse: '{warehouse}'}}"
    (home / "maintainer.yaml").write_text(
        f"catalogs: {{lake: {lake}}}\nstore: sqlite:///store.db\n"
    )
    with serving(home, **QUICK_STEPS) as daemon:
        wait_for(
            lambda: any(
                one["table"] == f"lake.db.{name}" for one in daemon.get("/api/v1/tables")["items"]
            ),
            DEADLINE_SECONDS,
            "the first scan",
        )
        started = time.monotonic()
        daemon.post(f"/api/v1/tables/lake/db/{name}/run", {"rules": ["rewrite_data_files"]})
        job = wait_for(lambda: _finished(daemon), DEADLINE_SECONDS, "the rewrite")
        whole = time.monotonic() - started
        assert job["state"] == "succeeded", job["failure_message"]
        daemon.stop()
    return Taken(whole, float(job["effect"]["duration_seconds"]))


def _finished(daemon: Daemon) -> Any | None:
    jobs = daemon.get("/api/v1/jobs")["items"]
    return next((job for job in jobs if job["state"] in {"succeeded", "failed", "cancelled"}), None)
