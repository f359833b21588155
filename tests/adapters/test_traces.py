"""Traces as an OpenTelemetry collector receives them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http.server import ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from maintainer.adapters.telemetry import traces
from maintainer.adapters.telemetry.traces import TraceExporter
from maintainer.domain.job import FailureReason, JobState
from tests.adapters.store.values import make_effect
from tests.samples import NOW, job_of_manifests
from tests.small_http import SmallHandler, serve_on_loopback


class Collector(ThreadingHTTPServer):
    """An OTLP receiver that keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: dict[str, Span] = {}
        self.tokens: set[str | None] = set()


class _Handler(SmallHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            for scope in resource.scope_spans:
                self.server.spans |= {span.name: span for span in scope.spans}
        self.server.tokens.add(self.headers["authorization"])
        self.answer(200)


@dataclass
class Site:
    collector: Collector = field(default_factory=Collector)
    endpoint: str = ""

    def exporter(self) -> TraceExporter:
        return TraceExporter(self.endpoint, {"authorization": "Bearer planted"})


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    with serve_on_loopback(site.collector) as address:
        site.endpoint = f"{address}/v1/traces"
        yield site


def attributes(span: Span) -> dict[str, str]:
    return {each.key: each.value.string_value for each in span.attributes}


def test_a_job_is_one_trace_with_its_phases(site: Site) -> None:
    moments = [NOW + timedelta(seconds=second) for second in (0, 10, 15, 45, 46)]
    created, submitted, started, ended, finished = moments
    job = replace(
        job_of_manifests(),
        created_at=created,
        submitted_at=submitted,
        started_at=started,
        ended_at=ended,
        finished_at=finished,
        state=JobState.FAILED,
        failure_reason=FailureReason.CONFLICT,
        failure_message="a writer won",
    )
    with closing(site.exporter()) as exporter:
        exporter.job_finished(job, make_effect())
    spans = site.collector.spans
    root = spans.pop("job rewrite_manifests")
    seconds = {
        name: (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9
        for name, span in spans.items()
    }
    assert seconds == {
        "wait for admission": 10,
        "start Spark": 5,
        "run on Spark": 30,
        "prove the result": 1,
    }
    assert {(span.trace_id, span.parent_span_id) for span in spans.values()} == {
        (root.trace_id, root.span_id)
    }
    assert root.end_time_unix_nano - root.start_time_unix_nano == 46 * 10**9
    assert (root.status.code, root.status.message) == (Status.STATUS_CODE_ERROR, "a writer won")
    found = attributes(root)
    assert found["iceberg.table"] == "lake.sales.orders"
    assert found["maintainer.job.failure_reason"] == "conflict"
    assert found["maintainer.effect.rows"] == "equal"
    assert site.collector.tokens == {"Bearer planted"}


def test_a_job_that_never_reached_spark_has_one_phase(site: Site) -> None:
    job = replace(job_of_manifests(), created_at=NOW, finished_at=NOW, state=JobState.CANCELLED)
    with closing(site.exporter()) as exporter:
        exporter.job_finished(job, None)
    assert set(site.collector.spans) == {"job rewrite_manifests", "wait for admission"}
    assert site.collector.spans["job rewrite_manifests"].status.code == Status.STATUS_CODE_UNSET


def test_a_run_of_a_step_is_a_span_unless_it_did_nothing(site: Site) -> None:
    with closing(site.exporter()) as exporter:
        exporter.step_finished("watch", 0.01, is_ok=True)
        exporter.step_finished("plan", 0.01, is_ok=False)
        exporter.step_finished("scan", 2.5, is_ok=True)
    spans = site.collector.spans
    assert {name: span.status.code for name, span in spans.items()} == {
        "step plan": Status.STATUS_CODE_ERROR,
        "step scan": Status.STATUS_CODE_UNSET,
    }
    scan = spans["step scan"]
    assert scan.end_time_unix_nano - scan.start_time_unix_nano == 2_500_000_000


def test_a_collector_that_is_away_costs_its_spans_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traces, "_EXPORT_SECONDS", 0.3)
    exporter = TraceExporter("http://127.0.0.1:1/v1/traces", {})
    exporter.job_finished(job_of_manifests(), None)
    exporter.close()
