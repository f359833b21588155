from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store import Store
from tests.adapters.store.values import NOW, make_grade, make_health
from tests.examples import examples
from tests.fakes.adapters.store import FakeStore

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
START = NOW.replace(hour=0, minute=0, second=0, microsecond=0)
SALES, NESTED, SEA = (
    TableIdentifier("lake", ("sales",), "x"),
    TableIdentifier("lake", ("sales", "eu"), "x"),
    TableIdentifier("sea", ("sales",), "x"),
)


def record(store: Store, after: timedelta, table: TableIdentifier, files: int) -> None:
    health = make_health(table, f"uuid of {table}", START + after, data_files=files)
    store.record_health(health, make_grade(Band.WATCH))
    store.record_fleet(START + after)


def read(
    store: Store,
    catalog: str | None = None,
    namespace: str | None = None,
    since: datetime = START,
    until: datetime = START + 100 * DAY,
) -> list[tuple[timedelta, int]]:
    return [
        (sample.at - START, sample.counters.data_files)
        for sample in store.fleet_history(catalog, namespace, since, until)
    ]


def test_the_history_has_the_sums_of_the_fleet_of_catalogs_and_of_namespaces(store: Store) -> None:
    record(store, 0 * HOUR, SALES, 10)
    record(store, 1 * HOUR, NESTED, 5)
    record(store, 2 * HOUR, SEA, 7)
    assert read(store) == [(0 * HOUR, 10), (1 * HOUR, 15), (2 * HOUR, 22)]
    assert read(store, "lake") == [(0 * HOUR, 10), (1 * HOUR, 15)]
    assert read(store, "lake", "sales") == [(0 * HOUR, 10)]
    assert read(store, "lake", "sales.eu") == [(1 * HOUR, 5)]
    assert read(store, "sea") == [(2 * HOUR, 7)]
    assert read(store, "nowhere") == []

    (sample,) = store.fleet_history("sea", None, START, START + DAY)
    assert sample.counters == store.counters("sea")


def test_the_last_sums_of_a_minute_and_for_a_namespace_of_an_hour_are_kept(store: Store) -> None:
    for minutes, files in ((0.2, 1), (0.9, 2), (1.5, 3), (59, 4), (60, 5)):
        record(store, minutes * MINUTE, SALES, files)
    assert read(store) == [(0 * MINUTE, 2), (1 * MINUTE, 3), (59 * MINUTE, 4), (60 * MINUTE, 5)]
    assert read(store, "lake", "sales") == [(0 * HOUR, 4), (1 * HOUR, 5)]


def test_sums_that_do_not_change_add_no_sample(store: Store) -> None:
    for hour in range(5):
        record(store, hour * HOUR, SALES, 10)
    assert read(store) == [(0 * HOUR, 10)]


def test_the_sample_that_is_valid_at_the_beginning_begins_there(store: Store) -> None:
    for hour, files in ((0, 1), (5, 2), (9, 3)):
        record(store, hour * HOUR, SALES, files)
    since = START + 7 * HOUR
    assert read(store, since=since) == [(7 * HOUR, 2), (9 * HOUR, 3)]
    assert read(store, since=START + 5 * HOUR) == [(5 * HOUR, 2), (9 * HOUR, 3)]
    assert read(store, since=since, until=START + 8 * HOUR) == [(7 * HOUR, 2)]
    assert read(store, since=START - DAY) == [(0 * HOUR, 1), (5 * HOUR, 2), (9 * HOUR, 3)]


def test_a_catalog_without_tables_has_sums_of_zero_from_then_on(store: Store) -> None:
    record(store, 0 * HOUR, SALES, 10)
    store.forget_tables_except("lake", [])
    store.record_fleet(START + HOUR)
    assert read(store, "lake") == [(0 * HOUR, 10), (1 * HOUR, 0)]


def test_old_samples_are_thinned_to_hours_and_days_and_then_deleted(store: Store) -> None:
    for minutes in (0, 20, 40, 70, 130, 24 * 60, 25 * 60, 48 * 60):
        record(store, minutes * MINUTE, SALES, minutes + 1)
    pruned = store.prune(START - DAY, START - DAY, START + 2 * HOUR, None)
    assert pruned["fleet_samples"] == 4, "two of the fleet's first hour and two of its catalog's"
    assert [at // MINUTE for at, _ in read(store)] == [40, 70, 130, 1440, 1500, 2880]
    assert [at // HOUR for at, _ in read(store, "lake", "sales")] == [0, 1, 2, 24, 25, 48]

    store.prune(START - DAY, START - DAY, START + 30 * HOUR, None)
    assert [at // MINUTE for at, _ in read(store)] == [40, 70, 130, 1440, 1500, 2880]
    assert [at // HOUR for at, _ in read(store, "lake", "sales")] == [2, 24, 25, 48]

    store.prune(START - DAY, START - DAY, START + 30 * HOUR, START + 30 * HOUR)
    assert [at // MINUTE for at, _ in read(store)] == [130, 1440, 1500, 2880]

    store.prune(START + 90 * DAY, START - DAY, None, None)
    assert read(store) == [(48 * HOUR, 2881)], "the latest sample stays"


@given(
    steps=st.lists(st.tuples(st.integers(1, 400), st.integers(0, 3)), min_size=1, max_size=30),
    hourly=st.integers(0, 6000),
    daily=st.integers(0, 6000),
)
@settings(max_examples=examples(60))
def test_thinning_keeps_the_last_sample_of_each_bucket(
    steps: list[tuple[int, int]], hourly: int, daily: int
) -> None:
    store, minute = FakeStore(), 0
    for step, files in steps:
        minute += step
        record(store, minute * MINUTE, SALES, files)
    before = read(store)
    store.prune(START - DAY, START - DAY, START + hourly * MINUTE, START + daily * MINUTE)
    after = read(store)
    assert set(after) <= set(before)
    assert after[-1:] == before[-1:]
    assert {at // DAY for at, _ in after} == {at // DAY for at, _ in before}
    assert len(after) == len(store._fleet[None, None])
