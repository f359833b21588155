"""Tables: what is known of each, the list of them, their history, the sums over all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Double, and_, cast, delete, exists, func, or_, select, update

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database
from maintainer.adapters.store.schema import catalog_faults, health_samples, manifest_digests, plans, table_health, tables
from maintainer.adapters.store.types import AnyRow
from maintainer.domain.errors import InvalidValueError, UnknownTableError
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.plan import Plan
from maintainer.ports.store import HISTORY_METRICS, Pause, TableRecord

BANDS = tuple(Band)
_FORGETTING = frozenset({FaultKind.VIEW, FaultKind.DROPPED})


def record_health(database: Database, connection: Connection, health: TableHealth, grade: Grade) -> None:
    """Replace what is known of the table, add a sample."""
    full_name = str(health.table)
    known = connection.execute(select(tables.c.table_uuid).where(tables.c.full_name == full_name).with_for_update()).one_or_none()
    is_same = known is not None and known.table_uuid in {None, health.table_uuid}
    row = {**_identity(health.table), **_scalars(health, grade), "first_seen_at": health.measured_at, "fault": None}
    connection.execute(database.upsert(tables, row, keep=frozenset({"first_seen_at"}) if is_same else frozenset()))
    summary, detail = documents.write_health(health)
    pieces = {"full_name": full_name, "summary": summary, "detail": detail, "grade": documents.write_grade(grade)}
    connection.execute(database.upsert(table_health, pieces))
    sample = {"table_uuid": health.table_uuid, "measured_at": health.measured_at, **{metric: getattr(health, metric) for metric in HISTORY_METRICS}}
    connection.execute(database.upsert(health_samples, sample))
    if known is not None and not is_same:
        connection.execute(delete(plans).where(plans.c.full_name == full_name))
        _drop_digests_of_nobody(connection, [known.table_uuid])


def _identity(table: TableIdentifier) -> dict[str, Any]:
    name = str(table)
    return {
        "full_name": name,
        "levels": documents.write_levels(table),
        "catalog": table.catalog,
        "namespace": table.namespace_text,
        "search_name": name.casefold(),
    }


def _scalars(health: TableHealth, grade: Grade) -> dict[str, Any]:
    return {
        "table_uuid": health.table_uuid,
        "measured_at": health.measured_at,
        "band": BANDS.index(grade.band),
        "average_file_size_bytes": health.average_file_size_bytes,
        "data_files": health.data_files,
        "data_bytes": health.data_bytes,
        "small_files": health.small_files,
        "small_file_ratio": health.small_file_ratio,
        "delete_files": _sum_known(health.position_delete_files, health.equality_delete_files, health.deletion_vectors),
        "manifests": health.manifests,
        "snapshots": health.snapshots,
    }


def _sum_known(*counts: int | None) -> int | None:
    """The sum; None when a part is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def record_fault(database: Database, connection: Connection, fault: TableFault) -> None:
    """Keep the fault, or forget what is no table (any more)."""
    if fault.kind in _FORGETTING:
        forget(connection, [str(fault.table)])
        return
    row = {**_identity(fault.table), "first_seen_at": fault.seen_at, "fault": documents.write_fault(fault)}
    connection.execute(database.upsert(tables, row, keep=frozenset({"first_seen_at"})))


def forget(connection: Connection, full_names: Sequence[str]) -> None:
    """Delete tables with their health, plan, samples and digests."""
    for start in range(0, len(full_names), MAX_SQL_VARIABLES):
        names = full_names[start : start + MAX_SQL_VARIABLES]
        found = connection.execute(select(tables.c.table_uuid).where(tables.c.full_name.in_(names), tables.c.table_uuid.is_not(None)))
        uuids = [row.table_uuid for row in found]
        connection.execute(delete(tables).where(tables.c.full_name.in_(names)))
        _drop_digests_of_nobody(connection, uuids)
        connection.execute(delete(health_samples).where(health_samples.c.table_uuid.in_(uuids), ~_is_known(health_samples.c.table_uuid)))


def _drop_digests_of_nobody(connection: Connection, uuids: Sequence[str]) -> None:
    connection.execute(delete(manifest_digests).where(manifest_digests.c.table_uuid.in_(uuids), ~_is_known(manifest_digests.c.table_uuid)))


def _is_known(table_uuid: ColumnElement[Any]) -> ColumnElement[bool]:
    """One UUID can have several names: the same table registered in two catalogs."""
    return exists().where(tables.c.table_uuid == table_uuid)


def forget_tables_except(connection: Connection, catalog: str, seen: Iterable[TableIdentifier]) -> Sequence[TableIdentifier]:
    """Forget what a complete listing did not have."""
    names = {str(table) for table in seen}
    known = connection.execute(select(tables.c.full_name, tables.c.levels).where(tables.c.catalog == catalog).order_by(tables.c.full_name))
    gone = {row.full_name: documents.read_levels(row.levels) for row in known if row.full_name not in names}
    forget(connection, list(gone))
    return tuple(gone.values())


def record_catalog_faults(database: Database, connection: Connection, catalog: str, faults: Sequence[CatalogFault]) -> None:
    """Replace a catalog's faults."""
    if faults:
        connection.execute(database.upsert(catalog_faults, {"catalog": catalog, "document": documents.write_catalog_faults(faults)}))
    else:
        connection.execute(delete(catalog_faults).where(catalog_faults.c.catalog == catalog))


def read_catalog_faults(connection: Connection) -> Sequence[CatalogFault]:
    """All catalogs' faults, by catalog."""
    rows = connection.execute(select(catalog_faults.c.document).order_by(catalog_faults.c.catalog))
    return tuple(fault for row in rows for fault in documents.read_catalog_faults(row.document))


