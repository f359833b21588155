from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event

from maintainer.adapters.store import listing, open_store, samples
from maintainer.domain.health import Band, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.domain.units import CLOCK_TOLERANCE
from maintainer.ports.store import Store
from maintainer.ports.store.plans import LONGEST_TRUST, PlanDue
from maintainer.ports.store.tables import HISTORY_METRICS, TABLE_SORTS, Pause, TableQuery
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    ORDERS,
    ORDERS_UUID,
    make_grade,
    make_health,
    make_job,
    succeeded,
)

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
COUNTED = {field.name for field in fields(TableHealth) if str(field.type).startswith("int")}
START = NOW.replace(minute=0, second=0, microsecond=0)


def named(number: int, catalog: str = "lake") -> TableIdentifier:
    return TableIdentifier(catalog, (f"n{number % 3}",), f"t{number:04}")


def due_names(store: Store, version: str = "v1") -> list[str]:
    return [due.table.name for due in store.tables_to_plan(NOW, version)]


def plan_all(store: Store, next_at: timedelta | None = HOUR, version: str = "v1") -> None:
    for due in store.tables_to_plan(NOW, version):
        store.mark_planned(due, version, None if next_at is None else NOW + next_at)


def next_plan_of(store: Store) -> datetime | None:
    """When the one table is planned again, as both the table and the list say."""
    [listed] = store.tables(TableQuery()).items
    known = store.table(listed.table)
    assert known is not None
    assert known.next_plan_at == listed.next_plan_at
    return listed.next_plan_at


