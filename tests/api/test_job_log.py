"""A job's log: as text, as JSON, and as a stream that goes on after a lost connection."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest

from maintainer.api import jobs
from maintainer.api.jobs import LAST_LINES_WITHIN, tell_log
from maintainer.domain.driver import JobDriver, JobLog
from maintainer.domain.errors import StoreUnavailableError
from maintainer.domain.job import Job, JobState
from maintainer.domain.pool import DEFAULT_POOL
from tests.api.nouns import finish_job
from tests.api.serving import Client, expect_problem, job_of
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.spark import FakeRunner

PATH = "/api/v1/jobs/job-2/log"
AS_JSON = {"Accept": "application/json"}
AS_STREAM = {"Accept": "text/event-stream"}
LOG = JobLog("one\ntwo\n", 0)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LOG_POLL_SECONDS", 0)


def runner_of(client: Client) -> FakeRunner:
    runner = client.daemon.ports.runner
    assert isinstance(runner, FakeRunner)
    return runner


def write(client: Client, log: JobLog) -> None:
    runner_of(client).logs["job-2"] = log


def finish(client: Client) -> Job:
    ended = finish_job(job_of(client.daemon.store, "job-2"))
    assert client.daemon.store.update_job(ended, JobState.RUNNING)
    return ended


def read_messages(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """(event, id, data) of each message."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "data" in fields:
            found.append((fields.get("event", ""), fields["id"], json.loads(fields["data"])))
    return found


def test_the_log_is_text_for_who_asks_for_nothing_else(client: Client) -> None:
    write(client, LOG)
    answer = client.get(PATH)
    assert (answer.text, answer.headers["content-type"]) == (
        "one\ntwo\n",
        "text/plain; charset=utf-8",
    )
    assert client.get(PATH, since=4).text == "two\n"
    assert client.get("/api/v1/jobs/job-2/log", {"Accept": "*/*"}).text == "one\ntwo\n"


def test_a_piece_of_the_log_says_where_the_next_one_begins(client: Client) -> None:
    write(client, LOG)
    assert client.get(PATH, AS_JSON, since=4).json() == {
        "text": "two\n",
        "start": 4,
        "next": 8,
        "state": "growing",
    }
    assert client.get(PATH, AS_JSON, since=8).json()["text"] == ""
    write(client, replace(LOG, is_complete=True))
    assert client.get(PATH, AS_JSON).json()["state"] == "complete"


def test_a_log_of_which_only_the_end_is_kept_says_where_it_begins(client: Client) -> None:
    write(client, JobLog("the end\n", 1_000))
    found = client.get(PATH, AS_JSON, since=10).json()
    assert (found["start"], found["next"]) == (1_000, 1_008)


def test_a_job_without_a_log_says_whether_one_may_come(client: Client) -> None:
    assert client.get(PATH, AS_JSON).json()["state"] == "waiting"
    assert client.get(PATH).text == ""
    ended = finish(client)
    clock = client.daemon.ports.clock
    assert isinstance(clock, FakeClock)
    clock.advance(ended.closed_at + LAST_LINES_WITHIN - clock.now())
    assert client.get(PATH, AS_JSON).json()["state"] == "waiting"
    clock.advance(timedelta(seconds=1))
    assert client.get(PATH, AS_JSON).json()["state"] == "none"
    write(client, LOG)
    assert client.get(PATH, AS_JSON).json()["state"] == "complete", "its process was killed"


def test_a_stream_follows_the_log_to_its_end(client: Client) -> None:
    write(client, LOG)
    sent = tell_log(client.daemon.context(), job_of(client.daemon.store, "job-2"), 0)
    assert next(sent) == "retry: 3000\n\n"
    first = next(sent)
    write(client, JobLog("one\ntwo\nthree\n", 0, is_complete=True))
    messages = read_messages(first + "".join(sent))
    assert [(event, number, data["text"]) for event, number, data in messages] == [
        ("", "8", "one\ntwo\n"),
        ("", "14", "three\n"),
        ("end", "14", ""),
    ]