def read_table(connection: Connection, table: TableIdentifier) -> TableRecord | None:
    """One table with its whole health and its plan."""
    source = tables.outerjoin(table_health).outerjoin(plans, plans.c.full_name == tables.c.full_name)
    columns = (*RECORD_COLUMNS, table_health.c.detail, plans.c.document.label("plan"))
    row = connection.execute(select(*columns).select_from(source).where(tables.c.full_name == str(table))).one_or_none()
    if row is None:
        return None
    health = documents.read_health(row.summary, row.detail) if row.summary is not None else None
    plan = documents.read_plan(row.plan) if row.plan is not None else None
    return build_record(row, health, plan)


RECORD_COLUMNS = (
    tables.c.levels,
    tables.c.first_seen_at,
    tables.c.fault,
    tables.c.pause,
    table_health.c.summary,
    table_health.c.grade,
)


def build_record(row: AnyRow, health: TableHealth | None, plan: Plan | None) -> TableRecord:
    """A record from a row of RECORD_COLUMNS."""
    return TableRecord(
        table=documents.read_levels(row.levels),
        first_seen_at=row.first_seen_at,
        health=health,
        grade=documents.read_grade(row.grade) if row.grade is not None else None,
        fault=documents.read_fault(row.fault) if row.fault is not None else None,
        pause=documents.read_pause(row.pause) if row.pause is not None else None,
        plan=plan,
    )


def read_names(connection: Connection) -> Sequence[TableIdentifier]:
    """Every known table."""
    rows = connection.execute(select(tables.c.levels).order_by(tables.c.full_name))
    return tuple(documents.read_levels(row.levels) for row in rows)


def read_history(connection: Connection, table: TableIdentifier, metric: str, since: datetime, until: datetime) -> Sequence[tuple[datetime, float | None]]:
    """Samples from since to until, both included."""
    if metric not in HISTORY_METRICS:
        message = f"metric {metric!r} has no history; it is kept of {', '.join(HISTORY_METRICS)}"
        raise InvalidValueError(message)
    present_uuid = select(tables.c.table_uuid).where(tables.c.full_name == str(table)).scalar_subquery()
    rows = connection.execute(
        select(health_samples.c.measured_at, health_samples.c[metric].label("value"))
        .where(health_samples.c.table_uuid == present_uuid, health_samples.c.measured_at.between(since, until))
        .order_by(health_samples.c.measured_at)
    )
    return tuple((row.measured_at, None if row.value is None else float(row.value)) for row in rows)


def set_pause(connection: Connection, table: TableIdentifier, pause: Pause | None) -> None:
    """Pause or resume."""
    document = None if pause is None else documents.write_pause(pause)
    if not connection.execute(update(tables).where(tables.c.full_name == str(table)).values(pause=document)).rowcount:
        message = f"table {table} is not known"
        raise UnknownTableError(message)


_SUMMED = ("data_files", "data_bytes", "small_files", "delete_files", "manifests", "snapshots")


def sum_fleet(connection: Connection) -> dict[str, Any]:
    """The part of an Overview that tables give, by field name; one pass over the narrow rows."""
    counted = {"measured_tables": tables.c.measured_at, "faulty_tables": tables.c.fault, "paused_tables": tables.c.pause}
    columns: list[ColumnElement[Any]] = [
        func.count().label("tables"),
        func.max(tables.c.measured_at, type_=tables.c.measured_at.type).label("last_measured_at"),
    ]
    columns += [func.count(column).label(name) for name, column in counted.items()]
    # As floats, exact up to 2**53: SQLite's sum of integers fails when it overflows.
    columns += [func.coalesce(func.sum(cast(tables.c[name], Double)), 0.0).label(name) for name in _SUMMED]
    row = connection.execute(select(*columns).select_from(tables)).mappings().one()
    return {**row, **{name: int(row[name]) for name in _SUMMED}}


def count_bands(connection: Connection) -> dict[Band, int]:
    """How many tables are in each band."""
    rows = connection.execute(select(tables.c.band, func.count()).where(tables.c.band.is_not(None)).group_by(tables.c.band))
    found = {BANDS[band]: number for band, number in rows}
    return {band: found.get(band, 0) for band in BANDS}


def record_plan(database: Database, connection: Connection, plan: Plan) -> None:
    """Keep the plan, unless the table was forgotten or replaced since: such a plan must never start a job."""
    name = str(plan.table)
    present = select(tables.c.table_uuid).where(tables.c.full_name == name).with_for_update(key_share=True)
    known = connection.execute(present).one_or_none()
    if known is not None and known.table_uuid in {None, plan.table_uuid}:
        connection.execute(database.upsert(plans, {"full_name": name, "document": documents.write_plan(plan)}))


def read_plans(connection: Connection) -> Sequence[Plan]:
    """All latest plans, by table."""
    return tuple(documents.read_plan(row.document) for row in connection.execute(select(plans.c.document).order_by(plans.c.full_name)))


def prune_samples(connection: Connection, before: datetime) -> int:
    """Delete older samples, but for the latest of each known table."""
    newer = health_samples.alias("newer")
    has_newer = exists().where(newer.c.table_uuid == health_samples.c.table_uuid, newer.c.measured_at > health_samples.c.measured_at)
    superseded = or_(has_newer, ~_is_known(health_samples.c.table_uuid))
    return connection.execute(delete(health_samples).where(and_(health_samples.c.measured_at < before, superseded))).rowcount
