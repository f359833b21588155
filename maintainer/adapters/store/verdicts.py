"""The history of verdicts: a row from when until when, kept only when something changed but figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, delete, exists, func, insert, or_, select, tuple_, update

from maintainer.adapters.store import documents
from maintainer.adapters.store.paging import Position, check_limit, read_cursor, write_cursor
from maintainer.adapters.store.schema import tables, verdicts
from maintainer.adapters.store.types import read_instant, write_instant
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import Plan
from maintainer.domain.verdict import RuleVerdict
from maintainer.ports.store import Page

_ORDER = "verdicts:at:desc"


def record_verdicts(connection: Connection, plan: Plan, made: Sequence[RuleVerdict]) -> None:
    """Add those that differ from the standing ones, which end; a verdict that stood for no time at all leaves no row."""
    if not made:
        return
    name = str(plan.table)
    is_standing = and_(verdicts.c.full_name == name, verdicts.c.until.is_(None))
    columns = (verdicts.c.rule, verdicts.c.table_uuid, verdicts.c.code, verdicts.c.key)
    standing = {row.rule: (row.table_uuid, row.code, row.key) for row in connection.execute(select(*columns).where(is_standing))}
    fresh = {verdict.rule.value: verdict for verdict in made if standing.get(verdict.rule.value) != (plan.table_uuid, verdict.code, verdict.key)}
    ended = sorted(standing.keys() & fresh.keys() | standing.keys() - {verdict.rule.value for verdict in made})
    if ended:
        connection.execute(update(verdicts).where(is_standing, verdicts.c.rule.in_(ended)).values(until=plan.made_at))
    if fresh:
        is_replaced = and_(verdicts.c.full_name == name, verdicts.c.at.in_({verdict.at for verdict in fresh.values()}), verdicts.c.rule.in_(fresh))
        connection.execute(delete(verdicts).where(is_replaced))
        connection.execute(insert(verdicts), [_write_row(plan, verdict) for verdict in fresh.values()])


def _write_row(plan: Plan, verdict: RuleVerdict) -> dict[str, Any]:
    return {
        "full_name": str(plan.table),
        "at": verdict.at,
        "rule": verdict.rule.value,
        "table_uuid": plan.table_uuid,
        "until": None,
        "code": verdict.code,
        "key": verdict.key,
        "document": documents.write_verdict(verdict),
    }


def read_verdicts(connection: Connection, table: TableIdentifier, limit: int, cursor: str | None) -> Page[RuleVerdict]:
    """By time, newest first; verdicts of one time by rule, backwards."""
    check_limit(limit)
    after = read_cursor(cursor, _ORDER, int)
    present_uuid = select(tables.c.table_uuid).where(tables.c.full_name == str(table)).scalar_subquery()
    is_wanted = and_(verdicts.c.full_name == str(table), verdicts.c.table_uuid == present_uuid)
    total = int(connection.execute(select(func.count()).select_from(verdicts).where(is_wanted)).scalar_one())
    page = select(verdicts.c.document, verdicts.c.until, verdicts.c.at, verdicts.c.rule).where(is_wanted)
    if after is not None:
        page = page.where(tuple_(verdicts.c.at, verdicts.c.rule) < (read_instant(int(after.value or 0)), after.row_id))
    rows = connection.execute(page.order_by(verdicts.c.at.desc(), verdicts.c.rule.desc()).limit(limit + 1)).all()
    shown = rows[:limit]
    following = write_cursor(_ORDER, Position(write_instant(shown[-1].at), shown[-1].rule)) if len(rows) > limit else None
    return Page(tuple(replace(documents.read_verdict(row.document), until=row.until) for row in shown), following, total)


def prune_verdicts(connection: Connection, before: datetime) -> int:
    """Delete those that ended before, and those of tables that are gone."""
    is_known = exists().where(tables.c.full_name == verdicts.c.full_name, tables.c.table_uuid == verdicts.c.table_uuid)
    is_left_over = and_(verdicts.c.until.is_(None), verdicts.c.at < before, ~is_known)
    return connection.execute(delete(verdicts).where(or_(verdicts.c.until < before, is_left_over))).rowcount
