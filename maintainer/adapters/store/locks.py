"""Locks on several rows of `tables`."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from maintainer.adapters.store.database import MAX_SQL_VARIABLES
from maintainer.adapters.store.schema import tables


def lock_tables(connection: Connection, full_names: Sequence[str]) -> list[str]:
    """Lock the rows of these tables and return the names of the tables that exist.

    The rows are locked in the order of their names, so that two transactions never deadlock.
    """
    ordered = sorted(full_names)
    present: list[str] = []
    for start in range(0, len(ordered), MAX_SQL_VARIABLES):
        some = ordered[start : start + MAX_SQL_VARIABLES]
        present += connection.execute(
            select(tables.c.full_name)
            .where(tables.c.full_name.in_(some))
            .order_by(tables.c.full_name)
            .with_for_update()
        ).scalars()
    return present
