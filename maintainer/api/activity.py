"""A table's activity: the history of its verdicts, and the query timings of users."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter
from pydantic import AliasChoices, Field

from maintainer.api.deps import RecordIn, ServicesIn
from maintainer.api.fields import Number, Time
from maintainer.api.health_schemas import Schema
from maintainer.api.plan_schemas import VerdictPage
from maintainer.api.plan_wire import write_verdicts
from maintainer.api.tables import ASKED, DEFAULT_PAGE, NOT_FOUND, ONE_TABLE, Cursor, Limit, in_utc
from maintainer.domain.timing import MAX_COST, MAX_NAME_CHARACTERS, MAX_SECONDS, QueryTiming
from maintainer.steps.timing import note_timing


class NewTiming(Schema):
    """A query timing; `query` is accepted for `name`."""

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_NAME_CHARACTERS,
            validation_alias=AliasChoices("name", "query"),
            description="What you call the query.",
        ),
    ]
    seconds: Annotated[Number, Field(gt=0, le=MAX_SECONDS)]
    at: Annotated[Time | None, Field(description="RFC 3339; now when left out.")] = None
    cost: Annotated[
        Number | None, Field(ge=0, le=MAX_COST, description="In your own currency.")
    ] = None


class TimingOut(Schema):
    """A query timing with the table's figures at that time; null where the history lacks it."""

    name: str
    seconds: float
    at: datetime
    data_files: int | None
    average_file_size_bytes: float | None
    cost: float | None


class TimingPage(Schema):
    """A page of query timings, newest first."""

    items: list[TimingOut]
    next_cursor: str | None
    total: int


router = APIRouter(tags=["tables"])


@router.get(f"{ONE_TABLE}/verdicts", summary="The history of verdicts", responses=NOT_FOUND)
def get_verdicts(
    record: RecordIn, services: ServicesIn, limit: Limit = DEFAULT_PAGE, cursor: Cursor = None
) -> VerdictPage:
    """The verdicts on each rule with their start and end, newest first.

    An entry begins with each change of a verdict, not with changing figures.
    """
    return write_verdicts(services.store.verdicts(record.table, limit, cursor))


@router.get(f"{ONE_TABLE}/measurements", summary="Users' own measurements", responses=NOT_FOUND)
def get_measurements(
    record: RecordIn, services: ServicesIn, limit: Limit = DEFAULT_PAGE, cursor: Cursor = None
) -> TimingPage:
    """The run times of queries on the table, newest first, each with the table's files then."""
    page = services.store.timings(record.table, limit, cursor)
    return TimingPage(
        items=[TimingOut.model_validate(timing) for timing in page.items],
        next_cursor=page.next_cursor,
        total=page.total,
    )


@router.post(
    f"{ONE_TABLE}/measurements",
    summary="Add a measurement",
    status_code=HTTPStatus.CREATED,
    responses=ASKED,
)
def add_measurement(record: RecordIn, services: ServicesIn, request: NewTiming) -> TimingOut:
    """Store how long a query took.

    Once a query has timings at two file sizes, they replace the estimated cost of small files.
    """
    now = services.clock.now()
    timing = QueryTiming(
        request.name,
        request.seconds,
        now if request.at is None else in_utc(request.at),
        cost=request.cost,
    )
    return TimingOut.model_validate(note_timing(services.store, record.table, timing, now))
