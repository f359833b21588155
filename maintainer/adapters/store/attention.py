"""The tables that need a person."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.job_schema import rule_histories
from maintainer.adapters.store.schema import tables
from maintainer.adapters.store.work import build_rule_history
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.plan import RuleHistory


def read_faulty_tables(connection: Connection, limit: int) -> Sequence[TableFault]:
    """Read the faults of the first `limit` faulty tables, sorted by name."""
    rows = connection.execute(
        select(tables.c.fault)
        .where(tables.c.fault.is_not(None))
        .order_by(tables.c.full_name)
        .limit(limit)
    )
    return tuple(documents.read(TableFault, row.fault) for row in rows)


def read_failing_rules(
    connection: Connection, least: int, limit: int
) -> Sequence[tuple[TableIdentifier, RuleHistory]]:
    """Read the rules with at least `least` failures in a row, sorted by table and rule."""
    joined = rule_histories.join(tables, tables.c.table_uuid == rule_histories.c.table_uuid)
    rows = connection.execute(
        select(tables.c.levels, rule_histories)
        .select_from(joined)
        .where(rule_histories.c.consecutive_failures >= least)
        .order_by(tables.c.full_name, rule_histories.c.rule)
        .limit(limit)
    )
    return tuple((documents.read_levels(row.levels), build_rule_history(row)) for row in rows)
