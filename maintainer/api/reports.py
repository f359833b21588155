"""Reports on what small files cost, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field

from maintainer.api.access import on_any
from maintainer.api.deps import ContextIn, PersonIn
from maintainer.api.health_schemas import NameServiceOut, Schema
from maintainer.api.table_export import CSV, make_harmless
from maintainer.domain.access import Role
from maintainer.measure.impact import StorageProfile
from maintainer.measure.report import (
    MAX_SCANS_PER_DAY,
    PARALLEL,
    SMALL_BOUNDS_BYTES,
    Report,
    ReportLine,
    describe,
)
from maintainer.requests.preview import ReportQuestion

router = APIRouter(tags=["overview"])


class SmallShareOut(Schema):
    """The files below one size."""

    below_bytes: int
    files: int
    share: float = Field(description="Of all data files.")


class RoundTripsOut(Schema):
    """The round-trip time of one full read of each table."""

    parallel: int = Field(description="Requests at the same time.")
    seconds: float


class ReportLineOut(Schema):
    """The files of a table, a namespace or all tables, and what they cost."""

    name: str
    tables: int
    files: int
    bytes: int
    average_file_size_bytes: float
    small: list[SmallShareOut] = Field(description="The smallest size first.")
    slowdown_low: float = Field(description="1 is as fast as with files of 130 MB.")
    slowdown_high: float
    requests: int = Field(description="Requests of one full read of each table; a lower bound.")
    requests_saved: int = Field(
        description="Requests that compaction avoids, as the planner predicts it."
    )
    requests_saved_by_layout: int = Field(
        description="Further requests that files of the target size would avoid, with other "
        "partitions; compaction cannot."
    )
    requests_per_day: float
    requests_saved_per_day: float
    cost_per_day: float | None = Field(
        description="In the currency of the configured price; null: no price."
    )
    cost_saved_per_day: float | None
    round_trips: list[RoundTripsOut]
    scan_seconds: float = Field(
        description="The time of one full read of each table, by the speed of its storage."
    )
    scan_seconds_at_target: float


class SmallFilesReportOut(Schema):
    """What small files cost; without a measured table with data files, total is null."""

    total: ReportLineOut | None
    namespaces: list[ReportLineOut] = Field(description="The most avoidable requests first.")
    first: list[ReportLineOut] = Field(description="The tables to compact first.")
    left_out: int = Field(
        description="Tables without readable data files, or not measured since an upgrade that "
        "changed the classes of file sizes."
    )
    storages: list[StorageProfile] = Field(description="The kinds of storage of the estimate.")
    scans_per_day: float
    name_services: list[NameServiceOut] = Field(
        description="The objects of tables on HDFS; by name."
    )
    sentences: list[str] = Field(description="The report in words, with its sources.")


def read_report(
    context: ContextIn,
    person: PersonIn,
    storage: Annotated[
        StorageProfile | None,
        Query(
            description="Estimate as if all tables were on this kind of storage. Default: the "
            "setting storage.profile of its catalog or impact.profile, else each table's location."
        ),
    ] = None,
    scans_per_day: Annotated[
        float,
        Query(
            gt=0,
            le=MAX_SCANS_PER_DAY,
            description="Full reads of each table in a day.",
        ),
    ] = 1.0,
) -> Report:
    """Report on the tables that the person may see."""
    return context.report(ReportQuestion(person.sees, storage, scans_per_day))


ReportIn = Annotated[Report, Depends(read_report)]


@router.get(
    "/reports/small-files", summary="What small files cost", dependencies=[on_any(Role.VIEWER)]
)
def get_small_files_report(found: ReportIn) -> SmallFilesReportOut:
    """The share of small files and their cost by namespace, and the tables to compact first.

    The report uses the latest health of each table. Slowdowns are estimates from published
    measurements; requests are counted from the files.
    """
    return SmallFilesReportOut.of(
        found,
        total=None if found.total is None else _write_line(found, found.total),
        namespaces=[_write_line(found, line) for line in found.namespaces],
        first=[_write_line(found, line) for line in found.first],
        storages=found.profiles,
        sentences=list(describe(found)),
    )


def _write_line(found: Report, line: ReportLine) -> ReportLineOut:
    return ReportLineOut.of(
        line,
        small=[
            SmallShareOut(below_bytes=bound, files=files, share=share)
            for bound, files, share in zip(
                SMALL_BOUNDS_BYTES, line.files_under, line.shares_under, strict=True
            )
        ],
        requests_per_day=found.requests_per_day(line.requests),
        requests_saved_per_day=found.requests_per_day(line.requests_saved),
        cost_per_day=found.cost_per_day(line),
        cost_saved_per_day=found.cost_saved_per_day(line),
        round_trips=[
            RoundTripsOut(parallel=parallel, seconds=line.wait_seconds / parallel)
            for parallel in PARALLEL
        ],
    )


_CSV: dict[int | str, dict[str, Any]] = {
    HTTPStatus.OK.value: {
        "description": "A head with the names of the columns, then a line for all tables, for "
        "each namespace and for each table to compact first.",
        "content": {CSV: {"schema": {"type": "string"}}},
    }
}
_PLAIN = (
    "name", "tables", "files", "bytes", "average_file_size_bytes", "slowdown_low",
    "slowdown_high", "requests", "requests_saved", "requests_saved_by_layout",
    "requests_per_day", "requests_saved_per_day",
    "cost_per_day", "cost_saved_per_day", "scan_seconds", "scan_seconds_at_target",
)  # fmt: skip
COLUMNS = (
    "of",
    *_PLAIN,
    *(f"share_below_{bound}_bytes" for bound in SMALL_BOUNDS_BYTES),
    *(f"round_trip_seconds_{parallel}_parallel" for parallel in PARALLEL),
)


@router.get(
    "/reports/small-files.csv",
    summary="What small files cost, as CSV",
    responses=_CSV,
    response_class=Response,
    dependencies=[on_any(Role.VIEWER)],
)
def get_small_files_csv(found: ReportIn) -> Response:
    """The lines of the report in UTF-8; `of` says of what a line is. An unknown figure is empty.

    A text that a spreadsheet would take for a formula begins with `'`.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for of, lines in (
        ("fleet", [] if found.total is None else [found.total]),
        ("namespace", found.namespaces),
        ("table", found.first),
    ):
        for line in lines:
            written = _write_line(found, line)
            plain = [make_harmless(getattr(written, name)) for name in _PLAIN]
            shares = [small.share for small in written.small]
            waits = [wait.seconds for wait in written.round_trips]
            writer.writerow([of, *plain, *shares, *waits])
    headers = {"Content-Disposition": 'attachment; filename="small-files.csv"'}
    return Response(text.getvalue(), media_type=CSV, headers=headers)
