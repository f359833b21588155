"""The audit log says who asked, what ran and what came of it, and nobody can change what it
says.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from maintainer.adapters.store import open_store
from maintainer.adapters.store.database import Database
from maintainer.domain.audit import AuditEntry, AuditQuery, Deed
from maintainer.domain.errors import InvalidValueError, StoreUnavailableError
from maintainer.domain.job import JobEvent, JobState
from maintainer.ports.store import Store
from tests.adapters.store.values import MINUTE, NOW, ORDERS, make_effect, make_job

STATEMENT = "CALL lake.system.rewrite_data_files(table => 'sales.orders')"


EVERYTHING = AuditQuery()


def reported(store: Store, query: AuditQuery = EVERYTHING) -> list[tuple[Deed, str]]:
    return [(entry.deed, entry.actor) for entry in reversed(store.audit(query).items)]


def run_one(store: Store, job_id: str = "job-a") -> None:
    """A policy asks for it, a process runs it, a person wants it stopped, it succeeds all the
    same.
    """
    job = make_job(job_id=job_id)
    submitted = replace(
        job,
        state=JobState.SUBMITTED,
        submitted_at=NOW + MINUTE,
        owner="host-1",
        application="iceberg-maintainer-1",
    )
    ended = replace(
        submitted,
        state=JobState.SUCCEEDED,
        finished_at=NOW + 3 * MINUTE,
        effect=replace(make_effect(), own_snapshot_ids=(2**62, 7)),
    )
    assert store.add_job(job)
    assert store.update_job(submitted, JobState.PENDING)
    store.append_events(
        [
            JobEvent(job.job_id, NOW + MINUTE, "statement.started", {"statement": STATEMENT}),
            JobEvent(job.job_id, NOW + MINUTE, "spark.progress", {"done": 1}),
            JobEvent(job.job_id, NOW + 2 * MINUTE, "job.cancel_requested", {"by": "ada"}),
        ]
    )
    assert store.update_job(ended, JobState.SUBMITTED)


def test_a_job_is_distinguished_from_who_asked_to_what_came_of_it(store: Store) -> None:
    run_one(store)
    job = make_job()
    entries = list(reversed(store.audit(AuditQuery()).items))
    assert [(entry.deed, entry.actor, entry.at) for entry in entries] == [
        (Deed.JOB_REQUESTED, f"policy {job.policy_version}", job.created_at),
        (Deed.JOB_SUBMITTED, "host-1", NOW + MINUTE),
        (Deed.STATEMENT_STARTED, "host-1", NOW + MINUTE),
        (Deed.JOB_CANCEL_REQUESTED, "person ada", NOW + 2 * MINUTE),
        (Deed.JOB_ENDED, "host-1", NOW + 3 * MINUTE),
    ]
    assert {(entry.table, entry.table_uuid, entry.job_id) for entry in entries} == {
        (job.table, job.table_uuid, job.job_id)
    }
    assert entries[1].fields["application"] == "iceberg-maintainer-1"
    assert entries[2].fields == {"statement": STATEMENT}
    assert (entries[4].fields["state"], entries[4].fields["commits"]) == (
        "succeeded",
        [str(2**62), "7"],
    )


def test_what_spark_will_be_given_is_in_the_log_before_spark_has_it(store: Store) -> None:
    job = make_job()
    store.add_job(job)
    submitted = replace(
        job,
        state=JobState.SUBMITTED,
        submitted_at=NOW + MINUTE,
        owner="host-1",
        application="iceberg-maintainer-1",
    )
    given = ["ALTER TABLE t CREATE TAG x", STATEMENT]
    assert store.submit_job(submitted, NOW + 2 * MINUTE, given) is not None
    assert store.submit_job(submitted, NOW + 2 * MINUTE, ["CALL another()"]) is None
    entries = [
        entry for entry in store.audit(AuditQuery()).items if entry.deed is Deed.JOB_SUBMITTED
    ]
    assert [entry.fields["statements"] for entry in entries] == [given]


def test_a_person_who_asks_is_named(store: Store) -> None:
    store.add_job(replace(make_job(), requested_by="ada"))
    assert reported(store) == [(Deed.JOB_REQUESTED, "person ada")]


def test_a_change_that_is_refused_leaves_no_trace(store: Store) -> None:
    run_one(store)
    before = reported(store)
    assert not store.add_job(make_job())
    assert not store.update_job(
        replace(make_job(), state=JobState.FAILED, finished_at=NOW), JobState.RUNNING
    )
    assert reported(store) == before


def test_a_change_that_is_no_deed_adds_nothing(store: Store) -> None:
    job = make_job()
    store.add_job(job)
    store.update_job(replace(job, then=()), JobState.PENDING)
    assert reported(store) == [(Deed.JOB_REQUESTED, f"policy {job.policy_version}")]


def test_what_is_no_jobs_own_is_added_by_those_who_do_it(store: Store) -> None:
    entry = AuditEntry(NOW, "person ada", Deed.WORK_PAUSED, ORDERS, fields={"reason": "migration"})
    fleet = AuditEntry(NOW, "person ada", Deed.WORK_PAUSED)
    store.record_audit([entry, fleet])
    assert [replace(found, sequence=0) for found in store.audit(AuditQuery()).items] == [
        fleet,
        entry,
    ]


def test_the_log_is_read_by_table_job_actor_and_time(store: Store) -> None:
    run_one(store)
    store.record_audit([AuditEntry(NOW + timedelta(hours=1), "person eve", Deed.WORK_PAUSED)])
    assert len(reported(store, AuditQuery(table=make_job().table))) == 5
    assert len(reported(store, AuditQuery(job_id="job-a"))) == 5
    assert reported(store, AuditQuery(job_id="job-b")) == []
    assert reported(store, AuditQuery(actor="person eve")) == [(Deed.WORK_PAUSED, "person eve")]
    assert [deed for deed, _ in reported(store, AuditQuery(since=NOW + 3 * MINUTE))] == [
        Deed.JOB_ENDED,
        Deed.WORK_PAUSED,
    ]
    assert [
        deed for deed, _ in reported(store, AuditQuery(since=NOW + MINUTE, until=NOW + 2 * MINUTE))
    ] == [Deed.JOB_SUBMITTED, Deed.STATEMENT_STARTED]


def test_pages_of_the_log_join_without_a_gap(store: Store) -> None:
    store.record_audit(
        [AuditEntry(NOW, f"person {number}", Deed.WORK_PAUSED) for number in range(7)]
    )
    found: list[str] = []
    query = AuditQuery(limit=3)
    while True:
        page = store.audit(query)
        assert page.total == 7
        found += [entry.actor for entry in page.items]
        if page.next_cursor is None:
            break
        query = replace(query, cursor=page.next_cursor)
        store.record_audit([])
    assert found == [f"person {number}" for number in reversed(range(7))]
    with pytest.raises(InvalidValueError, match="cursor"):
        store.audit(AuditQuery(cursor="x"))


def test_pruning_leaves_the_log_as_it_is(store: Store) -> None:
    run_one(store)
    before = reported(store)
    store.prune(NOW + timedelta(days=1000), NOW + timedelta(days=1000))
    assert reported(store) == before


@pytest.mark.parametrize(
    "statement", ["UPDATE audit_log SET actor = 'nobody'", "DELETE FROM audit_log"]
)
def test_the_database_itself_refuses_to_change_the_log(store_url: str, statement: str) -> None:
    opened = open_store(store_url)
    run_one(opened)
    database = Database(store_url)
    with (
        pytest.raises((DBAPIError, StoreUnavailableError), match="the audit log only grows"),
        database.write() as connection,
    ):
        connection.execute(text(statement))
    database.close()
    assert len(reported(opened)) == 5
    opened.close()


def test_a_name_that_a_database_refuses_is_reported_with_a_mark_in_it(store_url: str) -> None:
    opened = open_store(store_url)
    opened.record_audit([AuditEntry(NOW, "person a\x00b", Deed.WORK_PAUSED)])
    assert opened.audit(EVERYTHING).items[0].actor == "person a\ufffdb"
    opened.close()
