"""The figures of each table that are exported as metrics."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import Connection, false, func, not_, or_, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.schema import BANDS, tables
from maintainer.domain.health import Band
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
