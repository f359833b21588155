"""Jobs that take too long: asked to end, then ended, and proved from the table like any other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.jobs.safeguards import OVERDUE_GRACE
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.rules import RULES
from maintainer.requests.run import request_cancel
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.steps.world import ENFORCE, World, layer

HOUR = timedelta(hours=1)
SHORT = ENFORCE.replace("rewrite_data_files: {when", "rewrite_data_files: {timeout: 1h, when")


def started(world: World) -> Job:
    world.policies.layers = (layer(SHORT),)
    world.put("orders")
    scan(world.ports)
    return world.begin()


def pass_time(world: World, time: timedelta) -> None:
    """Minute by minute, as the watch step would see it."""
    for _ in range(int(time / timedelta(minutes=1))):
        world.clock.advance(timedelta(minutes=1))
        watch(world.ports)


def test_a_job_that_takes_longer_than_its_policy_allows_is_ended_and_fails_with_a_timeout() -> None:
    world = World()
    job = started(world)
    assert job.deadline == world.clock.now() + HOUR
    pass_time(world, HOUR - timedelta(minutes=1))
    assert world.runner.cancelled == []
    pass_time(world, timedelta(minutes=2))
    review(world.ports)
    ended = world.stored(job)
    assert (ended.state, ended.failure_reason) == (JobState.FAILED, FailureReason.TIMEOUT)
    assert ended.failure_message == "Ended because it took longer than its timeout of 1 h."
    assert [event.name for event in world.store.events(job.job_id)].count("job.timed_out") == 1
    history = world.store.rule_history(job.table_uuid)[job.policy_rule]
    assert (history.last_failure_reason, history.consecutive_failures) == ("timeout", 1)


def test_what_was_committed_before_the_time_was_up_is_counted() -> None:
    world = World()
    job = started(world)
    world.mend(job)
    pass_time(world, HOUR + timedelta(minutes=1))
    review(world.ports)
    ended = world.stored(job)
    assert (ended.state, ended.failure_reason) == (JobState.FAILED, FailureReason.TIMEOUT)
    assert ended.effect is not None
    assert (ended.effect.own_commits, ended.effect.files_removed) == (1, 59)
    assert "Its earlier commits stay: 60 data files became 1" in ended.failure_message


def test_the_deadline_survives_a_restart() -> None:
    world = World()
    job = started(world)
    pass_time(world, HOUR / 2)
    world.policies.layers = (layer(ENFORCE),)
    world.ports = world.restarted()
    pass_time(world, HOUR / 2 + timedelta(minutes=1))
    review(world.ports)
    assert world.stored(job).failure_reason is FailureReason.TIMEOUT


def test_what_does_not_end_when_it_is_asked_to_is_not_let_work_beyond_the_grace() -> None:
    world = World()
    job = started(world)
    # A Spark that does not listen.
    world.runner.cancel = lambda job_id: None  # type: ignore[method-assign]  # noqa: ARG005
    pass_time(world, HOUR + OVERDUE_GRACE - timedelta(minutes=1))
    assert world.stored(job).state is JobState.RUNNING
    pass_time(world, timedelta(minutes=1) + 2 * world.ports.lease_terms.duration)
    review(world.ports)
    assert world.stored(job).failure_reason is FailureReason.TIMEOUT


def test_who_asked_for_the_end_before_gets_a_cancelled_job() -> None:
    world = World()
    job = started(world)
    # It takes its time.
    world.runner.cancel = lambda job_id: None  # type: ignore[method-assign]  # noqa: ARG005
    request_cancel(world.ports, job, "ada")
    pass_time(world, HOUR)
    del world.runner.cancel
    pass_time(world, timedelta(minutes=1))
    review(world.ports)
    assert world.stored(job).state is JobState.CANCELLED


def test_a_job_that_finishes_before_it_is_stopped_has_finished() -> None:
    world = World()
    job = started(world)
    world.clock.advance(HOUR)
    world.runner.valid_until.clear()
    world.runner.finish(job.job_id, world.mend(job))
    watch(world.ports)
    review(world.ports)
    assert world.stored(job).state is JobState.SUCCEEDED


def test_a_job_that_had_ended_while_nobody_looked_is_not_over_time() -> None:
    world = World()
    job = started(world)
    world.mend(job)
    world.runner.lose(job.job_id)
    world.clock.advance(9 * HOUR)
    watch(world.ports)
    review(world.ports)
    assert world.stored(job).state is JobState.SUCCEEDED


def test_a_cancel_that_is_stored_in_the_moment_of_the_deadline_is_not_overwritten() -> None:
    world = World()
    job = started(world)
    real = world.store.update_job

    def cancel_first(changed: Job, expected: JobState | Job, token: int | None = None) -> bool:
        if changed.is_overdue and isinstance(expected, Job) and not expected.is_overdue:
            assert real(replace(expected, cancel_requested_by="ada"), expected)
        return real(changed, expected, token)

    pass_time(world, HOUR - timedelta(minutes=1))
    world.clock.advance(timedelta(minutes=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world.store, "update_job", cancel_first)
        watch(world.ports)
    assert (world.stored(job).is_overdue, world.stored(job).cancel_requested_by) == (False, "ada")


def test_without_a_word_of_the_policy_the_default_of_the_rule_holds() -> None:
    world = World()
    world.put("orders")
    scan(world.ports)
    plan(world.ports)
    submit(world.ports)
    (job,) = world.store.unfinished_jobs()
    assert job.deadline == world.clock.now() + RULES[job.policy_rule]().timeout
