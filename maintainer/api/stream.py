"""A job's activity as Server-Sent Events, and the bounds of all such streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import BoundedSemaphore
from time import monotonic

from maintainer.api import wire
from maintainer.api.deps import ApiContext
from maintainer.domain.job import Job

EVENT_STREAM = "text/event-stream"
POLL_SECONDS = 0.5
KEEP_ALIVE_SECONDS = 15.0  # interval of a comment that makes proxies keep the connection
MAX_STREAM_SECONDS = 600.0  # then the stream ends and the client reconnects with Last-Event-ID
MAX_STREAMS = 16  # at the same time; each takes one of the server's forty threads
RECONNECT_MILLISECONDS = 3000
KEEP_ALIVE = ": still here\n\n"
STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}

_waiting = BoundedSemaphore(MAX_STREAMS)


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
