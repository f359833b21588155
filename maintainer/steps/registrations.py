"""Other names of a table in the store: names with the same UUID, in any catalog."""

from __future__ import annotations

from collections.abc import Mapping

from maintainer.domain.identifier import Registration, TableIdentifier
from maintainer.policy.effective import effective
from maintainer.ports import Ports


def registrations_of(
    ports: Ports, table: TableIdentifier, table_uuid: str, properties: Mapping[str, str]
) -> tuple[Registration, ...]:
    """Return the table's other registrations, sorted by name.

    Names in a catalog that does not answer now, but did before, are included.
    """
    others = [name for name in ports.store.names_of(table_uuid) if name != table]
    return tuple(_describe(ports, name, properties) for name in others)


def _describe(ports: Ports, name: TableIdentifier, properties: Mapping[str, str]) -> Registration:
    record = ports.store.table(name)
    health = record.health if record is not None else None
    policy = effective(
        ports.policies.current(), name, health.properties if health is not None else properties
    )
    return Registration(
        name, policy.is_owner, health.newest_snapshot_at if health is not None else None
    )
