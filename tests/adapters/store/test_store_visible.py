"""What a person sees who may see a part of the tables: in every list, count and sum."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from maintainer.domain.access import read_prefix
from maintainer.domain.audit import AuditEntry, AuditQuery, Deed
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.ports.store import Store
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.tables import TableQuery
from tests.adapters.store.values import NOW, make_grade, make_health, make_job

NAMES = (
    "lake.sales.x", "lake.sales.eu.x", "lake.sales.`eu.west`.x", "lake.sales_old.x", "lake.sale.x",
    "lake.Sales.x", "sea.sales.x", "`lake.sales`.sales.x",
)  # fmt: skip
SEEN = {
    "lake": {name for name in NAMES if name.startswith("lake.")},
    "lake.sales": {"lake.sales.x", "lake.sales.eu.x", "lake.sales.`eu.west`.x"},
    "lake.sales.eu": {"lake.sales.eu.x"},
    "lake.sales.`eu.west`": {"lake.sales.`eu.west`.x"},
    "`lake.sales`": {"`lake.sales`.sales.x"},
    "lake.hr": set(),
}


@pytest.fixture
def filled(store: Store) -> Store:
    """Tables in several namespaces, each with a job and an entry in the audit log."""
    for number, name in enumerate(NAMES):
        table = TableIdentifier.parse(name)
        store.record_health(make_health(table, f"uuid {number}", NOW), make_grade())
        assert store.add_job(make_job(f"job {number}", f"uuid {number}", table=table))
    store.record_audit([AuditEntry(NOW, "person", Deed.WORK_PAUSED, fields={"scope": "*"})])
    return store


# Each test reads one store with every scope: to fill it takes longer than to read it.
def test_lists_have_the_visible_tables_alone(filled: Store) -> None:
    for (scope, expected), sort in product(SEEN.items(), ("name", "-data_files", "band")):
        within = (read_prefix(scope),)
        page = filled.tables(
            TableQuery(sort=sort.removeprefix("-"), descending=sort.startswith("-"), within=within)
        )
        assert {str(record.table) for record in page.items} == expected, (scope, sort)
        assert (page.total, page.total_is_exact) == (len(expected), True), (scope, sort)


def test_a_list_of_names_is_sorted_paged_and_counted_as_any_other(filled: Store) -> None:
    only = frozenset({"lake.sales.x", "lake.sales.eu.x", "sea.sales.x", "no.such.table"})
    for sort, descending in product(("name", "data_files", "band"), (True, False)):
        query = TableQuery(sort=sort, descending=descending, only=only, limit=2)
        first = filled.tables(query)
        rest = filled.tables(replace(query, cursor=first.next_cursor))
        every = filled.tables(replace(query, only=None, limit=100))
        assert [str(record.table) for record in (*first.items, *rest.items)] == [
            str(record.table) for record in every.items if str(record.table) in only
        ]
        assert (first.total, first.total_is_exact) == (3, True)
    within = filled.tables(TableQuery("eu", "lake", only=only, within=("lake.sales.",)))
    assert [str(record.table) for record in within.items] == ["lake.sales.eu.x"]
    assert filled.tables(TableQuery(only=frozenset())).total == 0


def test_a_search_finds_visible_tables_alone(filled: Store) -> None:
    for scope, expected in SEEN.items():
        searched = filled.tables(TableQuery("eu", "lake", within=(read_prefix(scope),)))
        assert {str(record.table) for record in searched.items} == {
            name for name in expected if "eu" in name and name.startswith("lake.")
        }, scope


def test_jobs_and_the_audit_log_are_of_visible_tables_alone(filled: Store) -> None:
    for scope, expected in SEEN.items():
        within, count = (read_prefix(scope),), len(expected)
        jobs = filled.jobs(JobQuery(within=within))
        assert ({str(job.table) for job in jobs.items}, jobs.total) == (expected, count), scope
        assert filled.jobs(JobQuery((JobState.PENDING,), within=within)).total == count, scope
        log = filled.audit(AuditQuery(within=within))
        assert {str(entry.table) for entry in log.items} == expected, scope
        assert log.total == len(log.items), scope


def test_sums_are_of_visible_tables_alone(filled: Store) -> None:
    for scope, expected in SEEN.items():
        expect_sums(filled, scope, expected)


def expect_sums(filled: Store, scope: str, expected: set[str]) -> None:
    within = (read_prefix(scope),)
    overview = filled.overview(within)
    assert overview.tables == overview.measured_tables == len(expected)
    assert sum(overview.bands.values()) == sum(overview.jobs.values()) == len(expected)
    assert overview.files_removed is None
    assert (overview.last_measured_at is None) == (not expected)
    found = filled.namespaces(within=within)
    assert found.total == len(found.items)
    assert sum(item.counters.tables for item in found.items) == len(expected)
    first = filled.namespaces(limit=1, within=within)
    rest = filled.namespaces(cursor=first.next_cursor, within=within) if first.next_cursor else None
    assert (*first.items, *(rest.items if rest else ())) == tuple(found.items)


def test_several_scopes_add_up_and_none_sees_nothing(filled: Store) -> None:
    both = (read_prefix("lake.sales.eu"), read_prefix("sea"))
    assert filled.tables(TableQuery(within=both)).total == filled.overview(both).tables == 2
    assert filled.tables(TableQuery(within=())).total == filled.overview(()).tables == 0
    assert filled.jobs(JobQuery(within=())).items == ()
    assert filled.audit(AuditQuery(within=())).items == ()
    assert filled.namespaces(within=()).items == ()
