from __future__ import annotations

from dataclasses import replace

from maintainer.domain.audit import (
    Deed,
    audit_change,
    audit_events,
    name_actor,
    name_person,
    name_token,
)
from maintainer.domain.job import FailureReason, JobEvent, JobState
from maintainer.domain.policy import RuleName
from tests.api.nouns import EFFECT, make_job
from tests.samples import NOW

PENDING = replace(make_job(), state=JobState.PENDING, effect=None, owner="", submitted_at=None)
SUBMITTED = replace(
    PENDING, state=JobState.SUBMITTED, owner="daemon-1", submitted_at=NOW, application="app-1"
)


def test_everybody_is_a_person_but_for_the_bearer_of_a_token() -> None:
    assert [
        name_actor(by) for by in ("ada", "person", "", name_token("ci"), name_person("ada", "page"))
    ] == [
        "person ada",
        "person",
        "person",
        "token ci",
        "person ada via page",
    ]


def test_a_request_is_written_under_the_person_or_the_policy_that_made_it() -> None:
    for by, actor in (("policy", f"policy {PENDING.policy_version}"), ("ada", "person ada")):
        asked = replace(PENDING, requested_by=by, then=(RuleName.REWRITE_MANIFESTS,))
        (entry,) = audit_change(None, asked)
        assert (entry.at, entry.actor, entry.deed) == (asked.created_at, actor, Deed.JOB_REQUESTED)
        assert entry.fields["then"] == ["rewrite_manifests"]


def test_a_job_that_is_handed_over_is_written_with_its_statements_once() -> None:
    (entry,) = audit_change(PENDING, SUBMITTED, ["CALL one", "CALL two"])
    assert (entry.at, entry.actor, entry.deed) == (NOW, "daemon-1", Deed.JOB_SUBMITTED)
    assert entry.fields == {
        "application": "app-1",
        "snapshot_id": "",
        "statements": ["CALL one", "CALL two"],
    }
    assert audit_change(SUBMITTED, SUBMITTED) == ()
    assert audit_change(PENDING, replace(SUBMITTED, submitted_at=None)) == ()


def test_the_end_of_a_job_is_written_once_with_what_came_of_it() -> None:
    ended = replace(SUBMITTED, state=JobState.SUCCEEDED, finished_at=NOW)
    with_effect = replace(ended, effect=replace(EFFECT, own_snapshot_ids=(2**62,)))
    (entry,) = audit_change(SUBMITTED, with_effect)
    assert (entry.at, entry.actor, entry.deed) == (NOW, "daemon-1", Deed.JOB_ENDED)
    assert entry.fields == {
        "state": "succeeded",
        "failure": "",
        "message": EFFECT.sentence,
        "rows": EFFECT.rows.value,
        "commits": [str(2**62)],
    }
    assert audit_change(ended, ended) == ()


def test_a_job_that_ends_before_anybody_has_it_is_written_under_its_requester() -> None:
    failed = replace(
        PENDING,
        state=JobState.FAILED,
        requested_by="ada",
        failure_reason=FailureReason.CONFLICT,
        failure_message="a writer won",
        finished_at=None,
    )
    (entry,) = audit_change(PENDING, failed)
    assert (entry.at, entry.actor) == (failed.created_at, "person ada")
    assert entry.fields == {
        "state": "failed",
        "failure": "conflict",
        "message": "a writer won",
        "rows": "",
        "commits": [],
    }


def test_of_a_jobs_events_the_log_has_statements_and_who_asked_for_its_end() -> None:
    events = [
        JobEvent(SUBMITTED.job_id, NOW, "statement.started", {"sql": "CALL one"}),
        JobEvent(SUBMITTED.job_id, NOW, "spark.progress", {"done": 1}),
        JobEvent(SUBMITTED.job_id, NOW, "job.cancel_requested", {"by": "ada"}),
    ]
    assert [(entry.actor, entry.deed) for entry in audit_events(SUBMITTED, events)] == [
        ("daemon-1", Deed.STATEMENT_STARTED),
        ("person ada", Deed.JOB_CANCEL_REQUESTED),
    ]
