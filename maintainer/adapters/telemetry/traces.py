"""Traces of jobs and steps for an OpenTelemetry collector."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Final

from maintainer.adapters.extras import require_package
from maintainer.domain.effect import Effect
from maintainer.domain.job import Job, JobState

_LEAST_SECONDS: Final = 0.1  # shorter runs of a step are left out, because most do nothing
_SERVICE: Final = "iceberg-maintainer"
_EXPORT_SECONDS: Final = 3.0  # for one request to the collector, with its repetitions
_NANOSECONDS: Final = 1_000_000_000

Attributes = dict[str, str | int | float]


class TraceExporter:
    """Sends spans over OTLP/HTTP, in batches from a thread of OpenTelemetry.

    A job is one trace with a span for the job and for each of its phases. A run of a step is a
    trace of one span; a successful run below 0.1 s is left out. While a collector is unavailable,
    spans are lost.
    """

    def __init__(self, endpoint: str, headers: Mapping[str, str]) -> None:
        """Start the thread; ImportError without the extra `opentelemetry`.

        `endpoint` is the whole address, such as http://collector:4318/v1/traces.
        """
        require_package("opentelemetry.sdk", "opentelemetry", "tracing")
        # The import of this extra takes 0.2 s.
        from opentelemetry import trace  # noqa: PLC0415
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

        self._trace = trace
        exporter = OTLPSpanExporter(endpoint, headers=dict(headers), timeout=_EXPORT_SECONDS)
        self._provider = TracerProvider(resource=Resource.create({SERVICE_NAME: _SERVICE}))
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer(_SERVICE)

    def step_finished(self, step: str, seconds: float, is_ok: bool) -> None:
        """Send a span of the run, if it took 0.1 s or failed."""
        if is_ok and seconds < _LEAST_SECONDS:
            return
        end = time.time_ns()
        span = self._tracer.start_span(
            f"step {step}",
            start_time=end - round(seconds * _NANOSECONDS),
            attributes={"maintainer.step": step},
        )
        if not is_ok:
            span.set_status(self._trace.StatusCode.ERROR)
        span.end(end)

    def job_finished(self, job: Job, effect: Effect | None) -> None:
        """Send the trace of a job that has reached a final state."""
        root = self._tracer.start_span(
            f"job {job.rule}",
            start_time=_nanoseconds(job.created_at),
            attributes=_describe(job, effect),
        )
        if job.state is JobState.FAILED:
            root.set_status(self._trace.StatusCode.ERROR, job.failure_message)
        whole = self._trace.set_span_in_context(root)
        for name, begin, end in _phases(job):
            phase = self._tracer.start_span(name, whole, start_time=_nanoseconds(begin))
            phase.end(_nanoseconds(end))
        root.end(_nanoseconds(job.closed_at))

    def close(self) -> None:
        """Send the remaining spans, if the collector takes them at once."""
        self._provider.shutdown()


def _phases(job: Job) -> Iterator[tuple[str, datetime, datetime]]:
    """Yield the phases that the job has had: name, begin, end."""
    moments = (
        ("wait for admission", job.created_at),
        ("start Spark", job.submitted_at),
        ("run on Spark", job.started_at),
        ("prove the result", job.ended_at),
        ("", job.finished_at),
    )
    known = [(name, at) for name, at in moments if at is not None]
    for (name, begin), (_, end) in pairwise(known):
        yield name, begin, max(begin, end)


def _describe(job: Job, effect: Effect | None) -> Attributes:
    found: dict[str, str | int | float | None] = {
        "iceberg.table": str(job.table),
        "maintainer.job.id": job.job_id,
        "maintainer.job.rule": str(job.rule),
        "maintainer.job.state": str(job.state),
        "maintainer.job.failure_reason": job.failure_reason and str(job.failure_reason),
        "maintainer.job.gb_hours": job.gb_hours,
        "maintainer.job.pool": job.pool,
    }
    if effect is not None:
        found |= {
            "maintainer.effect": effect.sentence,
            "maintainer.effect.bytes_rewritten": effect.bytes_rewritten,
            "maintainer.effect.files_removed": effect.files_removed,
            "maintainer.effect.rows": str(effect.rows),
        }
    return {name: value for name, value in found.items() if value is not None}


def _nanoseconds(moment: datetime) -> int:
    return round(moment.timestamp() * _NANOSECONDS)
