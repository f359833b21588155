"""The writers: one thread each, that does what its script says, tries again as real ones do, and
notes what it was told.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Protocol

from pyiceberg.catalog.sql import SqlCatalog

from tests.torture.lake import CATALOG, Lake, WritersSpark
from tests.torture.ledger import Ledger, LostAttempt, Operation, Told
from tests.torture.rows import COLUMNS, Row, to_arrow, to_sql
from tests.torture.schedule import Engine, Kind, WriterScript

ATTEMPTS = 6  # of one operation
FIRST_BACKOFF_SECONDS = 0.2
LONGEST_BACKOFF_SECONDS = 5.0
RESOLVE_SECONDS = 30.0  # for finding out whether a commit took place whose answer was an error
TOKEN = "torture-token"  # noqa: S105 - the name of a property of the snapshot's summary
MAX_ERROR_CHARACTERS = 500


class Hand(Protocol):
    """What carries an operation out."""

    def carry_out(self, operation: Operation) -> None:
        """Commit it once; any exception leaves open whether it took place."""

    def close(self) -> None:
        """Give up what it holds."""


@dataclass(slots=True)
class PyIcebergHand:
    """Writes by PyIceberg: copy-on-write."""

    catalog: SqlCatalog

    def carry_out(self, operation: Operation) -> None:
        """One transaction."""
        table = self.catalog.load_table(operation.table)
        stamped = {TOKEN: operation.token}
        match Kind(operation.kind):
            case Kind.APPEND:
                table.append(to_arrow(list(operation.put)), snapshot_properties=stamped)
            case Kind.OVERWRITE:
                table.overwrite(
                    to_arrow(list(operation.put)),
                    overwrite_filter=f"part = '{operation.put[0].part}'",
                    snapshot_properties=stamped,
                )
            case Kind.DELETE:
                table.delete(select(operation), snapshot_properties=stamped)
            case Kind.MERGE:
                message = f"{operation.writer}: PyIceberg merges nothing here"
                raise NotImplementedError(message)

    def close(self) -> None:
        """Give up its connections."""
        self.catalog.close()


@dataclass(slots=True)
class SparkHand:
    """Writes by SQL in a session of its own: merge-on-read."""

    session: Any

    def carry_out(self, operation: Operation) -> None:
        """One statement."""
        self.session.conf.set(f"spark.sql.iceberg.snapshot-property.{TOKEN}", operation.token)
        self.session.sql(write_statement(operation))

    def close(self) -> None:
        """Nothing: the session ends with its Spark."""


def select(operation: Operation) -> str:
    """The condition that finds the rows that it drops."""
    return f"writer = '{operation.writer}' AND sequence IN ({', '.join(map(str, operation.drop))})"


def write_statement(operation: Operation) -> str:
    """The statement that carries the operation out."""
    table = f"{CATALOG}.{operation.table}"  # every text below is the run's own
    names = ", ".join(COLUMNS)
    match Kind(operation.kind):
        case Kind.APPEND:
            return (
                f"INSERT INTO {table} SELECT * FROM VALUES {to_sql(list(operation.put))} AS "
                f"given({names})"
            )
        case Kind.OVERWRITE:
            return (
                f"INSERT OVERWRITE {table} SELECT * FROM VALUES {to_sql(list(operation.put))} AS "
                f"given({names})"
            )
        case Kind.DELETE:
            # Spark drops whole files by their metadata alone, and leaves the token out of that
            # snapshot. A condition that Iceberg does not know keeps it from that.
            return f"DELETE FROM {table} WHERE {select(operation)} AND length(payload) > 0"
        case Kind.MERGE:
            gone = [Row(operation.writer, sequence, -1, "") for sequence in operation.drop]
            return (
                f"MERGE INTO {table} AS target USING (SELECT * FROM VALUES "
                f"{to_sql([*operation.put, *gone])} AS given({names})) AS change "
                "ON target.writer = change.writer AND target.sequence = change.sequence "
                "WHEN MATCHED AND change.version < 0 THEN DELETE "
                "WHEN MATCHED THEN UPDATE SET version = change.version, payload = change.payload "
                f"WHEN NOT MATCHED AND change.version >= 0 THEN INSERT ({names}) VALUES "
                f"({', '.join(f'change.{name}' for name in COLUMNS)})"
            )


@dataclass(slots=True)
class Writer:
    """One writer at work."""

    script: WriterScript
    hand: Hand
    ledger: Ledger
    resolve: Callable[[str, str], bool | None]  # table, token -> is it there; None: cannot be told
    stopping: threading.Event
    jitter: Random
    own: dict[int, Row] = field(default_factory=dict)

    def run(self) -> None:
        """Until it is to stop or knows no more what it has; an operation that is begun is
        finished.
        """
        try:
            while not self.stopping.wait(self.script.rest()) and self._do(
                self.script.next(self.own)
            ):
                pass
        finally:
            self.hand.close()

    def _do(self, operation: Operation) -> bool:
        """False when it does not know what it has and can do no more."""
        self.ledger.write(operation)
        done = self._carry_out(operation)
        self.ledger.write(done)
        if done.told is Told.COMMITTED:
            for sequence in done.drop:
                self.own.pop(sequence, None)
            self.own.update({row.sequence: row for row in done.put})
        return done.told is not Told.UNKNOWN

    def _carry_out(self, operation: Operation) -> Operation:
        for attempt in range(1, ATTEMPTS + 1):
            tried = replace(operation, attempts=attempt)
            began = time.time()
            try:
                self.hand.carry_out(operation)
            # Whatever a library throws, a writer must find out what came of its commit.
            except Exception as error:  # noqa: BLE001
                ended = time.time()
                operation = replace(
                    operation, error=f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARACTERS]
                )
                tried = replace(operation, attempts=attempt)
            else:
                return replace(tried, told=Told.COMMITTED)
            match self.resolve(operation.table, operation.token):
                case True:
                    return replace(tried, told=Told.COMMITTED, is_resolved=True)
                case None:
                    return replace(tried, told=Told.UNKNOWN)
                case False:
                    operation = replace(
                        operation,
                        lost=(*operation.lost, LostAttempt(began, ended, operation.error)),
                    )
                    backoff = min(
                        LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * float(2**attempt)
                    )
                    time.sleep(self.jitter.uniform(0.5, 1.0) * backoff)
        return replace(operation, attempts=ATTEMPTS, told=Told.FAILED)


@dataclass(slots=True)
class TokenSearch:
    """Looks for a token in the snapshots of the table's main branch."""

    lake: Lake

    def __call__(self, table: str, token: str) -> bool | None:
        """None when the table could not be read for RESOLVE_SECONDS."""
        deadline = time.monotonic() + RESOLVE_SECONDS
        while time.monotonic() < deadline:
            try:
                catalog = self.lake.open_catalog()
                try:
                    snapshots = catalog.load_table(table).metadata.snapshots
                finally:
                    catalog.close()
            except Exception:  # noqa: BLE001 - the catalog is away: ask again until the deadline
                time.sleep(FIRST_BACKOFF_SECONDS)
                continue
            return any(
                snapshot.summary is not None
                and snapshot.summary.additional_properties.get(TOKEN) == token
                for snapshot in snapshots
            )
        return None


@dataclass(slots=True)
class Writers:
    """All of them."""

    threads: list[threading.Thread]
    stopping: threading.Event

    def stop(self, timeout_seconds: float) -> None:
        """Let each finish what it does; TimeoutError when one does not."""
        self.stopping.set()
        deadline = time.monotonic() + timeout_seconds
        for thread in self.threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                message = f"{thread.name} did not stop within {timeout_seconds:g} s"
                raise TimeoutError(message)


def start_writers(
    scripts: list[WriterScript], lake: Lake, spark: WritersSpark, ledger: Ledger
) -> Writers:
    """One thread for each script."""
    stopping = threading.Event()
    threads = []
    for script in scripts:
        hand: Hand = (
            SparkHand(spark.session())
            if script.plan.engine is Engine.SPARK
            else PyIcebergHand(lake.open_catalog())
        )
        writer = Writer(script, hand, ledger, TokenSearch(lake), stopping, Random(script.plan.name))
        threads.append(threading.Thread(target=writer.run, name=script.plan.name, daemon=True))
    for thread in threads:
        thread.start()
    return Writers(threads, stopping)
