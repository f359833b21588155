from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings

from maintainer.adapters.store import documents
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.admission import Candidate, ScopePause, find_candidates
from maintainer.domain.cost import (
    NOTHING_LEARNT,
    SHARED_ALPHA,
    TABLE_ALPHA,
    Benefit,
    Cost,
    CostBasis,
    CostFit,
    CostSample,
    Worth,
)
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import FailureReason, Job, JobState
from maintainer.domain.plan import Plan, PlannedAction
from maintainer.domain.policy import Budget, Charge, RuleName, day_of
from maintainer.ports.store import Store
from maintainer.ports.store.tables import Pause
from tests.adapters.store.test_store_jobs import finish
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    ORDERS,
    ORDERS_UUID,
    any_of,
    failed,
    make_effect,
    make_grade,
    make_health,
    make_job,
    make_plan,
    succeeded,
)

FILES, MANIFESTS = RuleName.REWRITE_DATA_FILES, RuleName.REWRITE_MANIFESTS
OTHER = TableIdentifier("other", ("sales",), "returns")
TODAY = day_of(NOW)


def wants(rule: RuleName) -> PlannedAction:
    job = make_job()
    cost = Cost(0.5, 0.75, 30.0, CostBasis.CATALOG, 7, 123.5)
    worth = Worth(Benefit(files_removed=9, value=9.0), 0.25, 100, 0.5)
    return PlannedAction(
        rule,
        RewriteDataFiles(),
        (),
        job.estimate,
        "small",
        cost,
        None,
        worth,
        NOW - timedelta(hours=3),
    )


def plan_with(
    *planned: PlannedAction, table: TableIdentifier = ORDERS, table_uuid: str = ORDERS_UUID
) -> Plan:
    return replace(
        make_plan(table, table_uuid),
        planned=planned,
        budget=Budget(2, None, 1.5, "policies/a.yaml"),
        is_urgent=True,
    )


def done(
    job_id: str, seconds: float = 10.0, state: JobState = JobState.SUCCEEDED, **changes: object
) -> Job:
    """A job that took so long, and whose duration had been predicted as 20 s."""
    ran = make_job(
        job_id,
        submitted_at=NOW,
        started_at=NOW,
        ended_at=NOW + timedelta(seconds=seconds),
        memory_gb=3.6,
    )
    ran = replace(ran, cost=Cost(1.0, 2.0, 20.0, work=float(ran.estimate.bytes_rewritten)))
    return replace(
        ran,
        state=state,
        effect=make_effect() if state is JobState.SUCCEEDED else None,
        finished_at=NOW + MINUTE,
        **changes,  # type: ignore[arg-type]
    )


# -- candidates


