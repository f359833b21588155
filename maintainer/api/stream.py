"""A job's activity as Server-Sent Events, with bounded waiting."""

from __future__ import annotations

from collections.abc import Iterator
from threading import BoundedSemaphore, Event
from time import monotonic

from maintainer.api import wire
from maintainer.domain.job import Job
from maintainer.ports import Ports

EVENT_STREAM = "text/event-stream"
POLL_SECONDS = 0.5
KEEP_ALIVE_SECONDS = 15.0  # interval of a comment that makes proxies keep the connection
MAX_STREAM_SECONDS = 600.0  # then the stream ends and the client reconnects with Last-Event-ID
MAX_STREAMS = 16  # that wait at one time: each takes one of the server's forty threads
RECONNECT_MILLISECONDS = 3000

_waiting = BoundedSemaphore(MAX_STREAMS)


def tell_events(ports: Ports, stopping: Event, job: Job, after: int) -> Iterator[str]:
    """Yield the events after that sequence number, and new ones until the job has ended.

    When MAX_STREAMS are waiting already, the stream ends after the stored events, and the client
    reconnects by itself.
    """
    yield f"retry: {RECONNECT_MILLISECONDS}\n\n"
    may_wait = _waiting.acquire(blocking=False)
    try:
        yield from _follow(ports, stopping, job, after, MAX_STREAM_SECONDS if may_wait else 0)
    finally:
        if may_wait:
            _waiting.release()


def _follow(ports: Ports, stopping: Event, job: Job, after: int, seconds: float) -> Iterator[str]:
    deadline, told_at = monotonic() + seconds, monotonic()
    told: Job | None = None
    while True:
        was_final = told is not None and told.state.is_final
        lines: list[str] = []
        for event in ports.store.events(job.job_id, after):
            after = event.sequence
            lines.append(
                f"id: {event.sequence}\ndata: {wire.write_event(event).model_dump_json()}\n\n"
            )
        if job != told:
            lines.append(f"event: job\ndata: {wire.write_job(job).model_dump_json()}\n\n")
            told = job
        if lines:
            yield "".join(lines)
            told_at = monotonic()
        if was_final:  # the events were read once more after the job's end
            yield (f"event: end\ndata: {wire.write_job(job).model_dump_json()}\n\n")
            return
        if not job.state.is_final and (monotonic() >= deadline or stopping.wait(POLL_SECONDS)):
            return
        if monotonic() - told_at >= KEEP_ALIVE_SECONDS:
            yield ": still here\n\n"
            told_at = monotonic()
        job = ports.store.job(job.job_id) or job