def test_a_stream_goes_on_after_the_position_that_the_client_has(client: Client) -> None:
    write(client, replace(LOG, is_complete=True))
    for headers, query in (
        ({**AS_STREAM, "Last-Event-ID": "4"}, {"since": 0}),
        (AS_STREAM, {"since": 4}),
    ):
        answer = client.get(PATH, headers, **query)
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-cache"
        assert [(data["text"], event) for event, _, data in read_messages(answer.text)] == [
            ("two\n", ""),
            ("", "end"),
        ]


def test_streams_are_bounded_together_with_those_of_activities(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_waiting", threading.BoundedSemaphore(1))
    write(client, LOG)
    job = job_of(client.daemon.store, "job-2")
    waiting = jobs.tell_events(client.daemon.context(), job, 0)
    next(waiting)
    next(waiting)
    beyond = "".join(tell_log(client.daemon.context(), job, 0))
    assert [data["text"] for _, _, data in read_messages(beyond)] == ["one\ntwo\n"]
    close(waiting)


def close(sent: Iterator[str]) -> None:
    sent.close()  # type: ignore[attr-defined]


def test_a_quiet_stream_says_that_it_is_still_here_and_ends_with_its_bound_or_the_daemon(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "KEEP_ALIVE_SECONDS", 0)
    job = job_of(client.daemon.store, "job-2")
    sent = tell_log(client.daemon.context(), job, 0)
    assert [next(sent), next(sent)] == ["retry: 3000\n\n", ": still here\n\n"]
    client.daemon.stopping.set()
    assert list(sent) == []
    client.daemon.stopping.clear()
    monkeypatch.setattr(jobs, "MAX_STREAM_SECONDS", 0)
    assert list(tell_log(client.daemon.context(), job, 0)) == ["retry: 3000\n\n"]


def test_the_log_of_an_unknown_job_and_impossible_positions_are_problems(client: Client) -> None:
    assert "no job 'nope' is known" in expect_problem(client.get("/api/v1/jobs/nope/log"), 404)
    assert "since" in expect_problem(client.get(PATH, since=-1), 422)
    bad = AS_STREAM | {"Last-Event-ID": "x"}
    assert "last-event-id" in expect_problem(client.get(PATH, bad), 422)


def test_a_store_that_is_away_is_said(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    away = Mock(side_effect=StoreUnavailableError("the store is away"))
    monkeypatch.setattr(runner_of(client), "log", away)
    assert "the store is away" in expect_problem(client.get(PATH), 503)


DRIVER = JobDriver("spark-1", "app/1", "pod-1", "pod-1", 7, "4.1.4", "2.13.17", "21.0.8", "1.12.0")


@pytest.mark.parametrize(
    ("template", "driver", "url"),
    [
        ("https://h/{application_id}", DRIVER, "https://h/app%2F1"),
        ("https://h/{driver}/{host}/{pod}", DRIVER, "https://h/spark-1/pod-1/pod-1"),
        ("https://h/{application_id}", JobDriver("spark-1"), ""),
        ("https://h/{driver}", JobDriver("spark-1"), "https://h/spark-1"),
        ("", DRIVER, ""),
    ],
)
def test_a_job_shows_its_driver_with_a_link_if_all_of_it_is_known(
    client: Client, template: str, driver: JobDriver, url: str
) -> None:
    client.daemon.spark_ui = {DEFAULT_POOL: template, "other": "https://other"}
    job = job_of(client.daemon.store, "job-2")
    assert client.get("/api/v1/jobs/job-2").json()["driver"] is None
    assert client.daemon.store.update_job(replace(job, driver=driver), job)
    found = client.get("/api/v1/jobs/job-2").json()["driver"]
    assert (found["name"], found["ui_url"]) == ("spark-1", url)
    assert found["process"] == driver.process
