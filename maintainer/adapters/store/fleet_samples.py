"""The history of the sums of the fleet, of each catalog and of each namespace.

A sample is the last sums of a minute, or, for a namespace, of an hour. Equal sums in a row are one
sample. Of older samples, only the last of each hour is kept, and later only the last of each day.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, ColumnElement, Connection, and_, exists, select, tuple_
from sqlalchemy import type_coerce as read_as

from maintainer.adapters.store.database import Database
from maintainer.adapters.store.samples import delete_in_parts
from maintainer.adapters.store.schema import fleet_samples, last_fleet_samples
from maintainer.adapters.store.sums import Scope, Sums, build_counters, write_figures
from maintainer.ports.store.figures import SLOT, SLOT_OF_NAMESPACES, FleetSample, floor_to

_FLEET, _CATALOG, _NAMESPACE = range(3)  # levels
_KEY = ("level", "catalog", "namespace")
_NOTHING = "{}"
_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)

_Key = tuple[int, str, str]


def record_fleet(database: Database, connection: Connection, sums: Sums, at: datetime) -> None:
    """Record the sums that differ from the last sample, in a fixed order against deadlocks."""
    last: dict[_Key, str] = {
        (row.level, row.catalog, row.namespace): row.figures
        for row in connection.execute(select(last_fleet_samples))
    }
    wanted = {
        _key_of(scope): json.dumps(write_figures(counters), sort_keys=True)
        for scope, counters in sums.by_scope.items()
    }
    for key in sorted({*last, *wanted}):
        figures = wanted.get(key, _NOTHING)
        if figures == last.get(key, _NOTHING):
            continue
        row = {**dict(zip(_KEY, key, strict=True)), "figures": figures}
        slot = SLOT_OF_NAMESPACES if key[0] == _NAMESPACE else SLOT
        sample = {**row, "measured_at": floor_to(slot, at)}
        connection.execute(database.upsert(fleet_samples, sample))
        connection.execute(database.upsert(last_fleet_samples, row))


def _key_of(scope: Scope) -> _Key:
    catalog, namespace = scope
    if catalog is None:
        return _FLEET, "", ""
    return (_CATALOG, catalog, "") if namespace is None else (_NAMESPACE, catalog, namespace)


def read_fleet_history(
    connection: Connection,
    catalog: str | None,
    namespace: str | None,
    since: datetime,
    until: datetime,
) -> Sequence[FleetSample]:
    """Read the samples from since to until; the sample that is valid at since gets that time."""
    at = fleet_samples.c.measured_at
    is_this = tuple_(*(fleet_samples.c[name] for name in _KEY)) == _key_of((catalog, namespace))
    of_this = select(at, fleet_samples.c.figures).where(is_this)
    valid = connection.execute(of_this.where(at < since).order_by(at.desc()).limit(1)).all()
    later = connection.execute(of_this.where(at.between(since, until)).order_by(at)).all()
    rows = [*later] if later and later[0].measured_at == since else [*valid, *later]
    return tuple(
        FleetSample(max(row.measured_at, since), build_counters(json.loads(row.figures)))
        for row in rows
    )


def prune_fleet_samples(
    database: Database,
    before: datetime,
    hourly_before: datetime | None,
    daily_before: datetime | None,
) -> int:
    """Delete old samples, and those with a later sample in their bucket.

    The latest sample of each key is kept.
    """
    at = fleet_samples.c.measured_at
    is_namespace = fleet_samples.c.level == _NAMESPACE
    unwanted = [and_(at < before, _has_newer())]
    if hourly_before is not None:
        whole = floor_to(_DAY, hourly_before)
        unwanted += [
            and_(at < floor_to(_HOUR, hourly_before), ~is_namespace, _has_newer(_HOUR)),
            and_(at < whole, is_namespace, _has_newer(_DAY)),
        ]
    if daily_before is not None:
        unwanted.append(and_(at < floor_to(_DAY, daily_before), _has_newer(_DAY)))
    return sum(delete_in_parts(database, fleet_samples, one) for one in unwanted)


def _has_newer(bucket: timedelta | None = None) -> ColumnElement[bool]:
    """Match the samples whose key has a newer sample, in the same bucket if a bucket is given."""
    newer = fleet_samples.alias("newer")
    raw, newer_raw = (read_as(one.c.measured_at, BigInteger) for one in (fleet_samples, newer))
    filters = [newer.c[name] == fleet_samples.c[name] for name in _KEY] + [newer_raw > raw]
    if bucket is not None:
        size = bucket // timedelta(microseconds=1)
        filters.append(newer_raw < raw - raw % size + size)
    return exists().where(*filters)
