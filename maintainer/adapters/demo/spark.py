"""Starts the only Spark of the build in a child process, and waits for it for a bounded time."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Self

import pyarrow as pa
from pyarrow import parquet

from maintainer.adapters.demo import rows
from maintainer.domain.errors import RunnerUnavailableError

MERGE_SECONDS = 600  # for the whole child process, which usually takes 40 s on two idle cores
ACCOUNTS = 6_000
ACCOUNT_BATCHES = 24
BALANCE_BATCHES = 10
CHANGES_PER_BATCH = 400
_LOG_LINES_SHOWN = 5
_SCRIPT = Path(__file__).with_name("merge.py")

_CHANGES = pa.schema(
    [
        ("batch", pa.int32()),
        ("operation", pa.string()),
        ("account_id", pa.int64()),
        ("region", pa.string()),
        ("state", pa.string()),
        ("balance", pa.decimal128(12, 2)),
        ("changed_at", pa.timestamp("us", tz="UTC")),
    ]
)


@dataclass(frozen=True, slots=True)
class SparkLaunch:
    """What Spark needs to start.

    A Python with pyspark, a Java home, the paths of Iceberg's runtime and of the SQLite driver, and
    more environment variables.
    """

    python: str
    java_home: str
    jars: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def stage_changes(path: Path) -> None:
    """Write the accounts and every batch of changes to one Parquet file for Spark."""
    batches = [rows.make_table(_CHANGES, rows.initial_accounts(ACCOUNTS))]
    batches += [
        rows.make_table(_CHANGES, rows.account_changes(batch, CHANGES_PER_BATCH, ACCOUNTS))
        for batch in range(1, ACCOUNT_BATCHES + 1)
    ]
    parquet.write_table(pa.concat_tables(batches), path, compression="zstd")


class MergeProcess:
    """The child process that runs merge.py; the context manager always ends it."""

    def __init__(
        self, launch: SparkLaunch, catalog_file: Path, warehouse: Path, staging: Path
    ) -> None:
        self._log = staging / "spark.log"
        self._was_late = False
        temporary = staging / "spark"
        temporary.mkdir()
        order = {
            "configuration": _configuration(launch, catalog_file, warehouse, temporary),
            "changes": f"file://{staging / 'changes.parquet'}",
            "tables": [
                {
                    "name": "lake.cdc.accounts",
                    "label": "cdc.accounts",
                    "format_version": 2,
                    "batches": ACCOUNT_BATCHES,
                },
                {
                    "name": "lake.cdc.balances",
                    "label": "cdc.balances",
                    "format_version": 3,
                    "batches": BALANCE_BATCHES,
                },
            ],
        }
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("SPARK_", "PYSPARK_"))
        }  # without settings for another Spark
        environment = {
            **inherited,
            **launch.environment,
            "JAVA_HOME": launch.java_home,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": launch.python,
        }
        with self._log.open("wb") as log:
            try:
                self._process = subprocess.Popen(  # noqa: S603 - a script of this package, no shell
                    [launch.python, str(_SCRIPT)],
                    cwd=temporary,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
            except OSError as error:
                raise RunnerUnavailableError(
                    f"Spark for the demo lake cannot be started with {launch.python}: "
                    f"{error.strerror}"
                ) from error
        self._timer = Timer(MERGE_SECONDS, self._give_up)
        self._timer.daemon = True
        self._timer.start()
        if self._process.stdin:
            with suppress(BrokenPipeError):  # the log of a child that ended has the reason
                self._process.stdin.write(json.dumps(order) + "\n")
                self._process.stdin.flush()

    def wait(self, say: Callable[[str], None]) -> None:
        """Report the child's lines until it ends.

        RunnerUnavailableError with the end of its log if it fails or takes too long.
        """
        for line in self._process.stdout or ():
            say(line.rstrip("\n"))
        self._process.wait()
        self.raise_if_failed()

    def raise_if_failed(self) -> None:
        """Raise RunnerUnavailableError if the child has already failed; does not wait."""
        code = self._process.poll()
        if code:
            why = (
                f"took more than {MERGE_SECONDS} s"
                if self._was_late
                else f"ended with exit code {code}"
            )
            raise RunnerUnavailableError(
                f"Spark for the demo lake {why}; the end of its log: {_end_of(self._log)}"
            )

    def _give_up(self) -> None:
        self._was_late = True
        self._process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()


def _end_of(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return " | ".join(lines[-_LOG_LINES_SHOWN:]) or "it is empty"


def _configuration(
    launch: SparkLaunch, catalog_file: Path, warehouse: Path, temporary: Path
) -> dict[str, str]:
    catalog = "spark.sql.catalog.lake"
    return {
        "spark.master": "local[2]",
        "spark.app.name": "demo-lake",
        "spark.jars": ",".join(launch.jars),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": (
            f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={temporary}"
        ),
        "spark.local.dir": str(temporary),
        "spark.sql.warehouse.dir": str(temporary / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        catalog: "org.apache.iceberg.spark.SparkCatalog",
        f"{catalog}.type": "jdbc",
        f"{catalog}.uri": f"jdbc:sqlite:{catalog_file}",
        f"{catalog}.jdbc.schema-version": "V1",
        f"{catalog}.warehouse": f"file://{warehouse}",
        f"{catalog}.cache-enabled": "false",
    }
