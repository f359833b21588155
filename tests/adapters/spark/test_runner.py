"""What every runner does, on the fake and on a real Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, Job
from maintainer.ports.runner import Runner
from tests.adapters.spark.lakes import Lake, WallClock, job_on, outcome_of
from tests.fakes.adapters.spark import FakeRunner


@dataclass
class Stage:
    runner: Runner
    create: Callable[[str], TableIdentifier]
    let_finish: Callable[[Job], None]
    let_fail: Callable[[Job], None]
    too_short: timedelta  # to work for

    def job(self, name: str) -> Job:
        return job_on(self.create(name), f"suite-{name}", owner=self.runner.owner)


def real_stage(request: pytest.FixtureRequest) -> Stage:
    lake: Lake = request.getfixturevalue("lake")
    return Stage(
        request.getfixturevalue("warm"),
        lambda name: lake.create(f"suite_{name}", files=6),
        lambda _: None,
        lambda _: None,
        timedelta(seconds=9),
    )


def fake_stage() -> Stage:
    fake = FakeRunner(WallClock())
    return Stage(
        fake,
        lambda name: TableIdentifier("lake", ("db",), name),
        lambda job: fake.finish(job.job_id, {"rewritten_data_files_count": 6}),
        lambda job: fake.fail(job.job_id, FailureReason.INVALID_REQUEST),
        timedelta(milliseconds=1),
    )


@pytest.fixture(params=["fake", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.slow])])
def stage(request: pytest.FixtureRequest) -> Stage:
    return real_stage(request) if request.param == "spark" else fake_stage()


def test_a_job_that_was_submitted_twice_is_one_job_that_finishes(stage: Stage) -> None:
    job = stage.job("twice")
    stage.runner.submit(job)
    stage.runner.submit(job)
    stage.let_finish(job)
    outcome = outcome_of(stage.runner, job)
    assert (outcome.kind, outcome.result["rewritten_data_files_count"]) == ("finished", 6)
    stage.runner.submit(job)
    assert outcome_of(stage.runner, job) == outcome


def test_events_are_reported_once_and_the_outcome_again(stage: Stage) -> None:
    job = stage.job("events")
    stage.runner.submit(job)
    stage.let_finish(job)
    outcome = outcome_of(stage.runner, job)
    again = stage.runner.report(job)
    assert again is not None
    assert (again.events, again.outcome) == ((), outcome)


def test_a_statement_that_spark_refuses_fails_with_its_reason(stage: Stage) -> None:
    job = replace(stage.job("refused"), action=RewriteDataFiles(where="no_such_column = 1"))
    stage.runner.submit(job)
    stage.let_fail(job)
    outcome = outcome_of(stage.runner, job)
    assert (outcome.kind, outcome.reason) == ("failed", FailureReason.INVALID_REQUEST)
    assert outcome.message
    assert "\n" not in outcome.message


def test_cancelling_an_unknown_job_is_ignored(stage: Stage) -> None:
    stage.runner.cancel("no-such-job")


def test_a_job_of_an_owner_that_does_not_live_is_lost(stage: Stage) -> None:
    job = replace(stage.job("elsewhere"), owner="somebody-gone")
    outcome = outcome_of(stage.runner, job)
    assert (outcome.kind, outcome.reason) == ("lost", FailureReason.LOST_RUNNER)


def test_an_own_job_that_was_never_handed_over_is_lost_but_not_at_once(stage: Stage) -> None:
    job = replace(stage.job("unseen"), submitted_at=WallClock().now())
    assert stage.runner.report(job) is None
    old = replace(job, submitted_at=WallClock().now() - timedelta(minutes=1))
    assert outcome_of(stage.runner, old).kind == "lost"


def test_a_job_whose_right_to_work_is_not_renewed_is_ended_by_the_runner(stage: Stage) -> None:
    job = stage.job("overdue")
    stage.runner.submit(job)
    stage.runner.renew(job.job_id, stage.too_short)
    outcome = outcome_of(stage.runner, job)
    assert (outcome.kind, outcome.reason) == ("lost", FailureReason.LOST_RUNNER)


def test_a_job_that_is_renewed_in_time_finishes(stage: Stage) -> None:
    job = stage.job("renewed")
    stage.runner.renew(job.job_id, timedelta(minutes=5))
    stage.runner.submit(job)
    stage.runner.renew(job.job_id, timedelta(minutes=5))
    stage.let_finish(job)
    assert outcome_of(stage.runner, job).kind == "finished"
    stage.runner.renew(job.job_id, timedelta(milliseconds=1))
    assert outcome_of(stage.runner, job).kind == "finished"
    stage.runner.renew("no-such-job", timedelta(minutes=5))


def test_a_runner_names_itself_and_its_bound(stage: Stage) -> None:
    assert stage.runner.owner
    assert stage.runner.application.startswith("maintainer")
    assert stage.runner.capacities == {"default": 2}
    assert all(is_fine for _, is_fine, _ in stage.runner.describe())
