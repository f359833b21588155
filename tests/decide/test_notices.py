"""Which events are worth telling."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.notices import (
    REPEATED_FAILURES,
    entry_of_obstacle,
    notice_of_budget,
    notice_of_fault,
    notice_of_gone,
    notice_of_grade,
    notice_of_job,
    notice_of_list,
    notice_of_many,
    notice_of_wait,
)
from maintainer.domain.health import Band, Grade
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.notice import InboxKind, Notice, NoticeKind
from maintainer.domain.orphan import OrphanList, OrphanListState
from maintainer.domain.policy import BudgetState, Resource, SpentBudget
from tests.api.nouns import make_job
from tests.samples import NOW, TABLE, UUID

ORPHANS = OrphanList(
    "m-7",
    TABLE,
    UUID,
    "file:///warehouse/sales/orders",
    older_than=NOW - timedelta(days=7),
    made_at=NOW,
    files=3,
    bytes=2048,
    sha256="",
    state=OrphanListState.WAITING,
    expires_at=NOW + timedelta(days=7),
)


def failed(reason: FailureReason) -> Job:
    return replace(make_job(), state=JobState.FAILED, failure_reason=reason, failure_message="why")


def test_a_failed_proof_is_reported_at_once() -> None:
    reported = notice_of_job(failed(FailureReason.UNPROVED), None, 1, NOW)
    assert reported is not None
    assert (reported.kind, reported.subject, reported.job_id) == (
        NoticeKind.FAILED_PROOF,
        str(make_job().table),
        make_job().job_id,
    )


def test_a_failure_is_distinguished_from_the_third_in_a_row() -> None:
    reported = [
        notice_of_job(failed(FailureReason.CONFLICT), None, count, NOW)
        for count in range(1, REPEATED_FAILURES + 1)
    ]
    assert [each.kind if each else None for each in reported] == [
        None,
        None,
        NoticeKind.REPEATED_FAILURE,
    ]


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.CANCELLED])
def test_what_did_not_fail_is_not_reported(state: JobState) -> None:
    assert notice_of_job(replace(make_job(), state=state), None, 0, NOW) is None


@pytest.mark.parametrize(
    ("before", "after", "is_reported"),
    [
        (Band.WATCH, Band.CRITICAL, True),
        (Band.CRITICAL, Band.CRITICAL, False),
        (Band.WATCH, Band.DEGRADED, False),
        (None, Band.CRITICAL, True),
        (None, Band.DEGRADED, False),
    ],
)
def test_a_table_is_reported_when_it_becomes_critical(
    before: Band | None, after: Band, is_reported: bool
) -> None:
    reported = notice_of_grade(
        TABLE, Grade(before) if before else None, Grade(after, reason="bad"), NOW
    )
    assert (reported is not None) is is_reported


@pytest.mark.parametrize(
    ("waiting", "words"),
    [(0, "0 actions wait"), (1, "1 action waits"), (2000, "2,000 actions wait")],
)
def test_a_spent_budget_is_reported_with_who_waits_and_until_when(waiting: int, words: str) -> None:
    state = BudgetState(
        "catalog lake", Resource.GB_HOURS_PER_DAY, 12.0, 11.5, NOW + timedelta(hours=12)
    )
    reported = notice_of_budget(SpentBudget(state, waiting), NOW)
    assert (reported.kind, reported.subject) == (NoticeKind.BUDGET_SPENT, "catalog lake")
    assert reported.sentence == (
        f"11.5 GB-hours of 12 GB-hours of catalog lake are spent today; {words} for it until "
        f"2026-03-05 00:00 UTC"
    )


def test_a_budget_of_bytes_is_reported_in_bytes_and_one_that_never_frees_without_a_time() -> None:
    reported = notice_of_budget(
        SpentBudget(BudgetState("the fleet", Resource.BYTES_PER_DAY, 2048.0, 1024.0), 3), NOW
    )
    assert reported.sentence == "1 KiB of 2 KiB of the fleet are spent today; 3 actions wait for it"


@pytest.mark.parametrize(
    ("count", "subject", "named"),
    [
        (1, "1 more table of lake", "in the same scan: t0"),
        (5, "5 more tables of lake", "in the same scan: t0, t1, t2, t3, t4"),
        (
            1207,
            "1,207 more tables of lake",
            "in the same scan: t0, t1, t10, t100, t1000 and 1,202 others",
        ),
    ],
)
def test_many_tables_are_one_notice(count: int, subject: str, named: str) -> None:
    reported = notice_of_many(
        NoticeKind.TABLE_CRITICAL, "lake", [f"t{number}" for number in reversed(range(count))], NOW
    )
    assert (reported.kind, reported.subject, reported.sentence) == (
        NoticeKind.TABLE_CRITICAL,
        subject,
        named,
    )


@pytest.mark.parametrize(
    ("warning", "added"),
    [(None, ""), ("many are young", " Check the list: many are young.")],
)
def test_a_list_of_orphans_waits_until_a_time_and_passes_its_warning_on(
    warning: str | None, added: str
) -> None:
    assert notice_of_list(replace(ORPHANS, warning=warning), NOW) == Notice(
        NoticeKind.APPROVAL_NEEDED,
        str(TABLE),
        "3 orphan files of 2 KiB wait for approval as list m-7, until 2026-03-11 12:00 UTC."
        f"{added}",
        NOW,
        "m-7",
    )


def test_a_table_that_cannot_be_read_any_more_is_reported_with_its_kind_of_trouble() -> None:
    fault = TableFault(TABLE, FaultKind.METADATA_MISSING, "1.metadata.json is gone", NOW)
    assert notice_of_fault(fault) == Notice(
        NoticeKind.TABLE_UNREADABLE,
        str(TABLE),
        "metadata_missing: 1.metadata.json is gone",
        NOW,
    )


@pytest.mark.parametrize(("is_paused", "added"), [(False, ""), (True, "; the table is paused")])
def test_a_proof_that_waits_too_long_is_reported_like_one_that_failed(
    is_paused: bool, added: str
) -> None:
    job = make_job()
    assert notice_of_wait(job, "no answer", NOW, is_paused=is_paused) == Notice(
        NoticeKind.FAILED_PROOF,
        str(job.table),
        f"the effect of job {job.job_id} ({job.rule}) is unknown, because the table cannot be "
        f"read: no answer{added}",
        NOW,
        job.job_id,
    )


@pytest.mark.parametrize(("because", "added"), [("", ""), ("a migration", ": a migration")])
def test_the_pause_of_a_table_that_is_gone_is_reported_with_who_paused_it(
    because: str, added: str
) -> None:
    assert notice_of_gone(TABLE, "ada", because, "orders is gone", NOW) == Notice(
        NoticeKind.PAUSED_TABLE_GONE,
        str(TABLE),
        f"orders is gone. ada paused it{added}. The pause lasts until somebody resumes the table, "
        "also for a table with its UUID under another name.",
        NOW,
    )


def test_what_keeps_jobs_from_running_needs_a_person() -> None:
    entry = entry_of_obstacle("pool here", "Java: none was found")
    assert (entry.kind, entry.subject, entry.sentence) == (
        InboxKind.RUNNER,
        "pool here",
        "Java: none was found; its tables are measured, and no job runs",
    )
