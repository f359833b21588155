"""The costs of the last scans, as one fact of the store for each catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from maintainer.adapters.store import documents
from maintainer.adapters.store.database import Database
from maintainer.adapters.store.schema import store_info
from maintainer.domain.scan_cost import MAX_SCAN_COSTS, ScanCost

_KEY = "scan costs of "


def read_scan_costs(connection: Connection) -> Mapping[str, Sequence[ScanCost]]:
    """Read the last scans of each catalog, newest first."""
    rows = connection.execute(
        select(store_info).where(store_info.c.key.startswith(_KEY)).order_by(store_info.c.key)
    )
    return {
        row.key.removeprefix(_KEY): documents.read(tuple[ScanCost, ...], row.value) for row in rows
    }


def record_scan_cost(database: Database, connection: Connection, cost: ScanCost) -> None:
    """Add a scan to its catalog's list, which keeps the newest MAX_SCAN_COSTS scans."""
    key = f"{_KEY}{cost.catalog}"
    known = connection.execute(
        select(store_info.c.value).where(store_info.c.key == key)
    ).scalar_one_or_none()
    before = documents.read_or_none(tuple[ScanCost, ...], known) or ()
    kept = (cost, *before)[:MAX_SCAN_COSTS]
    connection.execute(database.upsert(store_info, {"key": key, "value": documents.write(kept)}))
