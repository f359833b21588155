"""What Iceberg itself makes of a commit whose answer is lost, without any daemon: one line of JSON
for each statement.

Argument: a new directory. Run by test_lost_answer.py in a process of its own, since Spark's JVM
ends with its process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog

from tests.postgres import end_postgres, start_postgres
from tests.torture.lake import CATALOG, Lake, WritersSpark
from tests.torture.proxy import Proxy
from tests.torture.reading import TableReading
from tests.torture.rows import Row, to_sql

APPENDS = 3
STATEMENTS = {
    "rewrite_data_files": (
        "CALL lake.system.rewrite_data_files(table => 'n.rewrite_data_files', options => "
        "map('rewrite-all', 'true'))"
    ),
    "rewrite_manifests": "CALL lake.system.rewrite_manifests('n.rewrite_manifests')",
}


def examine(
    name: str,
    statement: str,
    catalog: SqlCatalog,
    session: Any,
    proxy: Proxy,
) -> dict[str, object]:
    """Make a table, lose the answer to the statement's commit, look; then roll the table back, and
    look again.
    """
    table = f"{CATALOG}.n.{name}"
    session.sql(
        f"CREATE TABLE {table} (part STRING, writer STRING, sequence BIGINT, version BIGINT, "
        f"payload STRING)"
    )
    for number in range(APPENDS):
        session.sql(
            f"INSERT INTO {table} SELECT * FROM VALUES {to_sql([Row('a', number, 0, 'p0')])}"
        )
    before = catalog.load_table(f"n.{name}").current_snapshot()
    assert before is not None
    proxy.answers_to_lose = 1
    try:
        session.sql(statement)
    except Exception as error:  # noqa: BLE001 - what it says is part of what is looked at
        said = str(error)
    else:
        said = ""
    after = look(catalog, name)
    session.sql(f"CALL {CATALOG}.system.rollback_to_snapshot('n.{name}', {before.snapshot_id}L)")
    return {
        "name": name,
        "lost": proxy.lost_answers,
        "said": said,
        **after,
        "rolled_back": look(catalog, name),
    }


def look(catalog: SqlCatalog, name: str) -> dict[str, object]:
    """The rows that can be read, None when they cannot; and how many files of the kept snapshots
    are gone.
    """
    reading = TableReading.open(catalog.load_table(f"n.{name}").metadata_location)
    current = next(reading.lineage())
    try:
        rows = len(reading.read_rows(current))
    except OSError:
        return {"operation": current["summary"]["operation"], "rows": None}
    return {"operation": current["summary"]["operation"], "rows": rows}


@contextmanager
def open_behind_proxy(directory: Path) -> Iterator[tuple[Lake, SqlCatalog, Proxy]]:
    """A lake on a PostgreSQL of its own, its catalog as PyIceberg reads it without a proxy, and the
    proxy that others reach it through.
    """
    with ExitStack() as stack:
        server = start_postgres()
        stack.callback(end_postgres, server)
        proxy = Proxy(server.port)
        proxy.start()
        stack.callback(proxy.stop)
        (directory / "warehouse").mkdir()
        lake = Lake(server.create_database(), directory / "warehouse")
        catalog = lake.open_catalog()
        stack.callback(catalog.close)
        yield lake, catalog, proxy


def main() -> None:
    """Each statement on a table of its own."""
    directory = Path(sys.argv[1])
    (directory / "spark").mkdir()
    with (
        open_behind_proxy(directory) as (lake, catalog, proxy),
        WritersSpark(lake.at_port(proxy.port), directory / "spark") as spark,
    ):
        catalog.create_namespace("n")
        for name, statement in STATEMENTS.items():
            sys.stdout.write(
                json.dumps(examine(name, statement, catalog, spark.session(), proxy)) + "\n"
            )


if __name__ == "__main__":
    main()
