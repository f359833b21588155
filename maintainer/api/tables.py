"""Tables: the list, one table, its history, partitions and plan, and requests to run or pause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter, Depends, Query
from pydantic import AfterValidator

from maintainer.api import job_schemas, plan_schemas, schemas, wire
from maintainer.api.access import RecordIn, on_any, on_table
from maintainer.api.deps import ActorIn, ApiContext, ContextIn, PersonIn, PortsIn, policy_of_record
from maintainer.api.errors import ProblemError
from maintainer.api.health_schemas import OutlookOut
from maintainer.api.policies import CANDIDATE, read_candidate
from maintainer.api.spans import (
    DEFAULT_PAGE,
    Cursor,
    Limit,
    Since,
    Text,
    Until,
    read_span,
)
from maintainer.api.wire import hide_others, write_plan
from maintainer.decide.grading.findings import AVERAGE_FILE_SIZE_BOUNDS
from maintainer.decide.outlook import find_outlook
from maintainer.domain.access import Person, Role
from maintainer.domain.admission import AdmissionDecision, ScopePause
from maintainer.domain.errors import UnknownTableError
from maintainer.domain.health import Band, PartitionHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import TableFault
from maintainer.domain.policy import PolicyLayer
from maintainer.domain.status import TableState, TableStatus
from maintainer.ports import Ports
from maintainer.ports.store.tables import (
    HISTORY_METRICS,
    TABLE_SORTS,
    Pause,
    TableQuery,
    TableRecord,
)
from maintainer.requests import pause as pause_requests
from maintainer.requests.preview import preview
from maintainer.requests.run import request_run
from maintainer.requests.status import assess_tables
from maintainer.steps.admission import reads_per_day_of
from maintainer.steps.table import measure_table

MAX_SAMPLES = 2000  # a longer history is thinned evenly

_SORTS = [f"{sign}{name}" for name in TABLE_SORTS for sign in ("", "-")]

_SORT_WORDS = (
    "With - in front: descending. `-band` is the worst band first, and within a band the "
    "greatest benefit of maintenance."
)


def _check_sort(sort: str) -> str:
    if sort not in _SORTS:
        raise ValueError(
            f"cannot sort by {sort!r}; one of {', '.join(TABLE_SORTS)}, with - in front for "
            f"descending"
        )
    return sort


def _check_metric(metric: str) -> str:
    if metric not in HISTORY_METRICS:
        raise ValueError(f"no history is kept of {metric!r}; one of {', '.join(HISTORY_METRICS)}")
    return metric


Sort = Annotated[
    str,
    AfterValidator(_check_sort),
    Query(description=_SORT_WORDS, json_schema_extra={"enum": _SORTS}),
]
MetricName = Annotated[
    str, AfterValidator(_check_metric), Query(json_schema_extra={"enum": list(HISTORY_METRICS)})
]
PartitionSort = Literal[
    "small_files", "data_files", "average_file_size_bytes", "data_bytes", "delete_files"
]

# For the order "worst first": the largest count, or the smallest average.
_WORST: dict[PartitionSort, Callable[[PartitionHealth], float]] = {
    "small_files": lambda partition: -partition.small_files,
    "data_files": lambda partition: -partition.data_files,
    "average_file_size_bytes": lambda partition: (
        float("inf")
        if partition.average_file_size_bytes is None
        else partition.average_file_size_bytes
    ),
    "data_bytes": lambda partition: -partition.data_bytes,
    "delete_files": lambda partition: -partition.delete_files,
}

_Measured = TypeVar("_Measured")

router = APIRouter(tags=["tables"])
ONE_TABLE = "/tables/{catalog}/{namespace}/{table}"


def read_filters(  # noqa: PLR0913, PLR0917 - query parameters are arguments, given by name
    person: PersonIn,
    context: ContextIn,
    search: Annotated[
        Text, Query(description="A part of the full name, in upper or lower case.")
    ] = "",
    catalog: Annotated[Text | None, Query(description="Only this catalog.")] = None,
    namespace: Annotated[
        Text | None,
        Query(description='Only this namespace and those nested in it; levels joined by ".".'),
    ] = None,
    band: Annotated[Band | None, Query(description="Only this band.")] = None,
    state: Annotated[TableState | None, Query(description="Only tables in this state.")] = None,
    sort: Sort = "name",
) -> TableQuery:
    """Read the filters and the sort of a list of tables, of those that the person may see."""
    statuses = context.statuses(person.sees) if state is not None else ()
    return TableQuery(
        search,
        catalog,
        namespace,
        band,
        sort.removeprefix("-"),
        sort.startswith("-"),
        within=person.sees,
        only=(
            None
            if state is None
            else frozenset(str(one.table) for one in statuses if one.state is state)
        ),
    )


FilteredIn = Annotated[TableQuery, Depends(read_filters)]


@router.get("/tables", summary="The table list", dependencies=[on_any(Role.VIEWER)])
def get_tables(  # noqa: PLR0913, PLR0917 - query parameters are arguments, given by name
    ports: PortsIn,
    context: ContextIn,
    person: PersonIn,
    filtered: FilteredIn,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> schemas.TablePage:
    """Known tables with their state and latest health, filtered, sorted and paged.

    Tables without the value of the sort come last. The states are some seconds old, in a large
    fleet ten times as long as it takes to read them.
    """
    page = ports.store.tables(replace(filtered, limit=limit, cursor=cursor))
    statuses = find_statuses(context, person)
    return schemas.TablePage.of(
        page,
        items=[wire.write_summary(record, statuses.get(record.table)) for record in page.items],
    )


def find_statuses(context: ApiContext, person: Person) -> dict[TableIdentifier, TableStatus]:
    """The status of each table that the person may see."""
    return {one.table: one for one in context.statuses(person.sees)}


@router.get(ONE_TABLE, summary="One table", dependencies=[on_table(Role.VIEWER)])
def get_table(
    record: RecordIn, ports: PortsIn, context: ContextIn, person: PersonIn
) -> schemas.TableDetail:
    """The latest health, the findings, and the policy in force for the table."""
    policy = policy_of_record(ports, record)
    queued = _queued(record, context, person)
    # Not those of the list: after a request of the person they would be a few seconds old.
    own = assess_tables(ports, queued, prefix=f"{record.table}.")
    return wire.write_detail(
        record,
        policy,
        context.impact.of(record.table.catalog),
        _find_outlook(record, ports, queued),
        reads_per_day_of(ports, record.table),
        next(iter(own), None),
    )


def _queued(record: TableRecord, context: ApiContext, person: Person) -> list[AdmissionDecision]:
    if record.plan is None or not record.plan.planned:
        return []
    return [hide_others(decision, person) for decision in context.queue().of(record.table)]


def _find_outlook(
    record: TableRecord, ports: Ports, admissions: Sequence[AdmissionDecision]
) -> OutlookOut:
    """The present outlook; the job and the pauses are newer than the plan may be."""
    job = (
        ports.store.unfinished_job_of(record.health.table_uuid)
        if record.health is not None
        else None
    )
    own = (
        [ScopePause(str(record.table), record.pause.by, record.pause.at, record.pause.reason)]
        if record.pause is not None
        else []
    )
    return wire.write_outlook(
        find_outlook(
            record.table, record.plan, job, [*ports.store.scope_pauses(), *own], admissions
        ),
        job,
    )


@router.get(
    f"{ONE_TABLE}/history", summary="A metric over time", dependencies=[on_table(Role.VIEWER)]
)
def get_history(
    record: RecordIn,
    ports: PortsIn,
    metric: MetricName = "average_file_size_bytes",
    since: Since = None,
    until: Until = None,
) -> schemas.History:
    """Samples of one metric, oldest first; a series of more than 2000 is thinned evenly."""
    first, last = read_span(since, until, ports.clock.now())
    return wire.write_history(
        record.table, metric, ports.store.history(record.table, metric, first, last), MAX_SAMPLES
    )


@router.get(
    f"{ONE_TABLE}/partitions", summary="The worst partitions", dependencies=[on_table(Role.VIEWER)]
)
def get_partitions(
    record: RecordIn,
    sort: Annotated[
        PartitionSort, Query(description="Worst first: the most of a count, the smallest average.")
    ] = "small_files",
    limit: Limit = DEFAULT_PAGE,
) -> schemas.PartitionPage:
    """The first `limit` partitions, worst first; total says how many there are."""
    partitions = record.health.partitions if record.health else ()
    worst = sorted(
        partitions,
        key=lambda partition: (_WORST[sort](partition), partition.spec_id, partition.partition),
    )[:limit]
    return schemas.PartitionPage(
        items=[_write_partition(partition) for partition in worst],
        next_cursor=None,
        total=len(partitions),
    )


def _write_partition(partition: PartitionHealth) -> schemas.PartitionOut:
    average = partition.average_file_size_bytes
    bands = (band for band, below in AVERAGE_FILE_SIZE_BOUNDS if average and average < below)
    band = None if average is None else next(bands, Band.HEALTHY)
    return schemas.PartitionOut.of(partition, band=band)


@router.get(f"{ONE_TABLE}/plan", summary="The stored plan", dependencies=[on_table(Role.VIEWER)])
def get_plan(record: RecordIn, context: ContextIn, person: PersonIn) -> plan_schemas.PlanOut:
    """The daemon's last decision: each rule planned or skipped, the reason, and the next check."""
    if record.plan is None:
        raise ProblemError(
            HTTPStatus.NOT_FOUND,
            f"no plan has been made for {record.table} yet; POST makes a dry run",
        )
    return write_plan(record.plan, _queued(record, context, person))


