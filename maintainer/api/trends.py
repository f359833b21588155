"""Short histories of several tables, for the small charts of a list."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import Field

from maintainer.api import schemas, wire
from maintainer.api.access import on_any
from maintainer.api.deps import PersonIn, PortsIn
from maintainer.api.health_schemas import Schema
from maintainer.api.spans import MAX_TEXT
from maintainer.api.tables import MetricName
from maintainer.domain.access import Role, is_within
from maintainer.domain.identifier import TableIdentifier

MAX_TABLES: Final = 50  # in one request
MAX_SAMPLES: Final = 40  # of one table; a small chart has no room for more
SPAN: Final = timedelta(days=7)

router = APIRouter(tags=["tables"])


class TrendsOut(Schema):
    """A history for each visible name, in the order of the request."""

    items: list[schemas.History]


@router.get("/trends", summary="Short histories of tables", dependencies=[on_any(Role.VIEWER)])
def get_trends(
    ports: PortsIn,
    person: PersonIn,
    table: Annotated[
        list[Annotated[str, Field(max_length=MAX_TEXT)]],
        Query(description="Full names of at most 50 tables.", min_length=1, max_length=MAX_TABLES),
    ],
    metric: MetricName = "average_file_size_bytes",
) -> TrendsOut:
    """The metric in the last 7 days, thinned evenly to at most 40 samples of each table."""
    now = ports.clock.now()
    tables = [TableIdentifier.parse(name) for name in table]
    return TrendsOut(
        items=[
            wire.write_history(
                one, metric, ports.store.history(one, metric, now - SPAN, now), MAX_SAMPLES
            )
            for one in tables
            if is_within(one, person.sees)
        ]
    )
