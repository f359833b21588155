"""The figures of each table that are exported as metrics, and the tables that need a person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import Connection, false, func, not_, or_, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.job_schema import rule_histories
from maintainer.adapters.store.schema import BANDS, tables
from maintainer.adapters.store.work import build_rule_history
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.plan import RuleHistory
from maintainer.ports.store.figures import TableFigures


def read_figures(
    connection: Connection, limit: int, chosen: Sequence[str] = ()
) -> Sequence[TableFigures]:
    """Read the figures from the rows of `tables`, without the documents."""
    figures = (
        tables.c.average_file_size_bytes,
        tables.c.data_files,
        tables.c.manifests,
        tables.c.snapshots,
    )
    measured = (
        select(tables.c.full_name, tables.c.levels, tables.c.band, *figures)
        .where(tables.c.band.is_not(None))
        .limit(limit)
    )
    found = select(tables.c.band).where(tables.c.band.is_not(None)).limit(limit + 1).subquery()
    if connection.execute(select(func.count()).select_from(found)).scalar_one() <= limit:
        rows = connection.execute(measured.order_by(tables.c.full_name)).all()
    else:
        is_chosen = or_(
            false(), *(tables.c.search_name.like(_as_like(one), escape="\\") for one in chosen)
        )
        is_bad = tables.c.band >= BANDS.index(Band.DEGRADED)
        worst_first = (tables.c.need, tables.c.full_name)
        named = measured.where(is_chosen).order_by(tables.c.full_name)
        rows = connection.execute(named).all() if chosen else []
        worst = measured.where(is_bad, not_(is_chosen)).order_by(*worst_first)
        rows = [*rows, *connection.execute(worst)][:limit]
    return tuple(
        TableFigures(documents.read_levels(row.levels), BANDS[row.band], *row[3:]) for row in rows
    )


def _as_like(glob: str) -> str:
    """Convert a glob with * and ? into a pattern for LIKE."""
    escaped = re.sub(r"[\\%_]", r"\\\g<0>", glob.casefold())
    return escaped.replace("*", "%").replace("?", "_")


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
