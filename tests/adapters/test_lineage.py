"""OpenLineage events as a receiver gets them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http.server import ThreadingHTTPServer
from typing import Any

import pytest

from maintainer.adapters.telemetry import lineage
from maintainer.adapters.telemetry.lineage import LineageExporter, name_dataset
from maintainer.domain.job import Job, JobState
from tests.adapters.store.values import make_effect
from tests.samples import NOW, job_of_manifests
from tests.small_http import SmallHandler, serve_on_loopback

JOB = replace(job_of_manifests(), started_at=NOW, finished_at=NOW, state=JobState.SUCCEEDED)


class Receiver(ThreadingHTTPServer):
    """Keeps the events; the first so many requests are refused."""

    def __init__(self, refusals: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.events: list[dict[str, Any]] = []
        self.requests: set[tuple[str, str | None]] = set()
        self.refusals = refusals


class _Handler(SmallHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.add((self.path, self.headers["Authorization"]))
        if self.server.refusals:
            self.server.refusals -= 1
            self.answer(503)
        else:
            self.server.events.append(json.loads(body))
            self.answer(201)


@dataclass
class Site:
    receiver: Receiver = field(default_factory=Receiver)
    address: str = ""

    def export(self, job: Job, location: str | None = "s3://lake/sales/orders") -> None:
        exporter = LineageExporter(self.address, "planted", "maintenance", lambda _table: location)
        with closing(exporter):
            exporter.job_finished(job, make_effect())

    def events(self) -> list[tuple[str, str]]:
        return [(each["eventType"], each["run"]["runId"]) for each in self.receiver.events]


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    with serve_on_loopback(site.receiver) as site.address:
        yield site


def test_a_job_is_a_run_that_reads_and_writes_its_table(site: Site) -> None:
    site.export(JOB)
    start, end = site.receiver.events
    assert [start["eventType"], end["eventType"]] == ["START", "COMPLETE"]
    assert start["run"]["runId"] == end["run"]["runId"]
    assert datetime.fromisoformat(start["eventTime"]) == JOB.started_at
    assert end["job"]["namespace"] == "maintenance"
    assert end["job"]["name"] == "lake.sales.orders.rewrite_manifests"
    [read], [written] = end["inputs"], end["outputs"]
    for dataset in (read, written):
        assert (dataset["namespace"], dataset["name"]) == ("s3://lake", "sales/orders")
        [alias] = dataset["facets"]["symlinks"]["identifiers"]
        assert alias == {"namespace": "lake", "name": "sales.orders", "type": "TABLE"}
    after = make_effect().after.snapshot_id
    assert written["facets"]["version"]["datasetVersion"] == str(after)
    assert site.receiver.requests == {("/api/v1/lineage", "Bearer planted")}


def test_a_failed_and_a_cancelled_job_say_so(site: Site) -> None:
    site.export(replace(JOB, state=JobState.FAILED, failure_message="a writer won"))
    end = site.receiver.events[-1]
    assert end["eventType"] == "FAIL"
    assert end["run"]["facets"]["errorMessage"]["message"] == "a writer won"
    site.export(replace(JOB, state=JobState.CANCELLED))
    assert site.receiver.events[-1]["eventType"] == "ABORT"


def test_a_job_that_is_reported_again_is_the_same_run(site: Site) -> None:
    site.export(JOB)
    site.export(JOB)
    site.export(replace(JOB, job_id="m-2"))
    runs = [run for state, run in site.events() if state == "COMPLETE"]
    assert runs[0] == runs[1] != runs[2]


def test_an_event_that_is_refused_is_sent_again(site: Site) -> None:
    site.receiver.refusals = 1
    site.export(JOB)
    assert [state for state, _run in site.events()] == ["START", "COMPLETE"]


def test_a_table_without_a_known_location_has_the_name_of_its_catalog(site: Site) -> None:
    site.export(JOB, location=None)
    [written] = site.receiver.events[-1]["outputs"]
    assert (written["namespace"], written["name"]) == ("lake", "sales.orders")


def test_a_receiver_that_is_away_costs_its_events_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lineage, "_CLOSE_GRACE", timedelta(seconds=0.2))
    exporter = LineageExporter("http://127.0.0.1:1", None, "maintenance", lambda _table: None)
    exporter.job_finished(JOB, None)
    exporter.close()


@pytest.mark.parametrize(
    ("location", "dataset"),
    [
        ("s3a://lake/db/orders/", ("s3://lake", "db/orders")),
        ("gs://lake/db/orders", ("gs://lake", "db/orders")),
        ("hdfs://nameservice/db/orders", ("hdfs://nameservice", "/db/orders")),
        ("/srv/lake/orders", ("file", "/srv/lake/orders")),
        ("file:///srv/lake/orders", ("file", "/srv/lake/orders")),
        (
            "abfss://lake@account.dfs.core.windows.net/orders",
            ("abfss://lake@account.dfs.core.windows.net", "orders"),
        ),
    ],
)
def test_a_directory_is_named_as_other_tools_name_it(
    location: str, dataset: tuple[str, str]
) -> None:
    assert name_dataset(location) == dataset
