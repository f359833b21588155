"""Jobs: the list, one job, its activity as a stream, cancelling and rolling back."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from starlette.responses import StreamingResponse

from maintainer.api import job_schemas, wire
from maintainer.api.access import on_any, on_job
from maintainer.api.auth import ActorIn, FollowIn, PersonIn
from maintainer.api.deps import ContextIn, PortsIn
from maintainer.api.errors import ProblemError, declare_problems
from maintainer.api.fields import Time
from maintainer.api.paths import JobIn
from maintainer.api.spans import in_utc
from maintainer.api.stream import EVENT_STREAM, STREAM_HEADERS, tell_events
from maintainer.api.tables import DEFAULT_PAGE, MAX_TEXT, Cursor, Limit, Text
from maintainer.domain.access import Role
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobRule, JobState
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.cancel import request_cancel
from maintainer.requests.rollback import request_rollback

MAX_SEQUENCE = 2**63 - 1  # a sequence number is a 64-bit integer in every database

router = APIRouter(tags=["jobs"])
NOT_FOUND = declare_problems(HTTPStatus.NOT_FOUND)


@router.get("/jobs", summary="The job list", dependencies=[on_any(Role.VIEWER)])
def get_jobs(  # noqa: PLR0913, PLR0917 - query parameters are arguments, given by name
    context: ContextIn,
    person: PersonIn,
    state: Annotated[
        list[JobState] | None, Query(description="Only these states; may be given several times.")
    ] = None,
    table: Annotated[
        str | None,
        Query(max_length=MAX_TEXT, description="Only this table: catalog.namespace.table."),
    ] = None,
    rule: Annotated[JobRule | None, Query(description="Only this rule, or `roll_back`.")] = None,
    requested_by: Annotated[
        Text, Query(description="As the job has it, such as `policy` or `person ada`.")
    ] = "",
    since: Annotated[Time | None, Query(description="Created then or later; RFC 3339.")] = None,
    until: Annotated[Time | None, Query(description="Created before; RFC 3339.")] = None,
    limit: Limit = DEFAULT_PAGE,
    cursor: Cursor = None,
) -> job_schemas.JobPage:
    """Jobs, newest first."""
    page = context.ports.store.jobs(
        JobQuery(
            tuple(state or ()),
            TableIdentifier.parse(table) if table else None,
            limit,
            cursor,
            person.sees,
            rule,
            requested_by,
            None if since is None else in_utc(since),
            None if until is None else in_utc(until),
        )
    )
    return job_schemas.JobPage.of(
        page, items=[wire.write_job(job, context.spark_ui) for job in page.items]
    )


# JobIn reads it.
@router.get(
    "/jobs/{job_id}",  # noqa: FAST003
    summary="One job",
    responses=NOT_FOUND,
    dependencies=[on_job(Role.VIEWER)],
)
def get_job(job: JobIn, context: ContextIn) -> job_schemas.JobOut:
    """A job with its progress or, when it has ended, its effect."""
    return wire.write_job(job, context.spark_ui)


_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": (
            "Each message is a JobEventOut, its id the sequence number; `job` events carry the "
            "JobOut when it changed, `end` the final one."
        ),
        "content": {
            EVENT_STREAM: {"schema": {"type": "string"}},
            "application/json": {
                "schema": {"type": "array", "items": {"$ref": "#/components/schemas/JobEventOut"}}
            },
        },
    },
    **NOT_FOUND,
}


@router.get(
    "/jobs/{job_id}/events",  # noqa: FAST003 - as above
    summary="A job's activity, as it happens",
    responses=_EVENTS,
    response_class=Response,
    dependencies=[on_job(Role.VIEWER)],
)
def get_job_events(
    job: JobIn,
    context: ContextIn,
    follow: FollowIn,
    accept: Annotated[
        str, Header(description="application/json: the events so far, as a list.")
    ] = EVENT_STREAM,
    last_event_id: Annotated[
        int | None, Header(ge=0, le=MAX_SEQUENCE, description="Go on after this sequence number.")
    ] = None,
) -> Response:
    """Server-Sent Events until the job has ended, or a list with Accept: application/json.

    Close on `end`; reconnect when the stream ends before it.
    """
    after = last_event_id or 0
    if "application/json" in accept and EVENT_STREAM not in accept:
        events = [
            wire.write_event(event).model_dump_json()
            for event in context.ports.store.events(job.job_id, after)
        ]
        return Response(f"[{','.join(events)}]", media_type="application/json")
    follow()
    messages = tell_events(context, job, after)
    return StreamingResponse(messages, media_type=EVENT_STREAM, headers=STREAM_HEADERS)


@router.post(
    "/jobs/{job_id}/cancel",  # noqa: FAST003 - as above
    summary="Cancel a job",
    status_code=HTTPStatus.ACCEPTED,
    responses=declare_problems(HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    dependencies=[on_job(Role.OPERATOR)],
)
def cancel_job(
    job: JobIn, ports: PortsIn, context: ContextIn, actor: ActorIn
) -> job_schemas.JobOut:
    """Ask Spark to stop.

    The job ends as cancelled when it can commit nothing more. 409 when it has ended already.
    """
    if job.state.is_final:
        raise ProblemError(HTTPStatus.CONFLICT, f"job {job.job_id} is over: it is {job.state}")
    return wire.write_job(request_cancel(ports, job, actor), context.spark_ui)


@router.post(
    "/jobs/{job_id}/rollback",  # noqa: FAST003 - as above
    summary="Undo a job",
    status_code=HTTPStatus.ACCEPTED,
    responses=declare_problems(HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    dependencies=[on_job(Role.APPROVER)],
)
def roll_job_back(
    job: JobIn, ports: PortsIn, context: ContextIn, actor: ActorIn
) -> job_schemas.JobOut:
    """Set the table back to its state before the job, by a job of its own, and pause it.

    409 with the reason when that is impossible.
    """
    return wire.write_job(request_rollback(ports, job, actor), context.spark_ui)
