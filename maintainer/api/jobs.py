"""Jobs: the list, one job, its activity and its log as streams, cancelling and rolling back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from http import HTTPStatus
from threading import BoundedSemaphore
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from starlette.responses import PlainTextResponse, StreamingResponse

from maintainer.api import job_schemas, wire
from maintainer.api.access import JobIn, on_any, on_job
from maintainer.api.deps import ActorIn, ApiContext, ContextIn, FollowIn, PersonIn, PortsIn
from maintainer.api.errors import ProblemError, declare_problems
from maintainer.api.spans import DEFAULT_PAGE, MAX_TEXT, Cursor, Limit, Text, Time, in_utc
from maintainer.domain.access import Role
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import Job, JobRule, JobState
from maintainer.ports import Ports
from maintainer.ports.store.jobs import JobQuery
from maintainer.requests.pause import request_rollback
from maintainer.requests.run import describe_wait_of_cancelled, request_cancel

EVENT_STREAM = "text/event-stream"
POLL_SECONDS = 0.5
KEEP_ALIVE_SECONDS = 15.0  # interval of a comment that makes proxies keep the connection
MAX_STREAM_SECONDS = 600.0  # then the stream ends and the client reconnects with Last-Event-ID
MAX_STREAMS = 16  # at the same time; each takes one of the server's forty threads
RECONNECT_MILLISECONDS = 3000
KEEP_ALIVE = ": still here\n\n"
STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

_waiting = BoundedSemaphore(MAX_STREAMS)
MAX_SEQUENCE = 2**63 - 1  # a sequence number is a 64-bit integer in every database

router = APIRouter(tags=["jobs"])
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
}
LOG_POLL_SECONDS = 1.0
LAST_LINES_WITHIN = timedelta(seconds=30)  # after a job's end; later its log is no longer copied
_LOG: dict[int | str, dict[str, Any]] = {
    200: {
        "description": (
            "The kept log as text, or a JobLogOut. In a stream each message is a JobLogOut whose "
            "id is the position after it; `end` says that nothing follows."
        ),
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/json": {"schema": {"$ref": "#/components/schemas/JobLogOut"}},
            EVENT_STREAM: {"schema": {"type": "string"}},
        },
    },
}


def tell_events(context: ApiContext, job: Job, after: int) -> Iterator[str]:
    """Yield the events after that sequence number, and new ones until the job has ended.

    When MAX_STREAMS are waiting already, the stream ends after the stored events, and the client
    reconnects by itself.
    """
    return bound_waiting(lambda seconds: _follow(context, job, after, seconds))


def bound_waiting(follow: Callable[[float], Iterator[str]]) -> Iterator[str]:
    """Yield what follows within so many seconds, or at once if MAX_STREAMS are waiting."""
    yield f"retry: {RECONNECT_MILLISECONDS}\n\n"
    may_wait = _waiting.acquire(blocking=False)
    try:
        yield from follow(MAX_STREAM_SECONDS if may_wait else 0)
    finally:
        if may_wait:
            _waiting.release()


def _follow(context: ApiContext, job: Job, after: int, seconds: float) -> Iterator[str]:
    store = context.ports.store
    deadline, sent_at = monotonic() + seconds, monotonic()
    reported: Job | None = None
    while True:
        was_final = reported is not None and reported.state.is_final
        lines: list[str] = []
        for event in store.events(job.job_id, after):
            after = event.sequence
            lines.append(
                f"id: {event.sequence}\ndata: {wire.write_event(event).model_dump_json()}\n\n"
            )
        if job != reported:
            lines.append(
                f"event: job\ndata: {wire.write_job(job, context.spark_ui).model_dump_json()}\n\n"
            )
            reported = job
        if lines:
            yield "".join(lines)
            sent_at = monotonic()
        if was_final:  # the events after the job's end were read too
            yield (
                f"event: end\ndata: {wire.write_job(job, context.spark_ui).model_dump_json()}\n\n"
            )
            return
        if not job.state.is_final and (
            monotonic() >= deadline or context.stopping.wait(POLL_SECONDS)
        ):
            return
        if monotonic() - sent_at >= KEEP_ALIVE_SECONDS:
            yield KEEP_ALIVE
            sent_at = monotonic()
        job = store.job(job.job_id) or job


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
    dependencies=[on_job(Role.VIEWER)],
)
def get_job(job: JobIn, context: ContextIn) -> job_schemas.JobOut:
    """A job with its progress or, when it has ended, its effect."""
    return wire.write_job(job, context.spark_ui)


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
    responses=declare_problems(HTTPStatus.CONFLICT),
    dependencies=[on_job(Role.OPERATOR)],
)
def cancel_job(
    job: JobIn, ports: PortsIn, context: ContextIn, actor: ActorIn
) -> job_schemas.CancelledJobOut:
    """Ask Spark to stop.

    The job ends as cancelled when it can commit nothing more, and its rule waits then. 409 when it
    has ended already.
    """
    if job.state.is_final:
        raise ProblemError(HTTPStatus.CONFLICT, f"job {job.job_id} is over: it is {job.state}")
    written = wire.write_job(request_cancel(ports, job, actor), context.spark_ui)
    until, sentence = describe_wait_of_cancelled(ports, job)
    return job_schemas.CancelledJobOut(**dict(written), waits_until=until, wait=sentence)


@router.post(
    "/jobs/{job_id}/rollback",  # noqa: FAST003 - as above
    summary="Undo a job",
    status_code=HTTPStatus.ACCEPTED,
    responses=declare_problems(HTTPStatus.CONFLICT),
    dependencies=[on_job(Role.APPROVER)],
)
def roll_job_back(
    job: JobIn, ports: PortsIn, context: ContextIn, actor: ActorIn
) -> job_schemas.JobOut:
    """Set the table back to its state before the job, by a job of its own, and pause it.

    409 with the reason when that is impossible.
    """
    return wire.write_job(request_rollback(ports, job, actor), context.spark_ui)


def read_log(ports: Ports, job: Job, since: int) -> job_schemas.JobLogOut:
    """The log from a position on, and what may still come."""
    found = ports.runner.log(job, since)
    is_over = job.state.is_final and ports.clock.now() - job.closed_at > LAST_LINES_WITHIN
    if found is None:
        state: job_schemas.LogState = "none" if is_over else "waiting"
        return job_schemas.JobLogOut(text="", start=0, next=0, state=state)
    state = "complete" if found.is_complete or is_over else "growing"
    return job_schemas.JobLogOut.of(found, state=state)


def tell_log(context: ApiContext, job: Job, since: int) -> Iterator[str]:
    """Yield the log as it grows, until it is complete."""
    return bound_waiting(lambda seconds: _follow_log(context, job, since, seconds))


def _follow_log(context: ApiContext, job: Job, since: int, seconds: float) -> Iterator[str]:
    ports = context.ports
    deadline, told_at = monotonic() + seconds, monotonic()
    while True:
        log = read_log(ports, job, since)
        if log.text:
            yield f"id: {log.next}\ndata: {log.model_dump_json()}\n\n"
            since, told_at = log.next, monotonic()
        if log.state in {"complete", "none"}:
            end = log.model_copy(update={"text": "", "start": log.next})
            yield f"event: end\nid: {log.next}\ndata: {end.model_dump_json()}\n\n"
            return
        if monotonic() >= deadline or context.stopping.wait(LOG_POLL_SECONDS):
            return
        if monotonic() - told_at >= KEEP_ALIVE_SECONDS:
            yield KEEP_ALIVE
            told_at = monotonic()
        job = ports.store.job(job.job_id) or job


@router.get(
    "/jobs/{job_id}/log",  # noqa: FAST003 - JobIn reads it
    summary="What a job's driver wrote",
    responses=_LOG,
    response_class=Response,
    dependencies=[on_job(Role.VIEWER)],
)
def get_job_log(  # noqa: PLR0913, PLR0917 - parameters of a request, given by name
    job: JobIn,
    context: ContextIn,
    follow: FollowIn,
    since: Annotated[
        int, Query(ge=0, le=MAX_SEQUENCE, description="Only what follows this position.")
    ] = 0,
    accept: Annotated[
        str,
        Header(description="text/plain, application/json, or text/event-stream to follow the log."),
    ] = "text/plain",
    last_event_id: Annotated[
        int | None,
        Header(ge=0, le=MAX_SEQUENCE, description="Go on after this position, instead of `since`."),
    ] = None,
) -> Response:
    """The job's share of its driver's log: from the start of a new driver, or where a warm one took
    the job, to the job's end. Other jobs of the driver write between its lines. The last 256 KiB
    are kept as long as the job; secrets of the settings are hidden.
    """
    if EVENT_STREAM in accept:
        after = since if last_event_id is None else last_event_id
        follow()
        messages = tell_log(context, job, after)
        return StreamingResponse(messages, media_type=EVENT_STREAM, headers=STREAM_HEADERS)
    log = read_log(context.ports, job, since)
    if "application/json" in accept:
        return Response(log.model_dump_json(), media_type="application/json")
    return PlainTextResponse(log.text)
