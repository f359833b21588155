"""What else lies where orphans of a table are looked for: asked of the catalogs right before,
because what a scan saw may have changed since.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from maintainer.domain.action import Action, Disposal, RemoveOrphanFiles
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.location import Place, normalise_path, paths_of
from maintainer.ports.catalog import Polled
from maintainer.steps.ports import Ports
from maintainer.steps.scan import scan_table

SETTLED = timedelta(
    minutes=10
    # what a catalog said so lately is not asked again: however many tables have orphans, each is
    # asked about once in this time
)
MAX_MEASURED = 20  # tables that are measured on the way before a removal
_GONE = frozenset({FaultKind.VIEW, FaultKind.DROPPED})


def note_foreign(ports: Ports, action: Action, health: TableHealth) -> str | None:
    """Before a look or a removal, remember what overlaps with the table's place and is none of
    Iceberg's; why it is not known what does, else None.
    """
    if not isinstance(action, RemoveOrphanFiles) or (
        action.approved is not None and action.approved.disposal is Disposal.RESTORE
    ):
        return None
    found: list[Place] = []
    for catalog in ports.catalogs.values():
        for place in catalog.foreign_places(paths_of(health.location, health.properties), SETTLED):
            if isinstance(place, CatalogFault):
                return f"it is not known what else lies there: {place.reason}"
            found.append(place)
    ports.store.record_foreign_places(found)
    return None


def find_newcomers(ports: Ports) -> str | None:
    """Which table may have come to lie in the very place since the last scan: one that no scan has
    seen, or that has moved; None when there is none.
    """
    names = frozenset(ports.store.table_names())
    left = MAX_MEASURED
    for name, catalog in ports.catalogs.items():
        known = {table: mark.token for table, mark in ports.store.marks(name).items() if mark.token}
        for found in catalog.poll(known, within=SETTLED):
            if not isinstance(found, Polled):
                if isinstance(found, TableFault) and found.kind in _GONE:
                    continue
                return f"it is not known what else lies there: {found.reason}"
            if _lies_where_it_lay(ports, found, names):
                continue
            left -= 1
            reason = (
                _find_change(ports, found.table, names)
                if left >= 0
                else f"more than {MAX_MEASURED} tables are new or may have moved"
            )
            if reason is not None:
                return f"{reason}: what lies where is looked at again first"
    return None


def _lies_where_it_lay(ports: Ports, found: Polled, names: Collection[TableIdentifier]) -> bool:
    """Whether a known table's metadata is still written where the table was known to lie.

    One that keeps it there and writes its data elsewhere is not seen; but what it has written there
    since is too young to go.
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
        place.table == str(found.table) and own.startswith(place.path)
        for place in ports.store.places_near((own,))
    )


def _find_change(
    ports: Ports, table: TableIdentifier, names: Collection[TableIdentifier]
) -> str | None:
    """What a fresh measurement tells of a table that is new or may have moved; None when it is
    gone, or lies where it lay.
    """
    before = ports.store.table(table)
    scanned = scan_table(ports, table)
    if isinstance(scanned, TableFault):
        return (
            None
            if scanned.kind in _GONE
            else f"it is not known where table {table} lies: {scanned.reason}"
        )
    if table not in names:
        return f"table {table} was not known until now"
    known = (
        paths_of(before.health.location, before.health.properties)
        if before is not None and before.health is not None
        else ()
    )
    moved = [
        path
        for path in paths_of(scanned.health.location, scanned.health.properties)
        if path not in known
    ]
    return f"table {table} has moved to {moved[0]} since it was measured" if moved else None
