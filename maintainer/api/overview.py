"""The sums of the fleet."""

from __future__ import annotations

from fastapi import APIRouter

from maintainer.api import schemas, wire
from maintainer.api.deps import PortsIn

router = APIRouter(tags=["overview"])


@router.get("/overview", summary="The fleet in figures")
def get_overview(ports: PortsIn) -> schemas.OverviewOut:
    """The sums of all tables: files, bytes, average file size, bands, jobs and savings so far."""
    return wire.write_overview(ports.store.overview())
