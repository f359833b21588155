from __future__ import annotations

from dataclasses import replace

import pytest

from maintainer.compare.rule_history import learn_from_job
from maintainer.domain.action import Repair
from maintainer.domain.effect import RowProof
from maintainer.domain.job import (
    BY_NO_DAEMON,
    BY_SHUTDOWN,
    Baseline,
    FailureReason,
    Job,
    JobState,
)
from maintainer.domain.plan import Estimate, RuleHistory
from maintainer.domain.policy import RuleName
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    failed,
    make_effect,
    make_job,
    succeeded,
)

FILES = RuleName.REWRITE_DATA_FILES


def learn(*jobs: Job) -> RuleHistory:
    history = None
    for job in jobs:
        history = learn_from_job(history, job)
    assert history is not None
    return history


def test_a_rollback_teaches_nothing_about_a_rule() -> None:
    assert learn_from_job(None, succeeded(make_job(rule=Repair.ROLL_BACK), NOW)) is None


@pytest.mark.parametrize(
    "job",
    [
        replace(make_job(), state=JobState.CANCELLED, finished_at=NOW + MINUTE),
        failed(make_job(), NOW + MINUTE, FailureReason.LOST_RUNNER),
    ],
)
def test_a_cancelled_or_lost_job_changes_only_when_the_rule_ran_last(job: Job) -> None:
    before = learn(failed(make_job(), NOW, FailureReason.OTHER))
    learnt = learn_from_job(before, job)
    assert learnt is not None
    assert replace(learnt, streak=None) == replace(
        before, last_finished_at=NOW + MINUTE, streak=None
    )


def test_a_failure_without_a_reason_counts_like_any_other() -> None:
    learnt = learn(replace(failed(make_job(), NOW), failure_reason=None))
    assert (learnt.consecutive_failures, learnt.last_failure_reason) == (1, "")


def test_each_success_takes_off_one_conflict_and_one_overload_and_never_more() -> None:
    history = RuleHistory(FILES, recent_conflicts=2, recent_overloads=1, consecutive_failures=3)
    counts = []
    for _ in range(3):
        history = learn_from_job(history, succeeded(make_job(), NOW)) or history
        counts.append((history.recent_conflicts, history.recent_overloads))
    assert counts == [(1, 0), (0, 0), (0, 0)]
    assert history.consecutive_failures == 0


def test_a_success_that_lost_files_to_writers_adds_a_conflict() -> None:
    job = succeeded(make_job(), NOW, replace(make_effect(), files_lost=7))
    assert learn(job, job).recent_conflicts == 2


def test_a_job_that_took_on_too_much_at_once_adds_an_overload() -> None:
    assert learn(failed(make_job(), NOW, FailureReason.OUT_OF_MEMORY)).recent_overloads == 1


def run(job: Job, **effect: object) -> RuleHistory:
    return learn(succeeded(job, NOW, replace(make_effect(), **effect)))  # type: ignore[arg-type]


PREDICTED = Estimate(461, 1, 460, 10**9)


@pytest.mark.parametrize(
    ("effect", "runs"),
    [
        ({"files_removed": 0}, 1),  # 461 files became 461
        ({"files_removed": -3}, 1),
        ({"files_removed": 45}, 1),
        ({"files_removed": 46}, 0),
        ({"files_removed": 0, "rows": RowProof.COUNTED}, 1),  # no deletes were to be applied
        ({"files_removed": 0, "delete_files_removed": 1}, 0),
        ({"files_removed": 0, "files_lost": 400}, 0),  # conflicts have a wait of their own
    ],
)
def test_a_rewrite_that_achieves_under_a_tenth_of_its_prediction_is_without_a_gain(
    effect: dict[str, object], runs: int
) -> None:
    job = replace(make_job(), estimate=PREDICTED)
    assert run(job, **effect).empty_runs == runs


def test_deletes_that_were_applied_are_a_gain() -> None:
    job = replace(make_job(), estimate=replace(PREDICTED, files_with_deletes=5))
    assert run(job, files_removed=0, rows=RowProof.COUNTED).empty_runs == 0
    assert run(job, files_removed=0, rows=RowProof.EQUAL).empty_runs == 1


@pytest.mark.parametrize(
    ("rule", "figure"),
    [
        (RuleName.REWRITE_MANIFESTS, "manifests_removed"),
        (RuleName.EXPIRE_SNAPSHOTS, "snapshots_removed"),
        (RuleName.REWRITE_POSITION_DELETE_FILES, "delete_files_removed"),
    ],
)
def test_each_procedure_is_judged_by_what_it_removes(rule: RuleName, figure: str) -> None:
    job = replace(make_job(), rule=rule, estimate=PREDICTED)
    assert run(job, **{figure: 45}).empty_runs == 1
    assert run(job, **{figure: 46}).empty_runs == 0


def test_delete_files_that_become_deletion_vectors_are_not_counted_against_a_run() -> None:
    job = replace(
        make_job(),
        rule=RuleName.REWRITE_POSITION_DELETE_FILES,
        estimate=PREDICTED,
        baseline=Baseline(1, 1, NOW, "m.json", make_effect().before, next_row_id=7),
    )
    assert run(job, delete_files_removed=-5).empty_runs == 0


def test_a_rule_that_removes_nothing_and_a_failure_are_not_without_a_gain() -> None:
    job = replace(make_job(), rule=RuleName.COMPUTE_TABLE_STATS, estimate=PREDICTED)
    assert run(job, files_removed=0, statistics_written=1).empty_runs == 0
    assert not failed(make_job(), NOW).is_without_gain


def test_runs_without_effect_are_counted_until_one_has_an_effect() -> None:
    idle = succeeded(make_job(), NOW, make_effect(own_commits=0, files_removed=0))
    assert learn(idle, idle).empty_runs == 2
    assert learn(idle, idle, succeeded(make_job(), NOW)).empty_runs == 0
    assert learn(idle, failed(make_job(), NOW)).empty_runs == 1


@pytest.mark.parametrize("by", ["person", "person ada via page", "token ci", "ada"])
def test_a_cancellation_by_a_person_is_kept_until_the_next_success(by: str) -> None:
    cancelled = replace(
        make_job(), state=JobState.CANCELLED, finished_at=NOW, cancel_requested_by=by
    )
    history = learn(cancelled)
    assert (history.cancelled_at, history.cancelled_by) == (NOW, by)
    assert learn(cancelled, failed(make_job(), NOW)).cancelled_at == NOW
    assert learn(cancelled, succeeded(make_job(), NOW)).cancelled_at is None


@pytest.mark.parametrize("by", ["", BY_SHUTDOWN, BY_NO_DAEMON])
def test_a_cancellation_by_the_program_is_not_kept(by: str) -> None:
    cancelled = replace(
        make_job(), state=JobState.CANCELLED, finished_at=NOW, cancel_requested_by=by
    )
    assert learn(cancelled).cancelled_at is None