@router.post(f"{ONE_TABLE}/plan", summary="A fresh dry run", dependencies=[on_table(Role.VIEWER)])
def preview_plan(
    record: RecordIn, ports: PortsIn, text: schemas.PolicyText | None = None
) -> plan_schemas.PlanOut:
    """Measure and decide now, optionally with the policy in the body as the last layer.

    Nothing is stored or started.
    """
    layer = None if text is None else _read_candidate(record.table, text)
    return write_plan(_without_fault(preview(ports, record.table, layer)))


def _without_fault(measured: _Measured | TableFault) -> _Measured:
    if isinstance(measured, TableFault):
        raise UnknownTableError(
            f"table {measured.table} cannot be measured ({measured.kind}): {measured.reason}"
        )
    return measured


@router.post(
    f"{ONE_TABLE}/measure", summary="Measure a table now", dependencies=[on_table(Role.OPERATOR)]
)
def post_measurement(
    record: RecordIn, ports: PortsIn, context: ContextIn, person: PersonIn
) -> schemas.TableDetail:
    """Measure now instead of at the next scan, changed or not; the next plan uses the result.

    A fault is kept as that of a scan is.
    """
    _without_fault(measure_table(ports, record.table))
    return get_table(ports.store.table(record.table) or record, ports, context, person)


