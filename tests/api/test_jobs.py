from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from maintainer.api import jobs as jobs_api
from maintainer.api.jobs import tell_events
from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.job import JobEvent, JobState
from tests.api.listening import DEADLINE_SECONDS, listening
from tests.api.nouns import NOW, ORDERS, finish_job, make_job, run_job
from tests.api.serving import Client, expect_problem, job_of


def tell(client: Client, *names: str, job_id: str = "job-1") -> None:
    client.daemon.store.append_events(
        [JobEvent(job_id, NOW, name, {"n": number}) for number, name in enumerate(names)]
    )


def finish(client: Client) -> None:
    assert client.daemon.store.update_job(
        finish_job(job_of(client.daemon.store, "job-2")), JobState.RUNNING
    )


def read_stream(text: str) -> list[tuple[str, str]]:
    """(event's type or its id, name or state) of each message."""
    messages = []
    for block in text.strip().split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in block.splitlines() if not line.startswith(":")
        )
        if "data" in fields:
            data = json.loads(fields["data"])
            messages.append(
                (fields.get("event", fields.get("id", "")), data.get("name") or data["state"])
            )
    return messages


@contextmanager
def serve(client: Client) -> Iterator[str]:
    """A real server on a free port; its address."""
    with listening(client.api, client.daemon.stopping) as served:
        yield served.address


def test_jobs_are_listed_newest_first_and_filtered(client: Client) -> None:
    other = replace(ORDERS, name="other")
    client.daemon.store.add_job(
        make_job("job-3", table=other, created_at=NOW - timedelta(minutes=1))
    )
    assert client.get("/api/v1/jobs").json()["items"][0]["job_id"] == "job-3"
    assert [
        job["job_id"]
        for job in client.get("/api/v1/jobs", state=["succeeded", "pending"]).json()["items"]
    ] == ["job-3", "job-1"]
    assert [
        job["job_id"] for job in client.get("/api/v1/jobs", table=str(other)).json()["items"]
    ] == ["job-3"]
    for wanted in (
        {"rule": "rewrite_data_files", "requested_by": "policy", "since": "2000-01-01T00:00:00Z"},
        {"until": "2000-01-01T00:00:00+01:00"},
        {"rule": "roll_back"},
        {"requested_by": "person ada"},
    ):
        found = client.get("/api/v1/jobs", **wanted).json()
        assert found["total"] == (3 if "since" in wanted else 0), wanted
    page = client.get("/api/v1/jobs", limit=2).json()
    rest = client.get("/api/v1/jobs", limit=2, cursor=page["next_cursor"]).json()
    assert (page["total"], len(page["items"]), len(rest["items"]), rest["next_cursor"]) == (
        3,
        2,
        1,
        None,
    )


@pytest.mark.parametrize(
    "query",
    [
        {"state": "asleep"},
        {"table": "orders"},
        {"table": "a..b"},
        {"limit": -1},
        {"cursor": "stolen"},
        {"rule": "vacuum"},
        {"since": "yesterday"},
        {"until": "2026-01-01"},
    ],
)
def test_a_bad_job_query_is_a_problem(client: Client, query: dict[str, object]) -> None:
    expect_problem(client.get("/api/v1/jobs", **query), 422)


def test_a_finished_job_shows_what_it_achieved(client: Client) -> None:
    job = client.get("/api/v1/jobs/job-1").json()
    assert job["state"] == "succeeded"
    assert (job["effect"]["before"]["data_files"], job["effect"]["after"]["data_files"]) == (100, 2)
    assert job["effect"]["after"]["snapshot_id"] == "9223372036854775806"
    assert (job["effect"]["rows"], job["effect"]["sentence"]) == ("equal", "98 files fewer")


def test_a_running_job_shows_its_progress(client: Client) -> None:
    job = client.get("/api/v1/jobs/job-2").json()
    assert {name: value for name, value in job["progress"].items() if value is not None} == {
        "tasks_done": 3,
        "tasks_total": 10,
        "phase": "rewriting files",
        "sentence": "3 tasks done",
        "stage": "waiting",
        "share": 0.0,
        "is_counted": False,
    }
    assert job["effect"] is None


@pytest.mark.parametrize(
    ("method", "page"),
    [("GET", ""), ("GET", "/events"), ("POST", "/cancel"), ("POST", "/rollback")],
)
def test_an_unknown_job_is_a_404(client: Client, method: str, page: str) -> None:
    assert "no job 'job-9'" in expect_problem(client.send(method, f"/api/v1/jobs/job-9{page}"), 404)


def test_a_running_job_can_be_cancelled(client: Client) -> None:
    response = client.post("/api/v1/jobs/job-2/cancel")
    assert response.status_code == 202
    assert job_of(client.daemon.store, "job-2").cancel_requested_by == "person"
    answer = response.json()
    assert answer["waits_until"] is not None
    assert answer["wait"].startswith(f"{answer['rule']} waits until 2026-")
    assert answer["wait"].endswith(f"`maintainer run {answer['table']}` starts it earlier")


def test_a_job_is_undone_by_another_one(client: Client) -> None:
    response = client.post("/api/v1/jobs/job-1/rollback")
    assert response.status_code == 202
    assert (response.json()["job_id"], response.json()["rule"]) == ("job-3", "roll_back")
    assert client.daemon.rollbacks == [("job-1", "person")]


