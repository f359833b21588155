"""Requests after jobs, as a receiver gets them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from http.server import ThreadingHTTPServer

import pytest

from maintainer.adapters.telemetry.webhooks import (
    PLACEHOLDERS,
    Webhook,
    WebhookExporter,
    write_body,
)
from maintainer.domain.effect import Effect
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.job import Job, JobState
from tests.adapters.spark.lakes import wait_until
from tests.adapters.store.values import make_effect
from tests.samples import NOW, job_of_manifests
from tests.small_http import SmallHandler, serve_on_loopback

JOB = replace(job_of_manifests(), started_at=NOW, finished_at=NOW, state=JobState.SUCCEEDED)
AT_ONCE = (timedelta(0), timedelta(0))
CHANGED = replace(make_effect(), own_commits=1)
UNCHANGED = replace(
    make_effect(), own_commits=0, snapshots_removed=0, orphans_removed=0, statistics_written=0
)


class Receiver(ThreadingHTTPServer):
    """Keeps what it takes; the first so many requests get another answer."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.refusals: list[int] = []  # status codes
        self.address = ""


class _Handler(SmallHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        if self.server.refusals:
            status = self.server.refusals.pop(0)
            self.answer(status, headers={"location": f"{self.server.address}/elsewhere"})
            return
        self.server.bodies.append(body)
        self.server.headers.append({**self.headers, "path": self.path})
        self.answer(204)

    do_GET = do_POST  # what follows a redirect


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    with serve_on_loopback(receiver) as receiver.address:
        yield receiver


def send(
    receiver: Receiver,
    webhook: Webhook | None = None,
    job: Job = JOB,
    effect: Effect | None = CHANGED,
) -> None:
    hook = webhook or hook_of(receiver)
    with closing(WebhookExporter([hook], retry_waits=AT_ONCE)) as exporter:
        exporter.job_finished(job, effect)


def hook_of(receiver: Receiver, **options: object) -> Webhook:
    return replace(Webhook("refresh", f"{receiver.address}/hook"), **options)  # type: ignore[arg-type]


def test_a_job_that_changed_its_table_is_a_cloud_event(receiver: Receiver) -> None:
    send(receiver, hook_of(receiver, headers={"x-key": "planted"}))
    (body,), (headers,) = receiver.bodies, receiver.headers
    event = json.loads(body)
    assert (event["specversion"], event["id"]) == ("1.0", JOB.job_id)
    assert event["type"] == "iceberg-maintainer.job.succeeded"
    assert event["subject"] == event["data"]["table"] == "lake.sales.orders"
    assert event["data"]["snapshot"] == str(CHANGED.after.snapshot_id)
    assert event["data"].keys() == PLACEHOLDERS
    assert headers["path"] == "/hook"
    assert headers["x-key"] == "planted"
    assert headers["content-type"] == "application/cloudevents+json"


def test_quotes_in_a_value_do_not_break_the_operators_body(receiver: Receiver) -> None:
    odd = replace(JOB, table=TableIdentifier("lake", ("sales",), 'a"b\\c'))
    send(receiver, hook_of(receiver, body='{"conf": {"table": "$table", "cost": "1 $$"}}'), odd)
    assert json.loads(receiver.bodies[0]) == {"conf": {"table": str(odd.table), "cost": "1 $"}}
    assert receiver.headers[0]["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("effect", "of_all", "requests"),
    [
        (CHANGED, False, 1),
        (UNCHANGED, False, 0),
        (None, False, 0),
        (UNCHANGED, True, 1),
        (None, True, 1),
        (replace(UNCHANGED, snapshots_removed=1), False, 1),
        (replace(UNCHANGED, orphans_removed=1), False, 1),
        (replace(UNCHANGED, statistics_written=1), False, 1),
    ],
)
def test_only_changed_tables_cause_a_request_unless_all_jobs_do(
    receiver: Receiver, effect: Effect | None, of_all: bool, requests: int
) -> None:
    send(receiver, hook_of(receiver, of_all_jobs=of_all), effect=effect)
    assert len(receiver.bodies) == requests


def test_a_webhook_gets_the_jobs_on_its_tables_alone(receiver: Receiver) -> None:
    for pattern in ("lake.sales.*", "lake.logs.*", "lake.sales.order"):
        send(receiver, hook_of(receiver, tables=(TablePattern(pattern),)))
    assert len(receiver.bodies) == 1


def test_a_failed_job_that_committed_parts_is_sent_with_its_reason(receiver: Receiver) -> None:
    send(receiver, job=replace(JOB, state=JobState.FAILED, failure_message="a writer won"))
    event = json.loads(receiver.bodies[0])
    assert event["type"] == "iceberg-maintainer.job.failed"
    assert event["data"]["sentence"] == "a writer won"


@pytest.mark.parametrize("status", [500, 403, 302])
def test_what_is_refused_is_sent_again(receiver: Receiver, status: int) -> None:
    receiver.refusals = [status]
    with closing(WebhookExporter([hook_of(receiver)], AT_ONCE)) as exporter:
        exporter.job_finished(JOB, CHANGED)
        wait_until(lambda: receiver.bodies != [])
    assert receiver.headers[0]["path"] == "/hook", "a redirect is not followed"
    assert [json.loads(body)["id"] for body in receiver.bodies] == [JOB.job_id]


def test_a_receiver_that_stays_away_costs_its_request_and_shows_no_secret(
    caplog: pytest.LogCaptureFixture,
) -> None:
    hook = Webhook("refresh", "http://127.0.0.1:1/?key=planted", {"x-key": "planted"})
    with caplog.at_level(logging.WARNING), closing(WebhookExporter([hook], AT_ONCE)) as exporter:
        exporter.job_finished(JOB, CHANGED)
    assert f"webhook.lost webhook=refresh job={JOB.job_id} error='ConnectionError'" in caplog.text
    assert "planted" not in caplog.text
    assert "planted" not in repr(hook)


def test_each_value_is_filled_in() -> None:
    template = "|".join(f"${name}" for name in sorted(PLACEHOLDERS))
    assert "$" not in write_body(Webhook("w", "", body=template), JOB, None)
