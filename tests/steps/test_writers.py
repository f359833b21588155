"""Writers, other maintainers and spent budgets in the loop."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.domain.admission import AdmissionRules
from maintainer.domain.conflict import ConflictKind
from maintainer.domain.effect import RowProof
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import FailureReason, JobState, Outcome
from maintainer.domain.notice import NoticeKind
from maintainer.domain.plan import Plan, SkipCode
from maintainer.domain.policy import Budget, RuleName
from maintainer.procedures.rewrite_data_files.limits import GROUP_SIZE
from maintainer.steps.plan import plan
from maintainer.steps.review import review
from maintainer.steps.scan import scan
from maintainer.steps.submit import submit
from maintainer.steps.watch import watch
from tests.fakes.adapters.policies import FakePolicies
from tests.steps.world import World, layer

HOUR = timedelta(hours=1)
FILES = RuleName.REWRITE_DATA_FILES


def planned(world: World, table: TableIdentifier) -> Plan:
    scan(world.ports)
    plan(world.ports)
    record = world.store.table(table)
    assert record is not None
    assert record.plan is not None
    return record.plan


def code_of(made: Plan) -> SkipCode | None:
    return next((skipped.code for skipped in made.skipped if skipped.rule is FILES), None)


def test_guard_28_the_loop_leaves_a_table_to_another_maintainer_until_it_is_silent() -> None:
    world = World()
    table = world.put("orders")
    for _ in range(2):
        world.commit(table, "replace", "trino-nightly")
        world.clock.advance(2 * HOUR)
    assert code_of(planned(world, table)) is SkipCode.OTHER_MAINTAINER
    assert submit(world.ports) == 0
    world.clock.advance(timedelta(days=7))
    world.commit(table)
    assert code_of(planned(world, table)) is None


def test_guard_28_our_own_rewrites_do_not_keep_us_away() -> None:
    world = World()
    table = world.put("orders")
    for _ in range(2):
        world.commit(table, "replace", world.runner.application)
        world.clock.advance(2 * HOUR)
    assert code_of(planned(world, table)) is None


def test_a_job_that_has_waited_for_quiet_long_enough_is_not_called_off_when_it_is_to_start() -> (
    None
):
    world = World()
    quiet = (
        "tables: '*'\nmode: enforce\nrules: {rewrite_data_files: {when: "
        "{average_file_size_below: 32MiB}, quiet_period: 1h, wait_for_quiet: 3h}}"
    )
    world.policies = FakePolicies(layer(quiet))
    world.ports = world.restarted()
    table = world.put("orders")
    for _ in range(3):
        world.commit(table)
        assert code_of(planned(world, table)) is SkipCode.NOT_QUIET
        world.clock.advance(HOUR)
        world.commit(table)
    assert code_of(planned(world, table)) is None
    assert submit(world.ports) == 1


def test_a_rewrite_that_has_waited_for_quiet_long_enough_works_beside_the_writer() -> None:
    world = World()
    patience = (
        "tables: '*'\nmode: enforce\nrules: {rewrite_data_files: {when: "
        "{average_file_size_below: 32MiB}, quiet_period: 1h, wait_for_quiet: 3h}}"
    )
    world.policies.layers = (layer(patience),)
    table = world.put("orders")
    for _ in range(6):
        world.commit(table)
        assert code_of(planned(world, table)) is SkipCode.NOT_QUIET
        world.clock.advance(HOUR / 2)
    world.commit(table)
    (action,) = [action for action in planned(world, table).planned if action.rule is FILES]
    assert "and it has waited for a quiet period of 1 h since" in action.reason
    assert submit(world.ports) == 1
    (job,) = world.store.unfinished_jobs()
    world.runner.start(job.job_id)
    world.commit(table)  # the writer goes on
    world.runner.finish(job.job_id, world.mend(world.runner.submitted[job.job_id]))
    watch(world.ports)
    review(world.ports)
    done = world.stored(job)
    assert done.effect is not None
    assert (done.state, done.effect.rows, done.effect.other_commits) == (
        JobState.SUCCEEDED,
        RowProof.EQUAL,
        1,
    )


def test_guard_16_after_a_conflict_the_next_job_has_smaller_groups_and_waits_first() -> None:
    world = World()
    table = world.put("orders")
    planned(world, table)
    submit(world.ports)
    (job,) = world.store.unfinished_jobs()
    refused = Outcome(
        "failed",
        world.clock.now(),
        reason=FailureReason.CONFLICT,
        message="x",
        conflict=ConflictKind.FILES_GONE,
    )
    world.store.update_job(replace(job, outcome=refused), job)
    world.commit(table)
    review(world.ports)
    lost = world.store.job(job.job_id)
    assert lost is not None
    assert (lost.state, lost.failure_reason) == (JobState.FAILED, FailureReason.CONFLICT)
    assert (
        lost.failure_message
        == "A writer won: files that were being rewritten were removed meanwhile. x"
    )
    made = planned(world, table)
    assert code_of(made) is SkipCode.COOLING_DOWN
    waits_until = next(skipped.next_at for skipped in made.skipped if skipped.rule is FILES)
    assert waits_until is not None
    world.clock.advance(waits_until - world.clock.now())
    again = planned(world, table)
    (action,) = [one.action for one in again.planned if one.rule is FILES]
    assert GROUP_SIZE in dict(getattr(action, "options", ()))


def test_a_budget_that_is_spent_is_reported_when_work_is_to_be_admitted() -> None:
    world = World()
    world.put("orders", small_files=5)
    world.put("returns", small_files=5)
    world.ports = replace(
        world.ports,
        admission=AdmissionRules(
            fleet=Budget(bytes_per_day=8_000, name="the fleet"), explore_share=0.0
        ),
    )
    scan(world.ports)
    plan(world.ports)
    assert submit(world.ports) == 1
    assert world.notifier.news == []
    submit(world.ports)
    (reported,) = world.notifier.news
    assert (reported.kind, reported.subject) == (NoticeKind.BUDGET_SPENT, "the fleet")
    assert "1 action waits for it until" in reported.sentence
    watch(world.ports)
