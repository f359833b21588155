"""Reports of engines about their scans: each counts as one read of its table."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from maintainer.api.access import on_any
from maintainer.api.auth import PersonIn
from maintainer.api.deps import ContextIn
from maintainer.api.errors import declare_problems
from maintainer.api.events import is_theirs
from maintainer.api.health_schemas import Schema
from maintainer.api.tables import Text
from maintainer.domain.access import Role
from maintainer.domain.budget import day_of
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier

MAX_REPORTS = 1000  # of one request
SCAN_REPORT = "scan-report"

router = APIRouter(tags=["tables"])
_ASKED = declare_problems(
    HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.UNSUPPORTED_MEDIA_TYPE
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
    responses=_ASKED,
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
