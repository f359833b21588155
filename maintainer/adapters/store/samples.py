"""The history of tables: one sample for equal healths in a row, thinned with age.

The history of an idle table does not grow, although the table is measured again and again. Thinning
keeps the last sample of each hour or day as it was measured, and computes no mean: each displayed
value was real at its time, ratios agree with counts, and all levels form one series.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Table,
    and_,
    bindparam,
    column,
    delete,
    exists,
    func,
    null,
    or_,
    select,
    type_coerce,
    update,
    values,
)

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import health_samples, store_info, tables
from maintainer.adapters.store.types import AnyRow, Instant, read_instant, write_instant
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store.tables import HISTORY_METRICS

ROWS_PER_WRITE = 2_000  # deleted in one transaction; meanwhile no other process can write to SQLite
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
# Hours or days that one run thins, each in a transaction. Hourly runs thin a year in a day.
WINDOWS_PER_PRUNE = 400
_COLUMNS = frozenset(health_samples.c.keys()) - {"table_uuid", "measured_at", "last_at", "more"}


def delete_in_parts(database: Database, table: Table, is_unwanted: ColumnElement[bool]) -> int:
    """Delete the matching rows and return their number.

    The rows are found before the lock and not tested again, so a row that matches once must match
    for ever.
    """
    keys = [_plain(key).label(key.name) for key in table.primary_key]
    deleted = 0
    while True:
        with database.read() as connection:
            found = connection.execute(select(*keys).where(is_unwanted).limit(ROWS_PER_WRITE)).all()
        if found:
            with database.write() as connection:
                _delete_found(connection, table, found, is_sqlite=database.is_sqlite)
        deleted += len(found)
        if len(found) < ROWS_PER_WRITE:
            return deleted


def _plain(key: Column[object]) -> ColumnElement[object]:
    """Return the column as the database stores it: an instant is a number."""
    return type_coerce(key, BigInteger) if isinstance(key.type, Instant) else key


def _delete_found(
    connection: Connection, table: Table, found: Sequence[AnyRow], *, is_sqlite: bool
) -> None:
    """Delete the rows: with one statement on PostgreSQL, which takes a quarter of the time.

    SQLite has no such statement. It deletes one row at a time, without a network.
    """
    keys = {key.name: _plain(key) for key in table.primary_key}
    if is_sqlite:
        one = delete(table).where(*(key == bindparam(f"key_{name}") for name, key in keys.items()))
        connection.execute(
            one, [{f"key_{name}": getattr(row, name) for name in keys} for row in found]
        )
        return
    wanted = values(*(column(name, key.type) for name, key in keys.items()), name="wanted").data(
        [tuple(row) for row in found]
    )
    connection.execute(delete(table).where(*(key == wanted.c[name] for name, key in keys.items())))


def record_sample(database: Database, connection: Connection, health: TableHealth) -> None:
    """Add a sample, or extend the last one if the health is equal to it.

    A health that arrives late, from within the last sample's time, adds nothing.
    """
    sample = write_sample(health)
    is_this_table = health_samples.c.table_uuid == health.table_uuid
    last = connection.execute(
        select(health_samples)
        .where(is_this_table)
        .order_by(health_samples.c.measured_at.desc())
        .limit(1)
    ).one_or_none()
    if (
        last is None
        or health.measured_at <= last.measured_at
        or (health.measured_at > (last.last_at or last.measured_at) and not _is_equal(last, sample))
    ):
        connection.execute(database.upsert(health_samples, {**sample, "last_at": None}))
    elif last.last_at is None or health.measured_at > last.last_at:
        is_last = and_(is_this_table, health_samples.c.measured_at == last.measured_at)
        connection.execute(update(health_samples).where(is_last).values(last_at=health.measured_at))


def _is_equal(row: AnyRow, sample: Mapping[str, Any]) -> bool:
    return all(
        row._mapping[name] == value  # noqa: SLF001 - SQLAlchemy's public name
        for name, value in sample.items()
        if name != "measured_at"
    )


def write_sample(health: TableHealth) -> dict[str, Any]:
    """Write a health as a row; metrics without a column of their own share the column `more`."""
    values = {metric: getattr(health, metric) for metric in HISTORY_METRICS}
    others = {
        metric: value
        for metric, value in values.items()
        if metric not in _COLUMNS and value is not None
    }
    known = {metric: value for metric, value in values.items() if metric in _COLUMNS}
    return {
        "table_uuid": health.table_uuid,
        "measured_at": health.measured_at,
        **known,
        "more": json.dumps(others) if others else None,
    }


def read_history(
    connection: Connection, table: TableIdentifier, metric: str, since: datetime, until: datetime
) -> Sequence[tuple[datetime, float | None]]:
    """Read the samples from since to until, inclusive.

    A sample of several healths gives two points: its beginning and its end, within these bounds.
    """
    if metric not in HISTORY_METRICS:
        raise InvalidValueError(
            f"metric {metric!r} has no history; these have one: {', '.join(HISTORY_METRICS)}"
        )
    at = health_samples.c.measured_at
    present_uuid = (
        select(tables.c.table_uuid).where(tables.c.full_name == str(table)).scalar_subquery()
    )
    value = health_samples.c[metric] if metric in _COLUMNS else null()
    samples = select(
        at, health_samples.c.last_at, value.label("value"), health_samples.c.more
    ).where(health_samples.c.table_uuid == present_uuid)
    lasting = connection.execute(samples.where(at < since).order_by(at.desc()).limit(1)).all()
    begun = connection.execute(samples.where(at.between(since, until)).order_by(at)).all()
    return tuple(_list_points((*lasting, *begun), metric, since, until))


def _list_points(
    rows: Iterable[AnyRow], metric: str, since: datetime, until: datetime
) -> Iterator[tuple[datetime, float | None]]:
    for measured_at, last_at, value, more in rows:
        known = _read_value(value, more, metric)
        if measured_at >= since:
            yield measured_at, known
        elif last_at is not None and last_at >= since:
            yield since, known
        if last_at is not None and max(measured_at, since) < min(last_at, until):
            yield min(last_at, until), known


def _read_value(value: float | None, more: str | None, metric: str) -> float | None:
    if value is None and more is not None:
        value = json.loads(more).get(metric)
    return None if value is None else float(value)


def prune_samples(database: Database, before: datetime) -> int:
    """Delete older samples, except the latest of each known table, in bounded transactions."""
    newer = health_samples.alias("newer")
    has_newer = exists().where(
        newer.c.table_uuid == health_samples.c.table_uuid,
        newer.c.measured_at > health_samples.c.measured_at,
    )
    is_known = exists().where(tables.c.table_uuid == health_samples.c.table_uuid)
    last_at = func.coalesce(health_samples.c.last_at, health_samples.c.measured_at)
    return delete_in_parts(
        database,
        health_samples,
        and_(health_samples.c.measured_at < before, last_at < before, or_(has_newer, ~is_known)),
    )


def thin_samples(database: Database, bucket: timedelta, before: datetime) -> int:
    """Keep only the last sample of each whole bucket before this time.

    A call begins where the last call ended and handles at most WINDOWS_PER_PRUNE buckets, with a
    bounded number of samples in a transaction.
    """
    key = thinned_key(bucket)
    thinned = 0
    for _ in range(WINDOWS_PER_PRUNE):
        with database.read() as connection:
            start = _next_bucket(connection, key, bucket)
        if start is None or start + bucket > before:
            break
        thinned += _thin_bucket(database, start, start + bucket)
        with database.write() as connection:
            connection.execute(
                database.upsert(
                    store_info, {"key": key, "value": str(write_instant(start + bucket))}
                )
            )
    return thinned


def thinned_key(bucket: timedelta) -> str:
    """Return the key of the fact that stores the end of the thinned time."""
    return f"thinned_to_{bucket // HOUR}h"


def _next_bucket(connection: Connection, key: str, bucket: timedelta) -> datetime | None:
    """Return the start of the first bucket with samples that is not thinned yet."""
    done = connection.execute(
        select(store_info.c.value).where(store_info.c.key == key)
    ).scalar_one_or_none()
    raw = type_coerce(health_samples.c.measured_at, BigInteger)
    first: int | None = connection.execute(
        select(func.min(raw)).where(raw >= int(done or 0))
    ).scalar_one()
    if first is None:
        return None
    size = bucket // timedelta(microseconds=1)
    return read_instant(first // size * size)


def _thin_bucket(database: Database, start: datetime, end: datetime) -> int:
    newer = health_samples.alias("newer")
    has_newer = exists().where(
        newer.c.table_uuid == health_samples.c.table_uuid,
        newer.c.measured_at > health_samples.c.measured_at,
        newer.c.measured_at < end,
    )
    is_within = and_(health_samples.c.measured_at >= start, health_samples.c.measured_at < end)
    return delete_in_parts(database, health_samples, and_(is_within, has_newer))
