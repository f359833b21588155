from __future__ import annotations

from dataclasses import replace

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.policy import RuleName
from maintainer.ports.store import Store
from tests.adapters.store.test_store_jobs import finish
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    ORDERS,
    failed,
    make_grade,
    make_health,
    make_job,
    succeeded,
)

OTHER = TableIdentifier("sea", ("sales",), "orders")


def test_faulty_tables_are_listed_by_name_up_to_the_limit(store: Store) -> None:
    faults = [
        TableFault(table, FaultKind.METADATA_MISSING, f"no metadata of {table}", NOW)
        for table in (ORDERS, OTHER)
    ]
    for fault in reversed(faults):
        store.record_fault(fault)
    assert store.faulty_tables(10) == tuple(faults)
    assert store.faulty_tables(1) == (faults[0],)

    store.record_health(make_health(), make_grade())
    assert store.faulty_tables(10) == (faults[1],), "a measured table has no fault any more"


def test_rules_are_failing_after_so_many_failures_until_a_success(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    job = make_job()
    for number in range(3):
        attempt = replace(job, job_id=f"job-{number}")
        assert store.failing_rules(3, 10) == ()
        finish(store, failed(attempt, NOW + number * MINUTE))
    ((table, history),) = store.failing_rules(3, 10)
    assert (table, history.rule) == (ORDERS, RuleName(job.rule))
    assert history == store.rule_history(job.table_uuid)[history.rule]
    assert store.failing_rules(4, 10) == store.failing_rules(3, 0) == ()

    finish(store, succeeded(replace(job, job_id="job-9"), NOW + 9 * MINUTE))
    assert store.failing_rules(3, 10) == ()


def test_failures_of_a_forgotten_table_need_nobody(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    finish(store, failed(make_job(), NOW))
    store.forget_tables_except("lake", [])
    assert store.failing_rules(1, 10) == ()