def _read_candidate(table: TableIdentifier, text: schemas.PolicyText) -> PolicyLayer:
    layer = read_candidate(text.yaml)
    if not any(pattern.matches(table) for pattern in layer.tables):
        patterns = ", ".join(pattern.text for pattern in layer.tables) or "no table"
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"{CANDIDATE} is for {patterns}, which does not match {table}",
        )
    return layer


@router.post(
    f"{ONE_TABLE}/run",
    summary="Carry out rules now",
    status_code=HTTPStatus.ACCEPTED,
    dependencies=[on_table(Role.OPERATOR)],
)
def run_table(
    record: RecordIn,
    ports: PortsIn,
    context: ContextIn,
    actor: ActorIn,
    request: job_schemas.RunRequest | None = None,
) -> job_schemas.RunAccepted:
    """Make a new plan and start its jobs, in any mode; without named rules, those worth doing.

    Without jobs, the plan has the reasons.
    """
    rules = () if request is None else tuple(dict.fromkeys(request.rules))
    plan, job = request_run(ports, record.table, rules, actor)
    return job_schemas.RunAccepted(
        jobs=[] if job is None else [wire.write_job(job, context.spark_ui)],
        plan=write_plan(plan),
    )


@router.post(
    f"{ONE_TABLE}/pause", summary="Start nothing on a table", dependencies=[on_table(Role.OPERATOR)]
)
def pause_table(
    record: RecordIn,
    ports: PortsIn,
    actor: ActorIn,
    request: schemas.PauseRequest | None = None,
) -> schemas.PauseOut:
    """Start nothing on this table until it is resumed; a running job continues."""
    pause = Pause(actor, ports.clock.now(), request.reason if request else "")
    pause_requests.pause_table(ports, record.table, pause)
    return schemas.PauseOut.model_validate(pause)


@router.post(
    f"{ONE_TABLE}/resume",
    summary="End a pause",
    status_code=HTTPStatus.NO_CONTENT,
    dependencies=[on_table(Role.OPERATOR)],
)
def resume_table(record: RecordIn, ports: PortsIn, actor: ActorIn) -> None:
    """Let the policy act on this table again; a table that is not paused is unchanged."""
    pause_requests.resume_table(ports, record.table, actor)