def test_a_table_is_planned_once_and_again_when_its_time_has_come(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    assert due_names(store) == ["orders"]

    plan_all(store, HOUR)
    assert due_names(store) == []
    assert [due.table for due in store.tables_to_plan(NOW + HOUR, "v1")] == [ORDERS]
    assert next_plan_of(store) == NOW + HOUR
    store.record_health(make_health(at=NOW + MINUTE), make_grade())
    assert next_plan_of(store) is None

    plan_all(store, None)
    assert due_names(store, "v0") == due_names(store, "v2") == ["orders"]


def test_a_next_check_written_by_a_clock_that_was_ahead_is_due_now(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    plan_all(store, LONGEST_TRUST + CLOCK_TOLERANCE)
    assert due_names(store) == []
    plan_all(store, 400 * DAY, "v2")
    assert due_names(store, "v2") == ["orders"]


def test_tables_of_a_catalog_that_nobody_asks_for_are_never_due(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_health(make_health(named(1, "sea"), "other"), make_grade())
    assert [due.table.catalog for due in store.tables_to_plan(NOW, "v1", {"sea", "lake"})] == [
        "lake",
        "sea",
    ]
    assert [due.table.catalog for due in store.tables_to_plan(NOW, "v1")] == ["lake", "sea"]
    assert [due.table.catalog for due in store.tables_to_plan(NOW, "v1", {"sea"})] == ["sea"]
    assert store.tables_to_plan(NOW, "v1", set()) == ()


@pytest.mark.parametrize("change", ["health", "pause", "resume", "job", "finished job"])
def test_every_change_of_the_basis_of_a_plan_makes_its_table_due(store: Store, change: str) -> None:
    store.record_health(make_health(), make_grade())
    store.record_health(
        make_health(TableIdentifier("lake", ("sales",), "other"), "other"), make_grade()
    )
    if change == "finished job":
        store.add_job(make_job())
    plan_all(store, None)
    assert due_names(store) == []

    match change:
        case "health":
            store.record_health(make_health(at=NOW + MINUTE), make_grade())
        case "pause":
            store.set_pause(ORDERS, Pause("me", NOW))
        case "resume":
            store.set_pause(ORDERS, None)
        case "job":
            store.add_job(make_job())
        case _:
            store.update_job(succeeded(make_job(), NOW), JobState.PENDING)
    assert due_names(store) == ["orders"]


def test_a_change_while_a_plan_is_made_is_not_lost(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    (due,) = store.tables_to_plan(NOW, "v1")
    store.record_health(make_health(at=NOW + MINUTE), make_grade())

    store.mark_planned(due, "v1", None)
    assert due_names(store) == ["orders"]
    store.mark_planned(PlanDue(named(1), 0), "v1", None)  # a table that is gone


def test_the_unfinished_job_of_a_table(store: Store) -> None:
    store.add_job(succeeded(make_job("done"), NOW))
    assert store.unfinished_job_of(ORDERS_UUID) is None

    store.add_job(make_job("b"))
    store.add_job(make_job("c", table_uuid="other"))
    assert store.unfinished_job_of(ORDERS_UUID) == make_job("b")


def times(store: Store) -> list[timedelta]:
    return [
        at - START
        for at, _ in store.history(ORDERS, "data_files", START - 90 * DAY, START + 90 * DAY)
    ]


@pytest.mark.slow
def test_old_history_keeps_the_last_sample_of_each_hour_and_older_of_each_day(store: Store) -> None:
    first = START.replace(hour=0) - 2 * DAY
    for number in range(3 * 24 * 2):
        store.record_health(
            make_health(at=first + number * 30 * MINUTE, data_files=number), make_grade()
        )

    hourly, daily = first + 2 * DAY, first + DAY
    assert store.prune(first, first, hourly, daily)["thinned"] == 48 - 1 + 24

    series = store.history(ORDERS, "data_files", first, first + 3 * DAY)
    assert [value for _, value in series] == [
        47.0,
        *(48.0 + 1 + 2 * hour for hour in range(24)),
        *map(float, range(96, 144)),
    ]
    assert [at for at, _ in series[:2]] == [first + DAY - 30 * MINUTE, first + DAY + 30 * MINUTE]
    assert store.prune(first, first, hourly, daily)["thinned"] == 0


def test_an_hour_that_is_not_wholly_old_is_left_alone(store: Store) -> None:
    for minute in range(0, 180, 20):
        store.record_health(
            make_health(at=START + minute * MINUTE, data_files=minute), make_grade()
        )

    store.prune(START, START, START + 90 * MINUTE)
    assert times(store) == [minute * MINUTE for minute in (40, 60, 80, 100, 120, 140, 160)]


def test_thinning_is_bounded_and_goes_on_where_it_ended(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "WINDOWS_PER_PRUNE", 2)
    store = open_store(store_url)
    for hour in (0, 1, 5, 900, 901):
        for minute in (0, 30):
            store.record_health(
                make_health(at=START + hour * HOUR + minute * MINUTE, data_files=minute),
                make_grade(),
            )

    assert [store.prune(START, START, START + 2000 * HOUR)["thinned"] for _ in range(4)] == [
        2,
        2,
        1,
        0,
    ]
    store.close()


def test_no_transaction_of_a_prune_deletes_more_samples_than_it_may(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "ROWS_PER_WRITE", 4)
    store = open_store(store_url)
    for minute in range(15):
        store.record_health(
            make_health(at=START + minute * MINUTE, data_files=minute), make_grade()
        )
    deleted: list[int] = []

    def note(_connection: object, cursor: Any, statement: str, *_: object) -> None:
        if statement.startswith("DELETE FROM health_samples"):
            deleted.append(cursor.rowcount)

    event.listen(store._database.engine, "after_cursor_execute", note)
    assert store.prune(START, START, START + HOUR)["thinned"] == 14
    assert store.prune(START + DAY, START)["samples"] == 0, "the last of a known table stays"
    assert deleted == [4, 4, 4, 2]
    assert times(store) == [14 * MINUTE]
    store.close()


def test_every_metric_of_history_is_a_series(store: Store) -> None:
    first: dict[str, Any] = {metric: number for number, metric in enumerate(HISTORY_METRICS)}
    later: dict[str, Any] = {
        metric: number if metric in COUNTED else number + 0.5 for metric, number in first.items()
    }
    store.record_health(make_health(**first), make_grade())
    store.record_health(make_health(at=NOW + MINUTE, **later), make_grade())
    for metric, number in first.items():
        assert store.history(ORDERS, metric, NOW, NOW + DAY) == (
            (NOW, number),
            (NOW + MINUTE, later[metric]),
        ), metric


def test_a_metric_without_a_column_is_kept_too(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "_COLUMNS", samples._COLUMNS - {"records"})
    store = open_store(store_url)
    store.record_health(make_health(delete_records=6, small_file_bytes=None), make_grade())
    store.record_health(
        make_health(at=NOW + MINUTE, delete_records=None, records=None, small_file_bytes=None),
        make_grade(),
    )

    assert [value for _, value in store.history(ORDERS, "delete_records", NOW, NOW + DAY)] == [
        6.0,
        None,
    ]
    assert [value for _, value in store.history(ORDERS, "records", NOW, NOW + DAY)] == [500.0, None]
    store.close()


@pytest.mark.parametrize(("few", "searched"), [(0, 2), (10_000, 500)])
def test_whether_matches_are_sorted_or_walked_the_pages_are_the_same(
    store_url: str, monkeypatch: pytest.MonkeyPatch, few: int, searched: int
) -> None:
    monkeypatch.setattr(listing, "SORTED_AT_MOST", few)
    monkeypatch.setattr(listing, "SEARCH_COUNTED_AT_MOST", searched)
    store = open_store(store_url)
    bands = list(Band)
    for number in range(24):
        files = None if number % 5 == 0 else number % 4
        health = make_health(
            named(number, "lake" if number % 2 else "sea"),
            f"u{number}",
            data_files=files,
            small_files=number % 3,
        )
        store.record_health(health, make_grade(bands[number % 4]))

    choices: list[dict[str, Any]] = [
        {},
        {"catalog": "lake"},
        {"namespace": "n1"},
        {"catalog": "sea", "band": Band.HEALTHY},
    ]
    choices += [{"search": "T00"}, {"search": "n2", "catalog": "lake"}]
    for filters in choices:
        for sort in ("name", "data_files", "small_files", "band", "measured_at"):
            for descending in (False, True):
                assert_pages_like_python(
                    store, TableQuery(**filters, sort=sort, descending=descending, limit=5)
                )
    store.close()


def assert_pages_like_python(store: Store, query: TableQuery) -> None:
    records = store.tables(TableQuery(limit=1000)).items
    wanted = [
        record
        for record in records
        if query.catalog in {None, record.table.catalog}
        and query.namespace in {None, record.table.namespace_text}
        and query.search.casefold() in str(record.table)
        and (query.band is None or (record.grade is not None and record.grade.band is query.band))
    ]

    def value(record: Any) -> Any:
        if query.sort == "band":
            return -list(Band).index(record.grade.band)
        return str(record.table) if query.sort == "name" else getattr(record.health, query.sort)

    is_reversed = query.descending != (
        query.sort == "band"
    )  # of equal bands by name, from the worst to the best
    known = sorted(
        (record for record in wanted if value(record) is not None),
        key=lambda record: (value(record), str(record.table)),
        reverse=is_reversed,
    )
    expected = [
        record.table for record in (*known, *(record for record in wanted if value(record) is None))
    ]
    found: list[TableIdentifier] = []
    page = store.tables(query)
    assert page.total == len(wanted) if page.total_is_exact else 0 < page.total < len(wanted)
    found += [record.table for record in page.items]
    while page.next_cursor:
        page = store.tables(replace(query, cursor=page.next_cursor))
        found += [record.table for record in page.items]
    assert found == expected, query


@contextmanager
def statements(store: Any) -> Iterator[list[tuple[str, Any]]]:
    seen: list[tuple[str, Any]] = []
    engine = store._database.engine

    def note(
        _connection: object,
        _cursor: object,
        statement: str,
        parameters: object,
        _context: object,
        _many: object,
    ) -> None:
        seen.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


QUERIES = [
    *(
        TableQuery(sort=sort, descending=descending)
        for sort in TABLE_SORTS
        for descending in (False, True)
    ),
    *(
        TableQuery(sort=sort, band=Band.WATCH, descending=descending)
        for sort in TABLE_SORTS
        for descending in (False, True)
    ),
    *(TableQuery(sort=sort, catalog="lake", namespace="n1") for sort in TABLE_SORTS),
    TableQuery(catalog="lake"),
]
SEARCHES = [
    TableQuery(search="T0003"),
    TableQuery(search="T0003", catalog="lake", sort="data_files"),
]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Six tables, for tests that only read."""
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('fleet')}/maintainer.db")
    for number in range(6):
        store.record_health(make_health(named(number), f"u{number}"), make_grade())
    yield store
    store.close()


@pytest.mark.parametrize("query", QUERIES, ids=str)
def test_no_page_of_the_list_scans_or_sorts_the_fleet(fleet: Store, query: TableQuery) -> None:
    with statements(fleet) as seen:
        page = fleet.tables(replace(query, limit=1))
        fleet.tables(replace(query, limit=1, cursor=page.next_cursor))
    assert_walks_indexes(fleet, seen)


@pytest.mark.parametrize("query", SEARCHES, ids=str)
def test_a_search_reads_the_narrow_rows_and_sorts_nothing(fleet: Store, query: TableQuery) -> None:
    with statements(fleet) as seen:
        fleet.tables(query)
    assert_walks_indexes(fleet, seen, may_scan="SCAN tables")


def test_what_is_asked_all_the_time_scans_nothing(tmp_path: Any) -> None:
    store = open_store(f"sqlite:///{tmp_path}/maintainer.db")
    store.record_health(make_health(), make_grade())
    with statements(store) as seen:
        store.tables_to_plan(NOW, "v1")
        store.unfinished_job_of(ORDERS_UUID)
        store.has_tables("lake")
        store.has_unmeasured_tables()
        store.table(ORDERS)
        store.history(ORDERS, "data_files", NOW, NOW)
    assert_walks_indexes(store, seen)
    store.close()


def test_sums_are_read_from_two_indexes(tmp_path: Any) -> None:
    store = open_store(f"sqlite:///{tmp_path}/maintainer.db")
    with statements(store) as seen:
        store.counters()
    with store._database.read() as connection:
        steps = [
            row[3]
            for statement, parameters in seen
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]
    assert steps == [
        "SCAN tables USING COVERING INDEX ix_tables_sums",
        "SCAN tables USING INDEX ix_tables_trouble",
        "SCAN jobs USING COVERING INDEX ix_jobs_state",
    ]
    store.close()


def assert_walks_indexes(
    store: Any, seen: list[tuple[str, Any]], may_scan: str | None = None
) -> None:
    with store._database.read() as connection:
        for statement, parameters in seen:
            if not statement.lstrip().upper().startswith("SELECT"):
                continue
            plan = [
                row[3]
                for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            ]
            scans = [step for step in plan if step.startswith("SCAN") and "USING" not in step]
            assert set(scans) <= {may_scan}, (statement, plan)
            assert not [step for step in plan if "TEMP B-TREE" in step], (statement, plan)
            assert "planned_under" not in statement or "MULTI-INDEX OR" in plan, (statement, plan)
