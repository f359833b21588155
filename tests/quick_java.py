"""Options for the Java of the tests' Sparks, which live for a minute, and the archive they share.

``python -m tests.quick_java`` makes the archive: the classes that a Spark loads at its start, as
Java holds them in memory. A Spark that maps it takes about half the CPU for its start and its first
job. Without an archive, and with one of another Spark or Java, Java loads the classes as always.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from maintainer.adapters.spark.jars import default_directory, spark_home
from maintainer.adapters.spark.java import find_java, prepare_home
from maintainer.adapters.spark.launcher.process import driver_environment

ARCHIVE = Path(sys.prefix) / "share" / "iceberg-maintainer" / "spark.jsa"
# The second compiler costs a Spark that lives for a minute more than it saves.
ONE_COMPILER = "-XX:TieredStopAtLevel=1"
SERIAL = f"-XX:+UseSerialGC {ONE_COMPILER}"
LIMIT_SECONDS = 900
SCRIPT = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
for statement in (
    "CREATE TABLE l.d.t (id INT, part INT) USING iceberg PARTITIONED BY (part) TBLPROPERTIES "
    "('write.delete.mode' = 'merge-on-read')",
    "INSERT INTO l.d.t SELECT id, id % 3 FROM range(300)",
    "INSERT INTO l.d.t SELECT id, id % 3 FROM range(300, 600)",
    "DELETE FROM l.d.t WHERE id = 7",
    "MERGE INTO l.d.t USING (SELECT 8 AS id) AS s ON l.d.t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET part = 9",
    "CALL l.system.rewrite_data_files(table => 'l.d.t', options => map('rewrite-all', 'true'))",
    "CALL l.system.rewrite_manifests(table => 'l.d.t')",
    "CALL l.system.expire_snapshots(table => 'l.d.t', retain_last => 1)",
    "SELECT count(*) FROM l.d.t.files",
):
    spark.sql(statement).collect()
spark.stop()
"""


def find_archive(archive: Path = ARCHIVE) -> str:
    """The options that use the archive; none without one. Java says nothing if it does not fit."""
    is_usable = archive.is_file() and " " not in str(archive)
    return f"-XX:SharedArchiveFile={archive} -Xlog:disable" if is_usable else ""


QUICK_JAVA = f"{SERIAL} {find_archive()}".strip()
QUICK_SPARK = {"spark.driver.extraJavaOptions": QUICK_JAVA}


def run_spark(options: str, work: Path) -> subprocess.CompletedProcess[str]:
    """Run SCRIPT by a Spark whose Java has further options."""
    (work / "script.py").write_text(SCRIPT, encoding="utf-8")
    catalog = "spark.sql.catalog.l"
    conf = {
        "spark.ui.enabled": "false",
        "spark.jars": ",".join(map(str, sorted(default_directory().glob("*.jar")))),
        "spark.local.dir": str(work),
        "spark.sql.warehouse.dir": str(work),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "hadoop",
        f"{catalog}.warehouse": f"{work}/warehouse",
    }
    return subprocess.run(
        [
            str(spark_home() / "bin" / "spark-submit"),
            *("--master", "local[2]"),
            *(part for key, value in conf.items() for part in ("--conf", f"{key}={value}")),
            *("--driver-java-options", f"{SERIAL} {options}"),
            str(work / "script.py"),
        ],
        env=driver_environment(prepare_home(find_java(None, os.environ), work), "127.0.0.1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
    )


def make_archive(
    archive: Path = ARCHIVE,
    run: Callable[[str, Path], subprocess.CompletedProcess[str]] = run_spark,
) -> str:
    """Run a Spark that leaves its classes in the archive; returns why there is none, or nothing."""
    with TemporaryDirectory() as name:
        made = Path(name) / archive.name
        done = run(f"-XX:ArchiveClassesAtExit={made}", Path(name))
        if done.returncode != 0 or not made.is_file():
            return f"Spark ended with {done.returncode}: {done.stdout[-2000:]}"
        archive.parent.mkdir(parents=True, exist_ok=True)
        partial = archive.with_suffix(".part")
        shutil.copyfile(made, partial)
        partial.replace(archive)
    return ""


def main() -> int:
    failure = make_archive()
    sys.stderr.write(
        f"tests: each Spark loads its classes by itself: {failure}\n" if failure else ""
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
