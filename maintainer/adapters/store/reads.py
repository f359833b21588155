"""The reads of tables, counted for each day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, delete, func, select

from maintainer.adapters.store.database import Database, insert_on
from maintainer.adapters.store.schema import table_reads
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.reads import TableReads


def add_reads(
    database: Database, connection: Connection, day: str, reads: Mapping[TableIdentifier, int]
) -> None:
    """Add to the counts of a day, in a fixed order, so that two processes never deadlock."""
    for name, count in sorted((str(table), count) for table, count in reads.items()):
        values = {"full_name": name, "day": day, "reads": count}
        statement = insert_on(database.engine.dialect.name, table_reads).values(values)
        added = {"reads": table_reads.c.reads + statement.excluded.reads}
        connection.execute(
            statement.on_conflict_do_update(index_elements=["full_name", "day"], set_=added)
        )


def read_reads(connection: Connection, first_day: str, last_day: str) -> Sequence[TableReads]:
    """Read the sums of all tables."""
    sums = (
        select(
            table_reads.c.full_name,
            func.sum(table_reads.c.reads).label("reads"),
            func.min(table_reads.c.day).label("first_day"),
        )
        .where(table_reads.c.day >= first_day, table_reads.c.day <= last_day)
        .group_by(table_reads.c.full_name)
        .order_by(table_reads.c.full_name)
    )
    return tuple(
        TableReads(TableIdentifier.parse(row.full_name), int(row.reads), row.first_day)
        for row in connection.execute(sums)
    )


def read_reads_of(
    connection: Connection, table: TableIdentifier, first_day: str, last_day: str
) -> TableReads | None:
    """Read the sum of one table, and the first day with a read in its catalog.

    The search begins at the first day, so that it soon finds the answer.
    """
    within = (table_reads.c.day >= first_day) & (table_reads.c.day <= last_day)
    reads = connection.execute(
        select(func.sum(table_reads.c.reads)).where(within, table_reads.c.full_name == str(table))
    ).scalar()
    if reads is None:
        return None
    begins = connection.execute(
        select(table_reads.c.day)
        .where(within, table_reads.c.full_name.startswith(f"{table.catalog}.", autoescape=True))
        .order_by(table_reads.c.day)
        .limit(1)
    ).scalar_one()
    return TableReads(table, int(reads), begins)


def prune_reads(database: Database, connection: Connection, before: str) -> int:
    del database
    return connection.execute(delete(table_reads).where(table_reads.c.day < before)).rowcount
