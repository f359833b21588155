"""Asks the catalogs for other tables in the location of an orphan scan or removal.

This happens right before the job, because the last scan may be out of date.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from maintainer.domain.action import Action, orphans_of
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.location import TableLocation, normalise_path
from maintainer.ports import Ports
from maintainer.ports.catalog import Polled
from maintainer.procedures.registry import chapter_of
from maintainer.steps.table import measure_table

ANSWER_VALID_FOR = timedelta(
    minutes=10
    # A catalog's answer is valid for this time. In this time each catalog is asked only once, even
    # if many tables have orphan files.
)
MAX_MEASURED = 20  # tables measured before one removal
_GONE = frozenset({FaultKind.VIEW, FaultKind.DROPPED})


def record_foreign_locations(ports: Ports, action: Action, health: TableHealth) -> str | None:
    """Record the locations of other formats' tables that overlap with the table's locations.

    Returns the reason if these locations cannot be found, else None.
    """
    if orphans_of(action) is None or chapter_of(action.procedure).restores(action):
        return None
    found: list[TableLocation] = []
    for catalog in ports.catalogs.values():
        for location in catalog.foreign_locations(health.own_paths(), ANSWER_VALID_FOR):
            if isinstance(location, CatalogFault):
                return f"the other files in the location are unknown: {location.reason}"
            found.append(location)
    ports.store.record_foreign_locations(found)
    return None


def find_new_tables(ports: Ports) -> str | None:
    """Find tables that may share the location since the last scan; None if there is none.

    Such a table was never scanned, or has moved. Returns a sentence about the first table found.
    """
    names = frozenset(ports.store.table_names())
    left = MAX_MEASURED
    for name, catalog in ports.catalogs.items():
        known = {table: mark.token for table, mark in ports.store.marks(name).items() if mark.token}
        for found in catalog.poll(known, within=ANSWER_VALID_FOR):
            if not isinstance(found, Polled):
                if isinstance(found, TableFault) and found.kind in _GONE:
                    continue
                return f"the other files in the location are unknown: {found.reason}"
            if _has_not_moved(ports, found, names):
                continue
            left -= 1
            reason = (
                _find_change(ports, found.table, names)
                if left >= 0
                else f"more than {MAX_MEASURED} tables are new or may have moved"
            )
            if reason is not None:
                return f"{reason}: locations are checked again first"
    return None


def _has_not_moved(ports: Ports, found: Polled, names: Collection[TableIdentifier]) -> bool:
    """Whether a known table still writes its metadata to its known location.

    If only the data of a table has moved, this check does not notice it. The new data files are too
    young to be removed.
    """
    if found.table not in names:
        return False
    if not found.is_changed:
        return True
    own = (
        normalise_path(found.metadata_location.rpartition("/")[0])
        if found.metadata_location
        else None
    )
    return own is not None and any(
        location.table == str(found.table) and own.startswith(location.path)
        for location in ports.store.locations_near((own,))
    )


def _find_change(
    ports: Ports, table: TableIdentifier, names: Collection[TableIdentifier]
) -> str | None:
    """Measure a table that is new or may have moved, and return what has changed.

    None if the table no longer exists or has not moved.
    """
    before = ports.store.table(table)
    scanned = measure_table(ports, table)
    if isinstance(scanned, TableFault):
        return (
            None
            if scanned.kind in _GONE
            else f"the location of table {table} is unknown: {scanned.reason}"
        )
    if table not in names:
        return f"table {table} was not known until now"
    known = before.health.own_paths() if before is not None and before.health is not None else ()
    moved = [path for path in scanned.health.own_paths() if path not in known]
    return f"table {table} has moved to {moved[0]} since it was measured" if moved else None
