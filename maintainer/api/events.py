"""Events and reports of other programs: tables to measure at once, and reads to count."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from maintainer.api.access import on_any
from maintainer.api.deps import ContextIn, PersonIn
from maintainer.api.health_schemas import Schema
from maintainer.api.spans import Text
from maintainer.domain.access import Person, Role
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier, split_levels
from maintainer.domain.policy import day_of

MAX_TABLES = 1000  # of one request
MAX_REPORTS = 1000  # of one request
SCAN_REPORT = "scan-report"
_Name = Annotated[str, Field(min_length=1, max_length=1000)]

router = APIRouter(tags=["tables"])


class ChangedTables(Schema):
    """Tables by their full names."""

    tables: list[_Name] = Field(max_length=MAX_TABLES, examples=[["lake.sales.orders"]])


class TableEvent(BaseModel):
    """A CloudEvent about one table; its other attributes and its data are not read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    specversion: Literal["1.0"]
    namespace: _Name = Field(
        description='Levels joined by "."; a level that holds a dot in backticks.'
    )
    name: _Name = Field(description="Of the table.")


class EventsTaken(Schema):
    """The result for the tables."""

    measured_soon: list[str]
    left_to_scans: list[str] = Field(
        description="Tables that are unknown here or on which you are not an operator, and those "
        "that exceed the number of waiting tables. The next scan finds what has changed."
    )


@router.post(
    "/events",
    summary="Measure tables that have changed",
    status_code=HTTPStatus.ACCEPTED,
    dependencies=[on_any(Role.OPERATOR)],
)
def post_events(
    context: ContextIn,
    person: PersonIn,
    events: ChangedTables | TableEvent | Annotated[list[TableEvent], Field(max_length=MAX_TABLES)],
    catalog: Annotated[
        Text | None, Query(description="The catalog of the tables in CloudEvents.")
    ] = None,
) -> EventsTaken:
    """Measure the named tables at once instead of at the next scan.

    The body has full names, or is a CloudEvent in structured mode or a batch of them.
    """
    taken: list[str] = []
    left: list[str] = []
    for table in dict.fromkeys(_list_tables(events, catalog)):
        is_taken = is_theirs(context, person, table) and context.measure_soon(table)
        (taken if is_taken else left).append(str(table))
    return EventsTaken(measured_soon=taken, left_to_scans=left)


def _list_tables(
    events: ChangedTables | TableEvent | list[TableEvent], catalog: str | None
) -> list[TableIdentifier]:
    if isinstance(events, ChangedTables):
        return [TableIdentifier.parse(name) for name in events.tables]
    if not catalog:
        raise InvalidValueError("a CloudEvent names no catalog of ours: add the parameter catalog")
    return [
        TableIdentifier(catalog, split_levels(event.namespace), event.name)
        for event in ([events] if isinstance(events, TableEvent) else events)
    ]


def is_theirs(context: ContextIn, person: Person, table: TableIdentifier) -> bool:
    """True for a known table on which the person may ask for work."""
    role = person.role_on(table)
    return (
        role is not None
        and role.includes(Role.OPERATOR)
        and table.catalog in context.ports.catalogs
        and context.ports.store.table(table) is not None
    )


class MetricsReport(BaseModel):
    """A report as Iceberg's REST API defines it; its figures are not read."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    report_type: str = Field(alias="report-type", max_length=100, examples=[SCAN_REPORT])
    table_name: str = Field(
        alias="table-name",
        min_length=1,
        max_length=1000,
        examples=["lake.sales.orders"],
        description="With the engine's name of the catalog first.",
    )


class ReadsCounted(Schema):
    """The result for the reports."""

    counted: int = Field(description="Reports that count as a read.")
    left_out: int = Field(
        description="Reports of commits, and of tables that are unknown here or on which you are "
        "not an operator."
    )


@router.post(
    "/metrics-reports",
    summary="Count reads of tables",
    status_code=HTTPStatus.ACCEPTED,
    dependencies=[on_any(Role.OPERATOR)],
)
def post_metrics_reports(
    context: ContextIn,
    person: PersonIn,
    reports: MetricsReport | Annotated[list[MetricsReport], Field(max_length=MAX_REPORTS)],
    catalog: Annotated[
        Text | None,
        Query(description="The catalog here, where engines call it by another name."),
    ] = None,
) -> ReadsCounted:
    """Count each report of a scan as one read of its table today: often-read tables start earlier.

    The body is what engines send to a REST catalog, at the address of a table's metrics, or a list
    of such reports.
    """
    everything = [reports] if isinstance(reports, MetricsReport) else reports
    named = Counter(report.table_name for report in everything if report.report_type == SCAN_REPORT)
    reads: Counter[TableIdentifier] = Counter()
    for name, count in named.items():
        table = _find_table(name, catalog)
        if table is not None and is_theirs(context, person, table):
            reads[table] += count
    if reads:
        context.ports.store.add_reads(day_of(context.ports.clock.now()), reads)
    return ReadsCounted(counted=reads.total(), left_out=len(everything) - reads.total())


def _find_table(name: str, catalog: str | None) -> TableIdentifier | None:
    """The table of a report; None when its name is none of a table, such as a directory."""
    try:
        table = TableIdentifier.parse(name)
    except InvalidValueError:
        return None
    return table if catalog is None else TableIdentifier(catalog, table.namespace, table.name)
