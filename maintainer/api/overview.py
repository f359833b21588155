"""The fleet in figures."""

from __future__ import annotations

from fastapi import APIRouter

from maintainer.api import schemas, wire
from maintainer.api.deps import ServicesIn

router = APIRouter(tags=["overview"])


@router.get("/overview", summary="The fleet in figures")
def get_overview(services: ServicesIn) -> schemas.OverviewOut:
    """All tables together: files, bytes, average file size, bands, jobs, and what maintenance has
    saved so far.
    """
    return wire.write_overview(services.store.overview())
