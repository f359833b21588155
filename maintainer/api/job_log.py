"""A job's log: what its driver wrote while it had the job."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from time import monotonic
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from starlette.responses import PlainTextResponse, StreamingResponse

from maintainer.api import job_schemas
from maintainer.api.access import on_job
from maintainer.api.auth import FollowIn
from maintainer.api.deps import ApiContext, ContextIn
from maintainer.api.jobs import MAX_SEQUENCE, NOT_FOUND
from maintainer.api.paths import JobIn
from maintainer.api.stream import (
    EVENT_STREAM,
    KEEP_ALIVE,
    KEEP_ALIVE_SECONDS,
    STREAM_HEADERS,
    bound_waiting,
)
from maintainer.domain.access import Role
from maintainer.domain.job import Job
from maintainer.ports import Ports

POLL_SECONDS = 1.0
LAST_LINES_WITHIN = timedelta(seconds=30)  # after a job's end; later its log is no longer copied

router = APIRouter(tags=["jobs"])


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
    return bound_waiting(lambda seconds: _follow(context, job, since, seconds))


def _follow(context: ApiContext, job: Job, since: int, seconds: float) -> Iterator[str]:
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
        if monotonic() >= deadline or context.stopping.wait(POLL_SECONDS):
            return
        if monotonic() - told_at >= KEEP_ALIVE_SECONDS:
            yield KEEP_ALIVE
            told_at = monotonic()
        job = ports.store.job(job.job_id) or job


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
    **NOT_FOUND,
}


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
