"""Asks the catalogs, right before a job starts, under which names its table is registered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta

from maintainer.domain.action import Action
from maintainer.domain.health import TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.location import normalise_path
from maintainer.policy.effective import effective
from maintainer.ports import Ports
from maintainer.ports.catalog import Polled
from maintainer.procedures.registry import chapter_of
from maintainer.steps.table import measure_table, read_table

LISTING_VALID_FOR = timedelta(minutes=10)  # before an expiry, no answer may be older
MAX_MEASURED = 20  # listed tables that may be other names of this table
_GONE = frozenset({FaultKind.VIEW, FaultKind.DROPPED})


def check_registrations(ports: Ports, action: Action, health: TableHealth) -> str | None:
    """Update the table's names in the store; return the reason if that is impossible, else None.

    The catalogs are asked for the table's former names, and for the same name in the other
    catalogs. Before an expiry they are also asked for every table whose metadata is in this table's
    location. If a policy names an owner, the other names are measured again, because the owner
    must have the newest commits.
    """
    chapter = chapter_of(action.procedure)
    if chapter.restores(action):
        return None
    reason = _ask_former_names(ports, health)
    _ask_namesakes(ports, health)
    if reason is None and chapter.measures_suspects:
        reason = _measure_suspects(ports, health)
    if (
        reason is None
        and effective(ports.policies.current(), health.table, health.properties).is_owner
    ):
        reason = _measure_again(ports, health)
    return reason


def _others(ports: Ports, health: TableHealth) -> frozenset[TableIdentifier]:
    return frozenset(ports.store.names_of(health.table_uuid)) - {health.table}


def _ask_former_names(ports: Ports, health: TableHealth) -> str | None:
    """Ask for names that a listing did not contain: a name may be missing only for a short time."""
    places = ports.store.locations_near(health.own_paths())
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
            measure_table(ports, name)
    return None


def _ask_namesakes(ports: Ports, health: TableHealth) -> None:
    """Ask every other catalog for a table of the same name.

    A catalog that does not answer delays no table that was never seen there. Names that the store
    knows already are measured by the scan.
    """
    away = _find_unreachable(ports)
    for catalog in ports.catalogs:
        name = replace(health.table, catalog=catalog)
        if name != health.table and catalog not in away and ports.store.table(name) is None:
            found = read_table(ports, name)
            if not isinstance(found, TableFault) and found.table_uuid == health.table_uuid:
                measure_table(ports, name)


def _find_unreachable(ports: Ports) -> dict[str, str]:
    """Return the catalogs that did not answer at the last listing, with the reasons.

    Every job would be delayed if it waited for these catalogs again.
    """
    return {
        fault.catalog: fault.reason for fault in ports.store.catalog_faults() if not fault.namespace
    }


def _measure_suspects(ports: Ports, health: TableHealth) -> str | None:
    """Measure other tables whose metadata is in this table's location.

    Returns the reason if that is impossible, else None.
    """
    known, left, away = (
        _others(ports, health) | {health.table},
        MAX_MEASURED,
        _find_unreachable(ports),
    )
    for catalog in ports.catalogs.values():
        if catalog.name in away:
            if not ports.store.has_tables(catalog.name):
                return _describe_unlisted(catalog.name, away[catalog.name])
            continue
        marks = ports.store.marks(catalog.name)
        polled = catalog.poll(
            {table: mark.token for table, mark in marks.items() if mark.token},
            within=LISTING_VALID_FOR,
        )
        for found in _find_suspects(polled, marks, health):
            if isinstance(found, CatalogFault):
                if not ports.store.has_tables(catalog.name):
                    return _describe_unlisted(catalog.name, found.reason)
            elif found not in known:
                left -= 1
                if left < 0:
                    return (
                        f"more than {MAX_MEASURED} tables may be other names of this one: they "
                        f"are measured first"
                    )
                measure_table(ports, found)
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
    own, measured = health.own_paths(), frozenset(marks)
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
            continue  # use the last known state
        scanned = measure_table(ports, name)
        if isinstance(scanned, TableFault) and scanned.kind not in _GONE:
            return (
                f"it is not known whether {name}, another name of the table, has newer commits: "
                f"{scanned.reason}"
            )
    return None
