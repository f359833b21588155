from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.action import Procedure, RewriteManifests
from maintainer.domain.errors import InvalidTransitionError
from maintainer.domain.job import TRANSITIONS, Job, JobState, Outcome
from maintainer.domain.plan import Estimate, RuleHistory
from maintainer.domain.policy import RuleName
from tests.samples import NOW, TABLE, UUID


def make_job(state: JobState = JobState.PENDING) -> Job:
    return Job(
        "m-1", TABLE, UUID, RuleName.REWRITE_MANIFESTS, RewriteManifests(0), (), Estimate(2, 1, 1, 0), "", "v1", 50, "policy", NOW, state=state
    )  # fmt: skip


@pytest.mark.parametrize("start", list(JobState))
@pytest.mark.parametrize("end", list(JobState))
def test_a_job_moves_only_along_the_transition_table(start: JobState, end: JobState) -> None:
    job = make_job(start)
    if end in TRANSITIONS[start]:
        assert job.advance(end).state is end
    else:
        with pytest.raises(InvalidTransitionError, match=f"m-1 is {start} and cannot become {end}"):
            job.advance(end)


def test_every_state_is_in_the_table_and_final_states_have_no_way_out() -> None:
    assert set(TRANSITIONS) == set(JobState)
    assert {state for state, following in TRANSITIONS.items() if not following} == {state for state in JobState if state.is_final}


def test_a_job_awaits_review_when_spark_is_done_or_lost() -> None:
    outcome = Outcome("finished", NOW)
    assert not make_job(JobState.RUNNING).awaits_review
    assert replace(make_job(JobState.RUNNING), outcome=outcome).awaits_review
    assert make_job(JobState.UNKNOWN).awaits_review
    assert not replace(make_job(JobState.SUCCEEDED), outcome=outcome).awaits_review


def test_a_duration_is_known_when_spark_has_ended() -> None:
    job = replace(make_job(), started_at=NOW)
    assert job.duration is None
    assert replace(job, ended_at=NOW + timedelta(seconds=5)).duration == timedelta(seconds=5)


def test_failures_back_off_doubling_up_to_the_ceiling() -> None:
    first, ceiling = timedelta(hours=1), timedelta(hours=24)
    waits = [RuleHistory(RuleName.EXPIRE_SNAPSHOTS, consecutive_failures=n).failure_backoff(first, ceiling) for n in (0, 1, 2, 5, 6, 10_000)]
    assert waits == [timedelta(0), timedelta(hours=1), timedelta(hours=2), timedelta(hours=16), ceiling, ceiling]


def test_only_rewrites_leave_a_snapshot_of_their_own() -> None:
    assert [procedure for procedure in Procedure if procedure.rewrites_content] == [
        Procedure.REWRITE_DATA_FILES,
        Procedure.REWRITE_POSITION_DELETE_FILES,
        Procedure.REWRITE_MANIFESTS,
    ]


def test_guard_21_each_procedure_prepares_the_next() -> None:
    order = list(RuleName)
    assert order == [
        RuleName.REWRITE_DATA_FILES,
        RuleName.REWRITE_POSITION_DELETE_FILES,
        RuleName.REWRITE_MANIFESTS,
        RuleName.COMPUTE_TABLE_STATS,
        RuleName.COMPUTE_PARTITION_STATS,
        RuleName.EXPIRE_SNAPSHOTS,
        RuleName.REMOVE_ORPHAN_FILES,
    ]
    assert [RuleName(procedure.value) for procedure in Procedure] == [rule for rule in order if rule in {RuleName(p.value) for p in Procedure}]
