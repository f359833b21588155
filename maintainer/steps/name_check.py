"""Right before a job is handed over: under which names the table is registered now, asked of the
catalogs themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import replace
from datetime import datetime, timedelta
from weakref import WeakKeyDictionary

from maintainer.domain.action import Action, Disposal, ExpireSnapshots, RemoveOrphanFiles
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.location import normalise_path, paths_of
from maintainer.policy.effective import effective
from maintainer.ports.catalog import Catalog, Polled
from maintainer.steps.ports import Ports
from maintainer.steps.scan import read_table, scan_table

LISTED_AGAIN = timedelta(minutes=10)  # before an expiry every catalog has been listed within this
MAX_MEASURED = 20  # of the tables that a listing shows and that may be this one
_GONE = frozenset({FaultKind.VIEW, FaultKind.DROPPED})
_listed: MutableMapping[Catalog, datetime] = WeakKeyDictionary()


def check_names(ports: Ports, action: Action, health: TableHealth) -> str | None:
    """Have the store know the table's names as they are now; why they are not known, else None.

    Asked for are the names that the table had once, its own name in the other catalogs, and before
    an expiry every table whose metadata lies in its place. Of the names that it has, the states are
    read again where a policy names the owner, because the owner must not be behind.
    """
    if (
        isinstance(action, RemoveOrphanFiles)
        and action.approved is not None
        and action.approved.disposal is Disposal.RESTORE
    ):
        return None
    reason = _look_at_former(ports, health)
    _look_at_namesakes(ports, health)
    if reason is None and isinstance(action, ExpireSnapshots):
        reason = _list_again(ports, health)
    if (
        reason is None
        and effective(ports.policies.current(), health.table, health.properties).is_owner
    ):
        reason = _measure_again(ports, health)
    return reason


def _others(ports: Ports, health: TableHealth) -> frozenset[TableIdentifier]:
    return frozenset(ports.store.names_of(health.table_uuid)) - {health.table}


def _look_at_former(ports: Ports, health: TableHealth) -> str | None:
    """A listing lacked the name, perhaps for a moment only."""
    places = ports.store.places_near(paths_of(health.location, health.properties))
    former = {
        TableIdentifier.parse(place.table)
        for place in places
        if place.table_uuid == health.table_uuid and place.is_gone
    }
    for name in sorted(former - {health.table}, key=str):
        found = read_table(ports, name) if name.catalog in ports.catalogs else None
        if isinstance(found, TableFault) and found.kind not in _GONE:
            return f"it is not known whether the table is registered as {name} too: {found.reason}"
        if (
            found is not None
            and not isinstance(found, TableFault)
            and found.table_uuid == health.table_uuid
        ):
            scan_table(ports, name)
    return None


def _look_at_namesakes(ports: Ports, health: TableHealth) -> None:
    """A catalog that does not answer holds up no table that was never seen there; what a scan knows
    as another table is left to the scan.
    """
    away = _find_away(ports)
    for catalog in ports.catalogs:
        name = replace(health.table, catalog=catalog)
        if name != health.table and catalog not in away and ports.store.table(name) is None:
            found = read_table(ports, name)
            if not isinstance(found, TableFault) and found.table_uuid == health.table_uuid:
                scan_table(ports, name)


def _find_away(ports: Ports) -> dict[str, str]:
    """Catalogs that did not answer at the last listing, and why: to wait for each of them anew
    would hold up every job.
    """
    return {
        fault.catalog: fault.reason for fault in ports.store.catalog_faults() if not fault.namespace
    }


def _list_again(ports: Ports, health: TableHealth) -> str | None:
    """Measure whatever else has its metadata in the table's place; why that could not be done, else
    None.
    """
    now = ports.clock.now()
    known, left, away = _others(ports, health) | {health.table}, MAX_MEASURED, _find_away(ports)
    for catalog in ports.catalogs.values():
        if catalog.name in away:
            if not ports.store.counters(catalog.name).tables:
                return _describe_unlisted(catalog.name, away[catalog.name])
            continue
        if catalog in _listed and _listed[catalog] <= now < _listed[catalog] + LISTED_AGAIN:
            continue
        marks = ports.store.marks(catalog.name)
        polled = catalog.poll(
            {table: mark.token for table, mark in marks.items() if mark.token}, within=LISTED_AGAIN
        )
        for found in _find_suspects(polled, marks, health):
            if isinstance(found, CatalogFault):
                if not ports.store.counters(catalog.name).tables:
                    return _describe_unlisted(catalog.name, found.reason)
            elif found not in known:
                left -= 1
                if left < 0:
                    return (
                        f"more than {MAX_MEASURED} tables may be other names of this one: they "
                        f"are measured first"
                    )
                scan_table(ports, found)
        _listed[catalog] = now
    return None


def _describe_unlisted(catalog: str, reason: str) -> str:
    return (
        f"catalog {catalog} could never be listed, so that it is not known whether the table is "
        f"registered there too: {reason}"
    )


def _find_suspects(
    polled: Iterable[Polled | TableFault | CatalogFault],
    marks: Iterable[TableIdentifier],
    health: TableHealth,
) -> Iterator[TableIdentifier | CatalogFault]:
    own, measured = paths_of(health.location, health.properties), frozenset(marks)
    for found in polled:
        if isinstance(found, CatalogFault):
            yield found
        elif isinstance(found, Polled) and found.is_changed:
            place = (
                normalise_path(found.metadata_location.rpartition("/")[0])
                if found.metadata_location
                else ""
            )
            if place.startswith(own) or (not place and found.table not in measured):
                yield found.table


def _measure_again(ports: Ports, health: TableHealth) -> str | None:
    for name in sorted(_others(ports, health), key=str):
        if name.catalog not in ports.catalogs:
            continue  # what was seen last counts
        scanned = scan_table(ports, name)
        if isinstance(scanned, TableFault) and scanned.kind not in _GONE:
            return (
                f"it is not known whether {name}, another name of the table, has newer commits: "
                f"{scanned.reason}"
            )
    return None
