"""Tables, their health, plans and faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    delete,
    exists,
    func,
    select,
    update,
)

from maintainer.adapters.store import documents
from maintainer.adapters.store.admission import record_candidates
from maintainer.adapters.store.database import MAX_SQL_VARIABLES, Database
from maintainer.adapters.store.locations import record_locations
from maintainer.adapters.store.locks import lock_tables
from maintainer.adapters.store.need import need_of, record_benefit
from maintainer.adapters.store.paging import is_named_within
from maintainer.adapters.store.pauses import find_pause, join_uuid
from maintainer.adapters.store.samples import record_sample
from maintainer.adapters.store.schema import (
    BANDS,
    catalog_faults,
    manifest_digests,
    plans,
    table_health,
    tables,
)
from maintainer.adapters.store.types import AnyRow
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.health import Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.plan import Plan
from maintainer.ports.store.tables import Pause, TableRecord

# attempts; each fails only if another transaction forgets the table at that moment
ENTRY_ATTEMPTS = 5
_FORGETTING = frozenset({FaultKind.VIEW, FaultKind.DROPPED})


def record_health(
    database: Database, connection: Connection, health: TableHealth, grade: Grade
) -> None:
    """Replace the table's health, and add a sample to its history."""
    full_name = str(health.table)
    _enter(database, connection, health.table, health.measured_at)
    known_uuid = connection.execute(
        select(tables.c.table_uuid).where(tables.c.full_name == full_name)
    ).scalar_one()
    is_same = known_uuid in {None, health.table_uuid}
    join_uuid(connection, full_name, health.table_uuid)
    pause = find_pause(connection, full_name, health.table_uuid)
    changes = {
        **_scalars(health, grade),
        "need": need_of(grade.band, tables.c.benefit),
        "fault": None,
        "pause": pause,
        "plan_wanted": tables.c.plan_wanted + 1,
        "planned_under": None,
        "plan_at": None,
    }
    if not is_same:
        changes |= {
            "first_seen_at": health.measured_at,
            "benefit": 0,
            "need": need_of(grade.band, 0),
        }
    connection.execute(update(tables).where(tables.c.full_name == full_name).values(changes))
    summary, detail = documents.write_health(health)
    pieces = {
        "full_name": full_name,
        "summary": summary,
        "detail": detail,
        "grade": documents.write(grade),
    }
    connection.execute(database.upsert(table_health, pieces))
    record_sample(database, connection, health)
    record_locations(database, connection, health)
    if not is_same:
        connection.execute(delete(plans).where(plans.c.full_name == full_name))
        _drop_digests_of_nobody(connection, [known_uuid])


def _enter(
    database: Database, connection: Connection, table: TableIdentifier, seen_at: datetime
) -> None:
    """Add the table's row if it is missing, and lock it."""
    present = select(tables.c.full_name).where(tables.c.full_name == str(table)).with_for_update()
    identity = _identity(table)
    for _ in range(ENTRY_ATTEMPTS):
        if connection.execute(present).one_or_none() is not None:
            return
        if connection.execute(
            database.insert_unless_present(tables, {**identity, "first_seen_at": seen_at})
        ).rowcount:
            return
    raise StoreUnavailableError(
        f"table {table} could not be recorded: other processes deleted it {ENTRY_ATTEMPTS} times"
    )


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
        "delete_files": _sum_known(
            health.position_delete_files, health.equality_delete_files, health.deletion_vectors
        ),
        "manifests": health.manifests,
        "snapshots": health.snapshots,
        "kept_data_files": health.kept_data_files,
    }


