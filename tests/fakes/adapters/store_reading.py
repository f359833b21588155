"""What the store in memory makes of its records: values, sums and pages."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any, TypeVar

from maintainer.domain.access import is_within
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.health import Band, TableHealth
from maintainer.ports.store.figures import Counters, TableFigures
from maintainer.ports.store.pages import MAX_PAGE, Page
from maintainer.ports.store.tables import TableQuery, TableRecord

T = TypeVar("T")


ZEROS: dict[str, Any] = {"name": "", "band": (0, 0.0), "measured_at": datetime(1, 1, 1, tzinfo=UTC)}


def check_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        message = f"limit {limit} is outside 1..{MAX_PAGE}"
        raise InvalidValueError(message)


def summarise(record: TableRecord, *, with_plan: bool = False) -> TableRecord:
    health = (
        None
        if record.health is None
        else replace(record.health, partitions=(), history=(), refs=())
    )
    return replace(record, health=health, plan=record.plan if with_plan else None)


def sum_records(records: Iterable[TableRecord]) -> Counters:
    chosen = list(records)
    healths = [record.health for record in chosen if record.health is not None]
    bands = Counter(record.grade.band for record in chosen if record.grade is not None)
    return Counters(
        tables=len(chosen),
        measured_tables=len(healths),
        faulty_tables=sum(record.fault is not None for record in chosen),
        paused_tables=sum(record.pause is not None for record in chosen),
        data_files=sum(health.data_files or 0 for health in healths),
        data_bytes=sum(health.data_bytes or 0 for health in healths),
        small_files=sum(health.small_files or 0 for health in healths),
        delete_files=sum(delete_files(health) or 0 for health in healths),
        manifests=sum(health.manifests or 0 for health in healths),
        snapshots=sum(health.snapshots for health in healths),
        live_data_files=sum(
            health.data_files or 0
            for health in healths
            if None not in {health.data_files, health.kept_data_files}
        ),
        kept_data_files=sum(
            health.kept_data_files or 0 for health in healths if health.data_files is not None
        ),
        bands={band: bands[band] for band in Band},
    )


def list_figures(
    records: Iterable[TableRecord], limit: int, chosen: Sequence[str]
) -> Sequence[TableFigures]:
    measured = [record for record in records if record.health is not None]
    measured.sort(key=lambda record: str(record.table))
    if len(measured) > limit:
        measured = _choose(measured, chosen)[:limit]
    return tuple(
        TableFigures(
            record.table,
            record.grade.band,
            record.health.average_file_size_bytes,
            record.health.data_files,
            record.health.manifests,
            record.health.snapshots,
        )
        for record in measured
        if record.health is not None and record.grade is not None
    )


def _choose(records: Sequence[TableRecord], chosen: Sequence[str]) -> list[TableRecord]:
    """The chosen ones, then the worst ones; the benefit of maintenance is left out here."""
    names = {str(record.table).casefold(): record for record in records}
    found = [
        record
        for name, record in names.items()
        if any(fnmatchcase(name, glob.casefold().replace("[", "[[]")) for glob in chosen)
    ]
    bands = tuple(Band)
    bad = [
        record
        for record in records
        if record.grade is not None
        and record.grade.band in {Band.DEGRADED, Band.CRITICAL}
        and record not in found
    ]
    return found + sorted(
        bad, key=lambda record: -bands.index(record.grade.band) if record.grade else 0
    )


def is_wanted(record: TableRecord, query: TableQuery) -> bool:
    namespace = record.table.namespace_text
    return (
        query.search.casefold() in str(record.table).casefold()
        and query.catalog in {None, record.table.catalog}
        and (
            query.namespace is None
            or namespace == query.namespace
            or namespace.startswith(f"{query.namespace}.")
        )
        and is_within(record.table, query.within)
        and (query.only is None or str(record.table) in query.only)
        and (query.band is None or (record.grade is not None and record.grade.band is query.band))
    )


def sort_value(record: TableRecord, sort: str) -> object:
    match sort:
        case "name":
            return str(record.table)
        case "band":
            benefit = record.plan.benefit if record.plan is not None else 0.0
            return (
                None if record.grade is None else (-list(Band).index(record.grade.band), -benefit)
            )
        case "delete_files":
            return None if record.health is None else delete_files(record.health)
        case _:
            return None if record.health is None else getattr(record.health, sort)


def delete_files(health: TableHealth) -> int | None:
    counts = (health.position_delete_files, health.equality_delete_files, health.deletion_vectors)
    return None if None in counts else sum(count or 0 for count in counts)


def as_float(value: float | None) -> float | None:
    return None if value is None else float(value)


def page_of(
    ordered: Sequence[T], limit: int, cursor: str | None, order: str, name: Callable[[T], str]
) -> Page[T]:
    """The cursor names the last item; a page after an item that is gone starts over, which the real
    store does better.
    """
    start = 0
    if cursor is not None:
        try:
            found, last = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        except ValueError as error:
            message = f"cursor {cursor[:40]!r} is foreign"
            raise InvalidValueError(message) from error
        if found != order:
            message = f"cursor {cursor[:40]!r} is foreign"
            raise InvalidValueError(message)
        start = next((index + 1 for index, item in enumerate(ordered) if name(item) == last), 0)
    items = tuple(ordered[start : start + limit])
    has_more = start + limit < len(ordered)
    following = (
        base64.urlsafe_b64encode(json.dumps([order, name(items[-1])]).encode()).decode()
        if has_more
        else None
    )
    return Page(items, following, len(ordered))
