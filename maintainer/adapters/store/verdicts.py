"""The history of verdicts. A verdict that differs only in figures adds no row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Connection,
    and_,
    delete,
    distinct,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from maintainer.adapters.store import documents
from maintainer.adapters.store.job_schema import candidates
from maintainer.adapters.store.paging import read_newest
from maintainer.adapters.store.schema import IS_OBSERVED, tables, verdicts
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.plan import (
    PLANNED,
    Plan,
    RuleVerdict,
    StandingVerdict,
    Unenforced,
    key_while_waiting,
    stands_on,
)
from maintainer.domain.policy import RuleName
from maintainer.domain.rules import RULES
from maintainer.ports.store.pages import Page

_ORDER = "verdicts:at:desc"
_IS_STANDING = verdicts.c.until.is_(None)
_STANDING = (verdicts.c.rule, verdicts.c.table_uuid, verdicts.c.code, verdicts.c.key)


def record_verdicts(connection: Connection, plan: Plan, made: Sequence[RuleVerdict]) -> None:
    """End the current verdicts that differ from the new verdicts, and add the new verdicts.

    A verdict that was replaced at the time of its beginning leaves no row.
    """
    if not made:
        return
    name = str(plan.table)
    rows = connection.execute(select(*_STANDING).where(verdicts.c.full_name == name, _IS_STANDING))
    standing = {
        rule: StandingVerdict(plan.table, uuid, RuleName(rule), code, key)
        for rule, uuid, code, key in rows
    }
    kept = {
        verdict.rule.value
        for verdict in made
        if verdict.rule in standing and stands_on(standing[verdict.rule], plan.table_uuid, verdict)
    }
    ended = sorted(standing.keys() - kept)
    if ended:
        connection.execute(
            update(verdicts)
            .where(verdicts.c.full_name == name, _IS_STANDING, verdicts.c.rule.in_(ended))
            .values(until=plan.made_at)
        )
    fresh = [verdict for verdict in made if verdict.rule not in kept]
    if fresh:
        _add(connection, plan.table, plan.table_uuid, fresh)


def _add(
    connection: Connection, table: TableIdentifier, table_uuid: str, fresh: Sequence[RuleVerdict]
) -> None:
    name = str(table)
    at, rules = {verdict.at for verdict in fresh}, {verdict.rule.value for verdict in fresh}
    connection.execute(
        delete(verdicts).where(
            verdicts.c.full_name == name, verdicts.c.at.in_(at), verdicts.c.rule.in_(rules)
        )
    )
    connection.execute(
        insert(verdicts), [_write_row(name, table_uuid, verdict) for verdict in fresh]
    )


def _write_row(name: str, table_uuid: str, verdict: RuleVerdict) -> dict[str, Any]:
    return {
        "full_name": name,
        "at": verdict.at,
        "rule": verdict.rule.value,
        "table_uuid": table_uuid,
        "until": None,
        "code": verdict.code,
        "key": verdict.key,
        "document": documents.write(verdict),
    }


def read_standing_verdicts(connection: Connection) -> Sequence[StandingVerdict]:
    """Read the current verdicts of tables with candidates."""
    wanted = select(candidates.c.full_name).distinct().subquery()
    is_planned = or_(
        verdicts.c.code == PLANNED,
        verdicts.c.key.contains(key_while_waiting("", ""), autoescape=True),
    )
    rows = connection.execute(
        select(verdicts.c.full_name, *_STANDING)
        .select_from(wanted.join(verdicts, verdicts.c.full_name == wanted.c.full_name))
        .where(_IS_STANDING, is_planned)
        .order_by(verdicts.c.full_name, verdicts.c.rule)
    )
    return tuple(
        StandingVerdict(TableIdentifier.parse(name), uuid, RuleName(rule), code, key)
        for name, rule, uuid, code, key in rows
    )


def replace_verdict(connection: Connection, standing: StandingVerdict, fresh: RuleVerdict) -> bool:
    """Replace a current verdict; False if it is no longer current."""
    name = str(standing.table)
    # record_plan takes the same lock first, so two transactions never change a table's verdicts at
    # the same time.
    connection.execute(
        select(tables.c.full_name).where(tables.c.full_name == name).with_for_update(key_share=True)
    )
    is_it = and_(
        verdicts.c.full_name == name,
        verdicts.c.rule == standing.rule.value,
        verdicts.c.table_uuid == standing.table_uuid,
    )
    is_same = and_(
        is_it, _IS_STANDING, verdicts.c.code == standing.code, verdicts.c.key == standing.key
    )
    if connection.execute(update(verdicts).where(is_same).values(until=fresh.at)).rowcount == 0:
        return False
    _add(connection, standing.table, standing.table_uuid, [fresh])
    return True


def read_verdicts(
    connection: Connection, table: TableIdentifier, limit: int = 100, cursor: str | None = None
) -> Page[RuleVerdict]:
    """Read a page, newest first; verdicts of the same time are sorted by rule, descending."""
    present_uuid = (
        select(tables.c.table_uuid).where(tables.c.full_name == str(table)).scalar_subquery()
    )
    rows = select(verdicts.c.document, verdicts.c.until).where(
        verdicts.c.full_name == str(table), verdicts.c.table_uuid == present_uuid
    )
    newest = (verdicts.c.at, verdicts.c.rule)
    return read_newest(
        connection,
        rows,
        newest,
        _ORDER,
        limit,
        cursor,
        lambda row: replace(documents.read(RuleVerdict, row.document), until=row.until),
    )


def prune_verdicts(connection: Connection, before: datetime) -> int:
    """Delete verdicts that ended before this time, and verdicts of tables that no longer exist."""
    is_known = exists().where(
        tables.c.full_name == verdicts.c.full_name, tables.c.table_uuid == verdicts.c.table_uuid
    )
    is_left_over = and_(verdicts.c.until.is_(None), verdicts.c.at < before, ~is_known)
    return connection.execute(
        delete(verdicts).where(or_(verdicts.c.until < before, is_left_over))
    ).rowcount


def read_unenforced(connection: Connection, limit: int) -> Unenforced:
    """Sum up the current verdicts with the code `observe_only` on known tables."""
    known = verdicts.join(
        tables,
        and_(
            tables.c.full_name == verdicts.c.full_name,
            tables.c.table_uuid == verdicts.c.table_uuid,
        ),
    )
    number = connection.execute(
        select(func.count(distinct(verdicts.c.full_name))).select_from(known).where(IS_OBSERVED)
    ).scalar_one()
    if not number:
        return Unenforced(0, 0, 0.0)
    rows = connection.execute(
        select(verdicts.c.document)
        .select_from(known)
        .where(IS_OBSERVED)
        .order_by(verdicts.c.full_name, verdicts.c.rule)
        .limit(limit + 1)
    ).all()
    found = [documents.read(RuleVerdict, row.document) for row in rows[:limit]]
    return Unenforced(
        tables=number,
        files_removed=sum(
            one.estimate.items_removed
            for one in found
            if one.estimate is not None and RULES[one.rule].replaces_data_files
        ),
        gb_hours=sum(one.cost.gb_hours for one in found if one.cost is not None),
        is_whole=len(rows) <= limit,
    )