def _sum_known(*counts: int | None) -> int | None:
    """Return the sum; None if a count is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def record_fault(database: Database, connection: Connection, fault: TableFault) -> None:
    """Record the fault; forget the table if it is a view or was dropped."""
    if fault.kind in _FORGETTING:
        _forget(connection, [str(fault.table)])
        return
    _enter(database, connection, fault.table, fault.seen_at)
    full_name = str(fault.table)
    table_uuid = connection.execute(
        select(tables.c.table_uuid).where(tables.c.full_name == full_name)
    ).scalar_one()
    changes = {
        "fault": documents.write(fault),
        "pause": find_pause(connection, full_name, table_uuid),
    }
    connection.execute(update(tables).where(tables.c.full_name == full_name).values(changes))


def _forget(connection: Connection, full_names: Sequence[str]) -> None:
    """Delete the tables with their health, plan and digests.

    A table may come back, so its samples are kept until they are old, and its pause until somebody
    resumes it.
    """
    present = lock_tables(connection, full_names)
    for start in range(0, len(present), MAX_SQL_VARIABLES):
        _delete(connection, present[start : start + MAX_SQL_VARIABLES])


def _delete(connection: Connection, names: Sequence[str]) -> None:
    found = connection.execute(
        select(tables.c.table_uuid).where(
            tables.c.full_name.in_(names), tables.c.table_uuid.is_not(None)
        )
    )
    uuids = [row.table_uuid for row in found]
    connection.execute(delete(tables).where(tables.c.full_name.in_(names)))
    _drop_digests_of_nobody(connection, uuids)


def _drop_digests_of_nobody(connection: Connection, uuids: Sequence[str]) -> None:
    connection.execute(
        delete(manifest_digests).where(
            manifest_digests.c.table_uuid.in_(uuids), ~_is_known(manifest_digests.c.table_uuid)
        )
    )


def _is_known(table_uuid: ColumnElement[Any]) -> ColumnElement[bool]:
    """Match UUIDs with a known name: a table may be registered in two catalogs."""
    return exists().where(tables.c.table_uuid == table_uuid)


def forget_tables_except(
    connection: Connection, catalog: str, seen: Iterable[TableIdentifier]
) -> Sequence[TableIdentifier]:
    """Forget the tables that a complete listing did not contain."""
    names = {str(table) for table in seen}
    known = connection.execute(
        select(tables.c.full_name, tables.c.levels)
        .where(tables.c.catalog == catalog)
        .order_by(tables.c.full_name)
    )
    gone = {
        row.full_name: documents.read_levels(row.levels)
        for row in known
        if row.full_name not in names
    }
    _forget(connection, list(gone))
    return tuple(gone.values())


def record_catalog_faults(
    database: Database, connection: Connection, catalog: str, faults: Sequence[CatalogFault]
) -> None:
    if faults:
        connection.execute(
            database.upsert(
                catalog_faults,
                {"catalog": catalog, "document": documents.write(tuple(faults))},
            )
        )
    else:
        connection.execute(delete(catalog_faults).where(catalog_faults.c.catalog == catalog))


def read_catalog_faults(connection: Connection) -> Sequence[CatalogFault]:
    """Return the faults of all catalogs, sorted by catalog."""
    rows = connection.execute(select(catalog_faults.c.document).order_by(catalog_faults.c.catalog))
    return tuple(
        fault for row in rows for fault in documents.read(tuple[CatalogFault, ...], row.document)
    )


def read_table(connection: Connection, table: TableIdentifier) -> TableRecord | None:
    """Read a table with its whole health and its plan."""
    source = tables.outerjoin(table_health).outerjoin(
        plans, plans.c.full_name == tables.c.full_name
    )
    columns = (
        *RECORD_COLUMNS,
        tables.c.table_uuid,
        table_health.c.detail,
        plans.c.document.label("plan"),
    )
    row = connection.execute(
        select(*columns).select_from(source).where(tables.c.full_name == str(table))
    ).one_or_none()
    if row is None:
        return None
    health = documents.read_health(row.summary, row.detail) if row.summary is not None else None
    plan = documents.read_or_none(Plan, row.plan)
    pause = find_pause(connection, str(table), row.table_uuid)
    return replace(
        build_record(row, health, plan),
        pause=documents.read_or_none(Pause, pause),
    )


def read_grade(connection: Connection, table: TableIdentifier, table_uuid: str) -> Grade | None:
    """Read the grade without the health, which can be large."""
    wanted = (tables.c.full_name == str(table), tables.c.table_uuid == table_uuid)
    document = connection.execute(
        select(table_health.c.grade).select_from(tables.join(table_health)).where(*wanted)
    ).scalar_one_or_none()
    return documents.read_or_none(Grade, document)


RECORD_COLUMNS = (
    tables.c.levels,
    tables.c.first_seen_at,
    tables.c.fault,
    tables.c.pause,
    tables.c.plan_at,
    table_health.c.summary,
    table_health.c.grade,
)


def build_record(row: AnyRow, health: TableHealth | None, plan: Plan | None) -> TableRecord:
    """Build a record from a row with RECORD_COLUMNS."""
    return TableRecord(
        table=documents.read_levels(row.levels),
        first_seen_at=row.first_seen_at,
        health=health,
        grade=documents.read_or_none(Grade, row.grade),
        fault=documents.read_or_none(TableFault, row.fault),
        pause=documents.read_or_none(Pause, row.pause),
        plan=plan,
        next_plan_at=row.plan_at,
    )


def read_names(connection: Connection) -> Sequence[TableIdentifier]:
    rows = connection.execute(select(tables.c.levels).order_by(tables.c.full_name))
    return tuple(documents.read_levels(row.levels) for row in rows)


def read_names_of(connection: Connection, table_uuid: str) -> Sequence[TableIdentifier]:
    """List the names under which a table is known, sorted."""
    rows = connection.execute(select(tables.c.levels).where(tables.c.table_uuid == table_uuid))
    return tuple(sorted((documents.read_levels(row.levels) for row in rows), key=str))


def read_shared(connection: Connection) -> Mapping[TableIdentifier, Sequence[TableIdentifier]]:
    """Find the tables with several names, by the index of UUIDs."""
    several = (
        select(tables.c.table_uuid)
        .where(tables.c.table_uuid.is_not(None))
        .group_by(tables.c.table_uuid)
        .having(func.count() > 1)
    )
    found: dict[TableIdentifier, Sequence[TableIdentifier]] = {}
    for table_uuid in connection.execute(several).scalars():
        names = read_names_of(connection, table_uuid)
        found |= dict.fromkeys(names, names)
    return found


def has_tables(connection: Connection, catalog: str) -> bool:
    return _has(connection, tables.c.catalog == catalog)


def has_unmeasured_tables(connection: Connection) -> bool:
    return _has(connection, tables.c.measured_at.is_(None))


def _has(connection: Connection, is_wanted: ColumnElement[bool]) -> bool:
    found = select(tables.c.full_name).where(is_wanted).limit(1)
    return connection.execute(found).one_or_none() is not None


def read_last_measured(
    connection: Connection, within: tuple[str, ...] | None = None
) -> datetime | None:
    """Return the time of the newest health; for all tables it is at the end of an index."""
    statement = select(func.max(tables.c.measured_at, type_=tables.c.measured_at.type))
    if within is not None:
        statement = statement.where(is_named_within(tables.c.full_name, within))
    newest: datetime | None = connection.execute(statement).scalar_one()
    return newest


def record_plan(database: Database, connection: Connection, plan: Plan) -> bool:
    """Record the plan, unless its table was forgotten or replaced.

    The plan of such a table must never start a job.
    """
    name = str(plan.table)
    present = (
        select(tables.c.table_uuid)
        .where(tables.c.full_name == name)
        .with_for_update(key_share=True)
    )
    known = connection.execute(present).one_or_none()
    if known is None or known.table_uuid not in {None, plan.table_uuid}:
        return False
    connection.execute(
        database.upsert(
            plans,
            {"full_name": name, "document": documents.write_bytes(plan)},
        )
    )
    record_candidates(connection, plan)
    record_benefit(connection, plan)
    return True


def read_plans(connection: Connection) -> Sequence[Plan]:
    """Read the latest plan of each table, sorted by table."""
    return tuple(
        documents.read(Plan, row.document)
        for row in connection.execute(select(plans.c.document).order_by(plans.c.full_name))
    )
