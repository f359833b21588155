from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.domain.action import Procedure, Repair, RewriteManifests, RollBack
from maintainer.domain.cost import (
    FIRST_RUN,
    Cost,
    CostBasis,
    CostSample,
    EstimateError,
    ExecutorUse,
)
from maintainer.domain.effect import Quantity
from maintainer.domain.errors import InvalidTransitionError, InvalidValueError
from maintainer.domain.job import TRANSITIONS, Job, JobState, Outcome
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import RuleName
from tests.adapters.store.values import make_effect, succeeded
from tests.adapters.store.values import make_job as stored_job
from tests.samples import NOW, TABLE, UUID


def make_job(state: JobState = JobState.PENDING) -> Job:
    return Job(
        "m-1", TABLE, UUID, RuleName.REWRITE_MANIFESTS, RewriteManifests(0), (), Estimate(2, 1, 1,
        0), "", "v1", 50, "policy", NOW, state=state
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


def test_a_job_of_a_policy_has_a_rule_and_a_procedure() -> None:
    assert (make_job().policy_rule, make_job().procedure) == (
        RuleName.REWRITE_MANIFESTS,
        Procedure.REWRITE_MANIFESTS,
    )


def test_a_repair_has_neither() -> None:
    job = replace(make_job(), rule=Repair.ROLL_BACK, action=RollBack(7, "m-0", 8))
    with pytest.raises(
        InvalidValueError, match="m-1 carries out roll_back, which is no rule of a policy"
    ):
        _ = job.policy_rule
    with pytest.raises(
        InvalidValueError, match="m-1 carries out roll_back, which calls no procedure"
    ):
        _ = job.procedure


def test_no_repair_is_named_like_a_rule() -> None:
    assert not {repair.value for repair in Repair} & {rule.value for rule in RuleName}


def test_every_state_is_in_the_table_and_final_states_have_no_way_out() -> None:
    assert set(TRANSITIONS) == set(JobState)
    assert {state for state, following in TRANSITIONS.items() if not following} == {
        state for state in JobState if state.is_final
    }


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
    assert [RuleName(procedure.value) for procedure in Procedure] == [
        rule for rule in order if rule in {RuleName(p.value) for p in Procedure}
    ]


def test_predictions_are_held_against_what_came_of_a_job_of_each_rule() -> None:
    effect = replace(
        make_effect(),
        files_removed=80,
        delete_files_removed=4,
        manifests_removed=3,
        snapshots_removed=2,
        bytes_rewritten=500,
    )
    done = replace(
        stored_job(), state=JobState.SUCCEEDED, effect=effect, estimate=Estimate(100, 0, 100, 1000)
    )
    expected = {
        RuleName.REWRITE_DATA_FILES: {"files_removed": 0.25, "bytes_rewritten": 1.0},
        RuleName.REWRITE_POSITION_DELETE_FILES: {
            "delete_files_removed": 24.0,
            "bytes_rewritten": 1.0,
        },
        RuleName.REWRITE_MANIFESTS: {"manifests_removed": 97 / 3},
        RuleName.EXPIRE_SNAPSHOTS: {"snapshots_removed": 49.0},
        RuleName.COMPUTE_TABLE_STATS: {},
    }
    for rule, ratios in expected.items():
        assert {
            error.quantity.value: error.ratio for error in replace(done, rule=rule).estimate_errors
        } == ratios
    timed = replace(
        done,
        cost=Cost(0.5, 1.0, 30.0),
        memory_gb=60.0,
        started_at=NOW,
        ended_at=NOW + timedelta(seconds=60),
    )
    assert {error.quantity.value: error.ratio for error in timed.estimate_errors} == expected[
        RuleName.REWRITE_DATA_FILES
    ] | {
        "gb_hours": -0.5,
        "duration_seconds": -0.5,
    }
    assert [error.note for error in timed.estimate_errors] == ["", "", FIRST_RUN, FIRST_RUN]
    learnt = replace(timed, cost=Cost(0.5, 1.0, 30.0, CostBasis.TABLE, 3))
    assert not any(error.note for error in learnt.estimate_errors)


def test_nothing_is_held_against_a_job_that_did_not_succeed() -> None:
    assert replace(stored_job(), state=JobState.FAILED, effect=make_effect()).estimate_errors == ()
    assert replace(stored_job(), state=JobState.SUCCEEDED, effect=None).estimate_errors == ()


def test_a_prediction_of_something_where_there_was_nothing_has_no_ratio() -> None:
    assert EstimateError(Quantity.FILES_REMOVED, 0.0, 0.0).ratio == 0.0
    assert EstimateError(Quantity.FILES_REMOVED, 5.0, 0.0).ratio is None


def test_only_a_success_that_was_timed_teaches_what_jobs_cost() -> None:
    ran = replace(
        stored_job(),
        state=JobState.SUCCEEDED,
        cost=Cost(1.0, 2.0, 30.0, work=7.0),
        started_at=NOW,
        ended_at=NOW + timedelta(seconds=40),
    )
    assert ran.cost_sample == CostSample(7.0, 40.0, 30.0)
    # Of the bytes, 300 of 1,000 were rewritten, and so much of the work was done.
    rewrote = replace(ran, effect=make_effect(files_removed=3))
    expected = replace(rewrote.estimate, bytes_rewritten=1000)
    assert replace(rewrote, estimate=expected).cost_sample == CostSample(2.1, 40.0, 30.0)
    unknown = replace(rewrote.estimate, bytes_rewritten=0)
    assert replace(rewrote, estimate=unknown).cost_sample == CostSample(300.0, 40.0, 30.0)
    assert rewrote.cost is not None
    older = replace(rewrote, estimate=expected, cost=replace(rewrote.cost, work=0.0))
    assert older.cost_sample == CostSample(300.0, 40.0, 30.0)
    assert replace(
        ran, rule=RuleName.REWRITE_MANIFESTS, effect=make_effect()
    ).cost_sample == CostSample(7.0, 40.0, 30.0)
    assert [
        replace(ran, **change).cost_sample
        for change in ({"state": JobState.FAILED}, {"cost": None}, {"ended_at": None})
    ] == [None] * 3


def test_executors_that_come_and_go_cost_what_the_job_really_had() -> None:
    done = replace(
        stored_job(),
        memory_gb=17.0,
        executors_gb=16.0,
        started_at=NOW,
        ended_at=NOW + timedelta(hours=1),
        outcome=Outcome("finished", NOW),
    )
    assert (done.gb_hours, done.executor_seconds) == (17.0, None)
    used = replace(done, outcome=Outcome("finished", NOW, executors=ExecutorUse(900.0, 8.0)))
    assert (used.gb_hours, used.executor_seconds) == (1.0 + 2.0, 900.0)
    assert replace(used, ended_at=None).gb_hours is None
    assert replace(used, state=JobState.FAILED, submitted_at=NOW).charge.gb_hours == 3.0


def test_a_run_on_an_unknown_state_leaves_no_mark() -> None:
    idle = make_effect(own_commits=0, files_removed=0)
    job = succeeded(stored_job(), NOW, idle)
    assert job.baseline is not None
    assert job.idle_state is not None
    for baseline in (None, replace(job.baseline, state="")):
        assert replace(job, baseline=baseline).idle_state is None
    assert replace(job, effect=make_effect()).idle_state is None
