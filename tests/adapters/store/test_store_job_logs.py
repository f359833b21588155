"""The end of each job's log is kept in the store, where every process reads it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.driver import JobLog
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.job import JobState
from maintainer.ports.store import Store
from maintainer.ports.store.jobs import MAX_LOG_CHARACTERS
from tests.adapters.store.values import MINUTE, NOW, make_job

FIRST = JobLog("Grüße\n", 0, source=100)
SECOND = JobLog("two\nthree\n", 6, source=200)


def test_a_log_is_read_from_any_position(store: Store) -> None:
    assert store.job_log("m-1") is None
    assert store.append_job_log("m-1", FIRST)
    assert store.append_job_log("m-1", SECOND)
    assert store.job_log("m-1") == JobLog("Grüße\ntwo\nthree\n", 0, source=200)
    assert store.job_log("m-1", 6) == SECOND
    assert store.job_log("m-1", 10) == JobLog("three\n", 10, source=200)
    assert store.job_log("m-1", 16) == JobLog("", 16, source=200), "nothing new"
    assert store.job_log("m-1", 999) == JobLog("", 16, source=200), "beyond its end"
    assert store.job_log("m-2") is None


def test_a_part_that_does_not_begin_where_the_log_ends_is_refused(store: Store) -> None:
    """So of two processes that append only one can."""
    assert not store.append_job_log("m-1", SECOND)
    assert store.append_job_log("m-1", FIRST)
    assert not store.append_job_log("m-1", FIRST)
    assert store.job_log("m-1") == FIRST


def test_a_complete_log_stays_as_it_is(store: Store) -> None:
    end = JobLog("", 6, is_complete=True, source=300)
    store.append_job_log("m-1", FIRST)
    assert store.append_job_log("m-1", end)
    assert not store.append_job_log("m-1", SECOND)
    assert not store.append_job_log("m-1", end)
    assert store.job_log("m-1") == replace(FIRST, is_complete=True, source=300)
    assert store.job_log("m-1", 6) == end


def test_only_the_end_of_a_long_log_is_kept(store: Store) -> None:
    line = "x" * 99 + "\n"
    part = JobLog(line * 1_000, 0)
    for number in range(5):
        assert store.append_job_log("m-1", replace(part, start=number * 100_000))
    found = store.job_log("m-1")
    assert found is not None
    assert (found.start, found.next) == (500_000 - MAX_LOG_CHARACTERS, 500_000)
    assert store.job_log("m-1", 499_900) == JobLog(line, 499_900)


def test_a_part_beyond_the_bound_is_refused_with_its_size(store: Store) -> None:
    with pytest.raises(InvalidValueError, match=r"job m-1 has 262,145 characters.*is 262,144"):
        store.append_job_log("m-1", JobLog("x" * (MAX_LOG_CHARACTERS + 1), 0))
    assert store.append_job_log("m-1", JobLog("x" * MAX_LOG_CHARACTERS, 0))


def test_characters_that_a_database_refuses_are_kept(store: Store) -> None:
    store.append_job_log("m-1", JobLog("a\x00b\U0001f600\n", 0))
    assert store.job_log("m-1") == JobLog("a\x00b\U0001f600\n", 0)


def test_logs_of_unknown_jobs_and_of_those_that_ended_long_ago_are_pruned(store: Store) -> None:
    assert store.add_job(make_job("m-1"))
    for job_id in ("m-1", "m-2"):
        store.append_job_log(job_id, FIRST)
    assert store.prune_job_logs(NOW + MINUTE) == 1
    assert store.job_log("m-1") == FIRST, "it has not ended"
    assert store.job_log("m-2") is None
    ended = make_job("m-1").advance(JobState.CANCELLED, finished_at=NOW)
    assert store.update_job(ended, JobState.PENDING)
    assert store.prune_job_logs(NOW) == 0
    assert store.prune_job_logs(NOW + MINUTE) == 1
    assert store.job_log("m-1") is None


def test_logs_survive_a_restart(store_url: str) -> None:
    first = open_store(store_url)
    first.append_job_log("m-1", FIRST)
    first.close()
    second = open_store(store_url)
    assert second.job_log("m-1") == FIRST
    second.close()