def test_what_the_latest_plans_want_are_the_candidates_exactly(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_health(make_health(OTHER, "uuid-2"), make_grade())
    first, second = (
        plan_with(wants(FILES), wants(MANIFESTS)),
        plan_with(wants(FILES), table=OTHER, table_uuid="uuid-2"),
    )
    store.record_plan(second)
    store.record_plan(first)

    assert tuple(store.candidates()) == (*find_candidates(first), *find_candidates(second))

    store.record_plan(plan_with(wants(MANIFESTS)))
    assert [(candidate.table, candidate.rule) for candidate in store.candidates()] == [
        (ORDERS, MANIFESTS),
        (OTHER, FILES),
    ]
    store.record_plan(plan_with())
    assert [candidate.table for candidate in store.candidates()] == [OTHER]


def test_candidates_go_with_their_table(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_plan(plan_with(wants(FILES)))
    store.record_fault(TableFault(ORDERS, FaultKind.DROPPED, "gone", NOW))
    assert list(store.candidates()) == []


def test_candidates_of_a_replaced_table_are_not_those_of_its_successor(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_plan(plan_with(wants(FILES)))
    store.record_health(make_health(table_uuid="another", at=NOW + MINUTE), make_grade())
    assert list(store.candidates()) == []


@settings(max_examples=20)
@given(any_of(Candidate))
def test_every_candidate_is_kept_exactly(candidate: Candidate) -> None:
    assert documents.read(Candidate, documents.write(candidate)) == candidate


# -- spending


def test_an_unfinished_job_is_charged_what_was_predicted_at_most_and_a_finished_one_what_it_took(
    store: Store,
) -> None:
    job = make_job(cost=Cost(1.0, 2.0, 20.0), memory_gb=3.6, charged_to="policies/a.yaml")
    store.add_job(job)
    assert store.spending(TODAY).by_owner == {("lake", "policies/a.yaml"): Charge(1000.0, 2.0)}

    running = replace(job, state=JobState.RUNNING, submitted_at=NOW, started_at=NOW)
    store.update_job(replace(running, state=JobState.SUBMITTED), JobState.PENDING)
    store.update_job(running, JobState.SUBMITTED)
    ended = replace(running, ended_at=NOW + timedelta(seconds=500))
    store.update_job(succeeded(ended, NOW + MINUTE, make_effect(files_removed=4)), JobState.RUNNING)
    assert store.spending(TODAY).by_owner == {("lake", "policies/a.yaml"): Charge(400.0, 0.5)}


def test_spending_is_summed_by_catalog_and_policy_for_the_day_the_job_was_stored_on(
    store: Store,
) -> None:
    finish(
        store,
        done("a"),
        done("b", state=JobState.FAILED),
        replace(done("c"), table=OTHER, table_uuid="u2", charged_to="p"),
    )
    finish(store, replace(done("late"), created_at=NOW + timedelta(days=1)))
    assert store.spending(TODAY).total.gb_hours == 0.03
    assert store.spending(TODAY).of_policy("p") == Charge(900.0, 0.01)
    assert set(store.spending(TODAY).by_owner) == {("lake", ""), ("other", "p")}
    assert store.spending(day_of(NOW + timedelta(days=1))).total.gb_hours == 0.01
    assert store.spending("2020-01-01").by_owner == {}


def test_a_job_that_never_reached_spark_costs_nothing(store: Store) -> None:
    job = make_job(cost=Cost(1.0, 2.0, 20.0))
    store.add_job(job)
    store.update_job(replace(job, state=JobState.CANCELLED, finished_at=NOW), JobState.PENDING)
    assert store.spending(TODAY).total == Charge()


def test_the_work_of_each_day_has_its_cost_and_what_it_saved(store: Store) -> None:
    effect = replace(make_effect(files_removed=4), delete_files_removed=2, manifests_removed=1)
    nested = TableIdentifier("lake", ("sales", "eu"), "orders")
    finish(
        store,
        replace(done("a"), effect=effect),
        done("b", state=JobState.FAILED),
        replace(done("c"), table=OTHER, table_uuid="u2"),
        replace(done("d"), table=nested, table_uuid="u3"),
        replace(done("late"), created_at=NOW + timedelta(days=1)),
    )
    tomorrow = day_of(NOW + timedelta(days=1))

    def read(catalog: str | None, namespace: str | None, until: str = tomorrow) -> list[object]:
        work = store.daily_work(catalog, namespace, TODAY, until)
        return [(one.day, one.files_removed, one.requests_saved) for one in work]

    assert read(None, None) == [(TODAY, 22, 25), (tomorrow, 9, 9)]
    assert read("lake", None, TODAY) == [(TODAY, 13, 16)]
    assert read("lake", "sales", TODAY) == [(TODAY, 4, 7)]
    assert read("nowhere", None) == []
    (today,) = store.daily_work("other", None, TODAY, TODAY)
    assert today.cost == Charge(900.0, 0.01)


# -- what jobs teach


def test_a_finished_job_teaches_its_table_its_catalog_and_all(store: Store) -> None:
    finish(store, done("a", 10.0))
    sample = CostSample(900.0, 10.0, 20.0)
    known = store.calibration(ORDERS_UUID, "lake")
    assert known.table == {FILES: NOTHING_LEARNT.learn(sample, TABLE_ALPHA)}
    assert known.catalog == known.fleet == {FILES: NOTHING_LEARNT.learn(sample, SHARED_ALPHA)}

    elsewhere = store.calibration("another", "another")
    assert (elsewhere.table, elsewhere.catalog) == ({}, {})
    assert elsewhere.fleet == known.fleet


def test_jobs_are_folded_in_the_order_of_finishing_each_rule_by_itself(store: Store) -> None:
    other = replace(done("m", 5.0), rule=MANIFESTS, cost=Cost(1.0, 2.0, 20.0, work=77.0))
    finish(store, done("a", 10.0), done("b", 30.0), other)
    known = store.calibration(ORDERS_UUID, "lake").table
    assert known[FILES] == NOTHING_LEARNT.learn(CostSample(900.0, 10.0, 20.0), TABLE_ALPHA).learn(
        CostSample(900.0, 30.0, 20.0), TABLE_ALPHA
    )
    assert known[MANIFESTS] == NOTHING_LEARNT.learn(CostSample(77.0, 5.0, 20.0), TABLE_ALPHA)


def test_failures_and_jobs_that_nobody_timed_teach_nothing(store: Store) -> None:
    finish(
        store,
        done("a", state=JobState.FAILED),
        replace(done("b"), started_at=None),
        replace(done("c"), cost=None),
    )
    assert store.calibration(ORDERS_UUID, "lake").fleet == {}


def test_a_fit_is_kept_exactly() -> None:
    fit = NOTHING_LEARNT.learn(CostSample(1e12, 1 / 3, 0.1), 0.2)
    assert documents.read(CostFit, documents.write(fit)) == fit
    assert isinstance(fit, CostFit)


# -- pauses of scopes


def test_a_pause_of_a_scope_lasts_until_it_is_removed_or_replaced(store: Store) -> None:
    store.set_scope_pause(ScopePause("lake.*", "ann", NOW, "a migration"))
    store.set_scope_pause(ScopePause("*", "ben", NOW, is_drain=True))
    store.set_scope_pause(ScopePause("lake.*", "cid", NOW + MINUTE))
    assert list(store.scope_pauses()) == [
        ScopePause("*", "ben", NOW, is_drain=True),
        ScopePause("lake.*", "cid", NOW + MINUTE),
    ]
    assert store.remove_scope_pause("lake.*")
    assert not store.remove_scope_pause("lake.*")
    assert [pause.scope for pause in store.scope_pauses()] == ["*"]


def test_tables_that_are_paused_by_themselves_are_listed_by_name(store: Store) -> None:
    for table in (OTHER, ORDERS):
        store.record_health(make_health(table, f"uuid-{table.name}"), make_grade())
        store.set_pause(table, Pause("ann", NOW, "why"))
    assert list(store.paused_tables().items()) == [
        (ORDERS, Pause("ann", NOW, "why")),
        (OTHER, Pause("ann", NOW, "why")),
    ]
    store.set_pause(OTHER, None)
    assert list(store.paused_tables()) == [ORDERS]


# -- the memory of rules


def test_conflicts_are_counted_and_forgotten_one_by_one_with_each_success(store: Store) -> None:
    at = [NOW + MINUTE * minute for minute in range(6)]
    jobs = [failed(make_job(f"f{number}"), at[number]) for number in range(3)]
    finish(store, *jobs, failed(make_job("oom"), at[3], FailureReason.OUT_OF_MEMORY))
    assert store.rule_history(ORDERS_UUID)[FILES].recent_conflicts == 3
    finish(store, succeeded(make_job("s1"), at[4]))
    assert store.rule_history(ORDERS_UUID)[FILES].recent_conflicts == 2
    assert store.rule_history(ORDERS_UUID)[FILES].scope_factor == 0.25


def test_empty_runs_in_a_row_are_counted(store: Store) -> None:
    idle = make_effect(own_commits=0, files_removed=0)
    counts = []
    for number, effect in enumerate([idle, idle, make_effect(), idle]):
        finish(store, succeeded(make_job(f"j{number}"), NOW + MINUTE * number, effect))
        counts.append(store.rule_history(ORDERS_UUID)[FILES].empty_runs)
    finish(store, failed(make_job("last"), NOW + MINUTE * 9))
    assert [*counts, store.rule_history(ORDERS_UUID)[FILES].empty_runs] == [1, 2, 0, 1, 1]


def test_old_charges_and_the_teachings_of_tables_that_are_gone_are_pruned(store: Store) -> None:
    finish(store, done("a"))
    long_after = NOW + timedelta(days=400)
    store.prune(samples_before=long_after, jobs_before=long_after)
    assert store.spending(TODAY).by_owner == {}


def test_a_success_that_lost_files_to_writers_counts_as_a_conflict(store: Store) -> None:
    finish(
        store,
        failed(make_job("f1"), NOW),
        succeeded(make_job("s1"), NOW + MINUTE, replace(make_effect(), files_lost=7)),
    )
    assert store.rule_history(ORDERS_UUID)[FILES].recent_conflicts == 2
    finish(store, succeeded(make_job("s2"), NOW + MINUTE * 2))
    assert store.rule_history(ORDERS_UUID)[FILES].recent_conflicts == 1
