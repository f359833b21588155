from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, text

from maintainer.adapters.store import open_store
from maintainer.adapters.store.schema import health_samples
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.store import Store
from maintainer.ports.store.tables import HISTORY_METRICS
from tests.adapters.store.values import MINUTE, NOW, ORDERS, ORDERS_UUID, make_grade, make_health
from tests.examples import examples
from tests.fakes.adapters.store import FakeStore

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
START = NOW.replace(hour=0, minute=0, second=0, microsecond=0)


def record(store: Store, hour: float, files: int, **fields: Any) -> None:
    store.record_health(
        make_health(at=START + hour * HOUR, data_files=files, **fields), make_grade()
    )


def read(store: Store, since: float, until: float) -> list[tuple[float, float | None]]:
    return [
        ((at - START) / HOUR, value)
        for at, value in store.history(
            ORDERS, "data_files", START + since * HOUR, START + until * HOUR
        )
    ]


def test_measurements_in_a_row_that_are_equal_are_reported_by_the_first_and_the_last(
    store: Store,
) -> None:
    for hour in (0, 6, 12, 18):
        record(store, hour, 7)
    assert read(store, 0, 24) == [(0, 7.0), (18, 7.0)]
    record(store, 24, 8)
    record(store, 30, 7)
    assert read(store, 0, 48) == [(0, 7.0), (18, 7.0), (24, 8.0), (30, 7.0)]


def test_a_measurement_is_equal_only_when_every_metric_is(store: Store) -> None:
    for metric in HISTORY_METRICS:
        table = TableIdentifier("lake", ("sales",), metric)
        for hour, value in ((0, 2), (1, 3), (2, None), (3, None)):
            fields: dict[str, Any] = {metric: value}
            store.record_health(
                make_health(table, metric, START + hour * HOUR, **fields), make_grade()
            )
        points = [(START, 2), (START + HOUR, 3), (START + 2 * HOUR, None), (START + 3 * HOUR, None)]
        assert list(store.history(table, metric, START, START + DAY)) == points
        assert (
            store.history(
                table, "records" if metric != "records" else "tags", START + HOUR, START + HOUR
            )
            != ()
        )


def test_what_lasts_beyond_the_time_asked_for_is_reported_at_its_ends(store: Store) -> None:
    for hour in (0, 10, 20):
        record(store, hour, 7)
    record(store, 30, 8)
    assert read(store, 5, 15) == [(5, 7.0), (15, 7.0)]
    assert read(store, 20, 25) == [(20, 7.0)]
    assert read(store, 21, 25) == [], "nothing was measured there"
    assert read(store, 12, 30) == [(12, 7.0), (20, 7.0), (30, 8.0)]
    assert read(store, 7, 7) == [(7, 7.0)]


def test_what_lasted_into_the_time_to_be_kept_stays(store: Store) -> None:
    for hour, files in ((0, 1), (1, 2), (2, 2), (30, 2), (31, 3), (60, 3)):
        record(store, hour, files)
    assert store.prune(START + 24 * HOUR, START)["samples"] == 1
    assert read(store, 0, 100) == [(1, 2.0), (30, 2.0), (31, 3.0), (60, 3.0)]


def test_thinning_leaves_what_lasts_over_many_hours_and_days(store: Store) -> None:
    hours = [(0, 1), (0.5, 2), (50, 2), (50.5, 3), (50.75, 4), (74, 4)]
    for hour, files in hours:
        record(store, hour, files)
    assert store.prune(START, START, START + 60 * HOUR, START + 60 * HOUR)["thinned"] == 2
    assert read(store, 0, 100) == [(0.5, 2.0), (50, 2.0), (50.75, 4.0), (74, 4.0)], (
        "a line through these is what was measured all that time"
    )


def test_an_earlier_measurement_that_comes_late_changes_nothing_that_is_known(store: Store) -> None:
    record(store, 5, 7)
    record(store, 9, 7)
    record(store, 6, 7)
    record(store, 7, 8)
    assert read(store, 9, 9) == [(9, 7.0)]
    record(store, 3, 7)
    assert read(store, 0, 4) == [(3, 7.0)]


@given(
    steps=st.lists(st.tuples(st.integers(1, 40), st.integers(0, 2)), min_size=1, max_size=25),
    since=st.integers(0, 400),
    length=st.integers(0, 400),
)
@settings(max_examples=examples(80))
def test_a_line_through_what_is_reported_goes_through_every_measurement(
    steps: list[tuple[int, int]], since: int, length: int
) -> None:
    store, measured, hour = FakeStore(), dict[int, float](), 0
    for step, files in steps:
        hour += step
        measured[hour] = files
        record(store, hour, files)
    reported = read(store, since, since + length)
    assert reported == sorted(reported)
    assert set(measured.items()) <= {
        (at, value) for at, value in _walk(read(store, 0, 10_000), measured)
    }
    assert all(
        any(first <= at <= last for first, last in _spans(measured, value))
        for at, value in reported
    )
    assert {at for at in measured if since <= at <= since + length} <= {
        at for at, _ in _walk(reported, measured)
    }


def _walk(
    reported: list[tuple[float, float | None]], measured: dict[int, float]
) -> list[tuple[float, float | None]]:
    """The points, and of a level line between two each moment of a measurement."""
    between = [
        (at, value)
        for (first, value), (last, other) in pairwise(reported)
        if value == other
        for at in measured
        if first <= at <= last
    ]
    return [*reported, *between]


def _spans(measured: dict[int, float], value: float | None) -> list[tuple[int, int]]:
    """From when until when it was measured so without anything else between."""
    spans: list[tuple[int, int]] = []
    previous = None
    for at, known in measured.items():
        if known == value:
            spans = [*spans[:-1], (spans[-1][0], at)] if previous == value else [*spans, (at, at)]
        previous = known
    return spans


def test_a_table_that_rests_for_a_year_has_one_sample(store_url: str) -> None:
    store = open_store(store_url)
    for number in range(100):
        record(store, 6 * number, 7)
    with store._database.read() as connection:
        assert (
            connection.execute(select(func.count()).select_from(health_samples)).scalar_one() == 1
        )
    store.close()


def test_samples_of_an_earlier_version_are_read_and_followed(store_url: str) -> None:
    store = open_store(store_url)
    record(store, 10, 7, branches=4)
    with store._database.write() as connection:  # as it wrote them
        connection.execute(
            text(
                'UPDATE health_samples SET branches = NULL, tags = NULL, more = \'{"branches": '
                '3, "tags": 2}\''
            )
        )
    record(store, 11, 7, branches=3)
    assert [value for _, value in store.history(ORDERS, "branches", START, START + DAY)] == [
        3.0,
        3.0,
    ]
    assert [value for _, value in store.history(ORDERS, "tags", START, START + 10 * HOUR)] == [2.0]
    with store._database.read() as connection:
        assert (
            connection.execute(
                select(func.count()).where(health_samples.c.table_uuid == ORDERS_UUID)
            ).scalar_one()
            == 2
        )
    store.close()


def test_the_same_moment_measured_twice_is_one_sample(store: Store) -> None:
    record(store, 0, 7)
    record(store, 0, 8)
    store.record_health(make_health(at=START + MINUTE, data_files=8), make_grade())
    assert read(store, 0, 1) == [(0, 8.0), (1 / 60, 8.0)]