def test_a_job_that_cannot_be_undone_is_refused_with_the_reason(client: Client) -> None:
    client.daemon.refusal = InvalidTransitionError(
        "job job-1 cannot be rolled back: 1 commit of others, 3 (append by etl), would be lost"
    )
    assert "would be lost" in expect_problem(client.post("/api/v1/jobs/job-1/rollback"), 409)


def test_a_job_that_is_over_cannot_be_cancelled(client: Client) -> None:
    assert "job job-1 is over: it is succeeded" in expect_problem(
        client.post("/api/v1/jobs/job-1/cancel"), 409
    )


def test_the_activity_of_a_finished_job_is_sent_once_with_its_end(client: Client) -> None:
    tell(client, "job.submitted", "job.proved")
    response = client.get("/api/v1/jobs/job-1/events")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert read_stream(response.text) == [
        ("1", "job.submitted"),
        ("2", "job.proved"),
        ("job", "succeeded"),
        ("end", "succeeded"),
    ]


def test_a_reconnected_client_gets_only_what_it_missed(client: Client) -> None:
    tell(client, "job.submitted", "job.proved")
    response = client.get("/api/v1/jobs/job-1/events", {"Last-Event-ID": "1"})
    assert read_stream(response.text) == [
        ("2", "job.proved"),
        ("job", "succeeded"),
        ("end", "succeeded"),
    ]


def test_the_activity_so_far_is_a_list_for_those_who_ask_for_json(client: Client) -> None:
    tell(client, "job.submitted", "spark.progress", job_id="job-2")
    response = client.get("/api/v1/jobs/job-2/events", {"Accept": "application/json"})
    assert response.headers["content-type"] == "application/json"
    assert response.json() == [
        {"sequence": 1, "at": "2026-03-01T12:00:00Z", "name": "job.submitted", "fields": {"n": 0}},
        {"sequence": 2, "at": "2026-03-01T12:00:00Z", "name": "spark.progress", "fields": {"n": 1}},
    ]
    assert (
        client.get(
            "/api/v1/jobs/job-2/events", {"Accept": "application/json", "Last-Event-ID": "2"}
        ).json()
        == []
    )


@pytest.mark.parametrize("last", ["-1", "x", str(2**63)])
def test_a_last_event_id_that_is_none_of_ours_is_refused(client: Client, last: str) -> None:
    expect_problem(client.get("/api/v1/jobs/job-1/events", {"Last-Event-ID": last}), 422)


def test_an_open_stream_sends_new_events_and_ends_with_the_job(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_api, "POLL_SECONDS", 0.01)
    tell(client, "job.submitted", job_id="job-2")
    with (
        serve(client) as address,
        httpx.stream(
            "GET", f"{address}/api/v1/jobs/job-2/events", timeout=DEADLINE_SECONDS, trust_env=False
        ) as response,
    ):
        blocks = response.iter_text()
        text = next(blocks)
        while "event: job" not in text:
            text += next(blocks)
        tell(client, "job.proved", job_id="job-2")
        finish(client)
        text += "".join(blocks)
    messages = read_stream(text)
    assert messages[:2] == [("1", "job.submitted"), ("job", "running")]
    assert sorted(messages[2:4]) == [("2", "job.proved"), ("job", "succeeded")]
    assert messages[4:] == [("end", "succeeded")]


def test_an_event_that_is_stored_after_the_final_state_is_still_reported(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_api, "POLL_SECONDS", 0)
    job = job_of(client.daemon.store, "job-2")
    story = tell_events(client.daemon.context(), job, 0)
    assert "running" in next(story) + next(story)
    finish(client)
    assert "succeeded" in next(story)
    tell(client, "job.proved", job_id="job-2")
    assert read_stream("".join(story)) == [("1", "job.proved"), ("end", "succeeded")]


def test_a_stopping_daemon_ends_its_streams(client: Client) -> None:
    client.daemon.stopping.set()
    assert read_stream(client.get("/api/v1/jobs/job-2/events").text) == [("job", "running")]


def test_a_stream_lasts_no_longer_than_its_bound(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_api, "MAX_STREAM_SECONDS", 0.05)
    monkeypatch.setattr(jobs_api, "POLL_SECONDS", 0.01)
    assert read_stream(client.get("/api/v1/jobs/job-2/events").text) == [("job", "running")]


def test_a_quiet_stream_says_that_it_is_still_here(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_api, "KEEP_ALIVE_SECONDS", 0)
    monkeypatch.setattr(jobs_api, "POLL_SECONDS", 0)
    story = tell_events(client.daemon.context(), job_of(client.daemon.store, "job-2"), 0)
    assert [next(story), next(story)[:10], next(story)] == [
        "retry: 3000\n\n",
        "event: job",
        ": still here\n\n",
    ]
    story.close()  # type: ignore[attr-defined]


def test_streams_beyond_the_cap_send_the_stored_events_and_end(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs_api, "_waiting", threading.BoundedSemaphore(1))
    monkeypatch.setattr(jobs_api, "POLL_SECONDS", 0)
    daemon, job = client.daemon, run_job(make_job("job-2"))
    first = tell_events(daemon.context(), job, 0)
    next(first)
    next(first)
    assert read_stream("".join(tell_events(daemon.context(), job, 0))) == [("job", "running")]
    first.close()  # type: ignore[attr-defined]
    second = tell_events(daemon.context(), job, 0)
    assert [next(second)[:5], next(second)[:10]] == ["retry", "event: job"]
    assert jobs_api._waiting._value == 0
    second.close()  # type: ignore[attr-defined]
    assert jobs_api._waiting._value == 1
