"""Schemas of the configured catalogs: their sums, scans and storage."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from maintainer.api.health_schemas import NameServiceOut, Schema, StorageOut
from maintainer.api.schemas import Sums


class CatalogFaultOut(Schema):
    namespace: str
    reason: str
    seen_at: datetime


class ScanCostOut(Schema):
    """The work and the cost of one scan of a catalog."""

    started_at: datetime
    seconds: float
    measured: int = Field(description="Tables that were read.")
    unchanged: int = Field(description="Tables that were not read again.")
    faults: int = Field(description="Tables and namespaces that could not be read.")
    manifests_read: int
    manifests_reused: int = Field(description="Known from earlier scans.")
    bytes_read: int = Field(description="Of manifests.")
    is_complete: bool = Field(
        description="False: stopped, or changed tables are left for the next scan."
    )


class CatalogOut(Sums):
    """A configured catalog."""

    name: str
    type: str
    is_reachable: bool | None = Field(
        description="The last scan could list the catalog; null before the first scan."
    )
    faults: list[CatalogFaultOut]
    scans: list[ScanCostOut] = Field(description="The last scans, the newest first.")
    oldest_measured_at: datetime | None = Field(
        description="The table that was measured longest ago."
    )
    behind_seconds: float | None = Field(
        description="Time since the next scan was due; null before the first scan."
    )


class CatalogStorageOut(Schema):
    """The storage of a catalog's tables, and the objects of its name services."""

    catalog: str
    storages: list[StorageOut] = Field(
        description="One for each kind of storage; empty before the first measured table."
    )
    name_services: list[NameServiceOut]
