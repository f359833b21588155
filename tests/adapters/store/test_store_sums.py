from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from random import Random
from threading import Barrier, BrokenBarrierError, Event

import pytest
from sqlalchemy import Connection

from maintainer.adapters.store import open_store, sums
from maintainer.adapters.store.sums import SharedSums, read_sums
from maintainer.domain.errors import InvalidValueError, StoreUnavailableError, UnknownTableError
from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.domain.job import JobState
from maintainer.ports.store import Store
from maintainer.ports.store.figures import Counters
from maintainer.ports.store.jobs import JobQuery
from maintainer.ports.store.tables import Pause, TableQuery, TableRecord
from tests.adapters.store.values import NOW, make_grade, make_health, make_job, succeeded
from tests.fakes.adapters.store import FakeStore

SALES, NESTED, SEA = (
    TableIdentifier("lake", ("sales",), "x"),
    TableIdentifier("lake", ("sales", "eu"), "x"),
    TableIdentifier("sea", ("sales",), "x"),
)
SCOPES: tuple[tuple[str | None, str | None], ...] = (
    (None, None),
    ("lake", None),
    ("sea", None),
    ("lake", "sales"),
    ("lake", "sales.eu"),
    ("sea", "sales"),
)


def record(
    store: Store,
    table: TableIdentifier,
    band: Band = Band.HEALTHY,
    uuid: str = "",
    **figures: int | None,
) -> None:
    store.record_health(
        make_health(table, uuid or f"uuid of {table}", NOW, **figures), make_grade(band)
    )


def every_table(store: Store) -> list[TableRecord]:
    found: list[TableRecord] = []
    cursor = None
    while True:
        page = store.tables(TableQuery(limit=7, cursor=cursor))
        found += page.items
        if page.next_cursor is None:
            return found
        cursor = page.next_cursor


def sums_of(store: Store, catalog: str | None, namespace: str | None) -> Counters:
    """Computed from the records themselves, by the fake."""
    fake = FakeStore()
    fake._tables = {one.table: one for one in every_table(store)}
    return fake.counters(catalog, namespace)


def assert_exact(store: Store) -> None:
    for scope in SCOPES:
        assert store.counters(*scope) == sums_of(store, *scope), scope
    overview, fleet = store.overview(), store.counters()
    assert {field.name: getattr(overview, field.name) for field in fields(fleet)} == {
        field.name: getattr(fleet, field.name) for field in fields(fleet)
    }


def test_the_live_file_ratio_is_of_the_tables_that_tell_how_many_files_they_keep(
    store: Store,
) -> None:
    record(store, SALES, data_files=10, kept_data_files=40)
    record(store, NESTED, data_files=30, kept_data_files=None)
    record(store, SEA, data_files=10, kept_data_files=10)
    assert_exact(store)
    assert (store.overview().live_file_ratio, store.counters("lake").live_file_ratio) == (
        20 / 50,
        10 / 40,
    )

    record(store, SALES, data_files=None, kept_data_files=40)
    assert_exact(store)
    assert (store.overview().live_file_ratio, store.counters("lake").live_file_ratio) == (1.0, None)


def test_counters_of_a_namespace_leave_out_nested_ones(store: Store) -> None:
    record(store, SALES, Band.WATCH, data_files=4, data_bytes=100)
    record(store, NESTED, data_files=6, data_bytes=20)
    record(store, SEA, data_files=None, data_bytes=None)

    assert (
        store.counters("lake", "sales").data_files,
        store.counters("lake", "sales").average_file_size_bytes,
    ) == (4, 25.0)
    assert (store.counters("lake").data_files, store.counters("lake").average_file_size_bytes) == (
        10,
        12.0,
    )
    assert (store.counters("sea").tables, store.counters("sea").average_file_size_bytes) == (
        1,
        None,
    )
    assert store.counters("lake", "sales").bands[Band.WATCH] == 1
    assert store.counters("nowhere").tables == 0
    assert_exact(store)


def test_namespaces_are_paged_by_catalog_and_name_and_go_with_their_last_table(
    store: Store,
) -> None:
    for table in (SEA, NESTED, SALES):
        record(store, table)

    first = store.namespaces(limit=2)
    rest = store.namespaces(limit=2, cursor=first.next_cursor)
    assert [(item.catalog, item.namespace) for item in (*first.items, *rest.items)] == [
        ("lake", "sales"),
        ("lake", "sales.eu"),
        ("sea", "sales"),
    ]
    assert (first.total, rest.next_cursor) == (3, None)
    assert [item.catalog for item in store.namespaces("sea").items] == ["sea"]
    with pytest.raises(InvalidValueError):
        store.namespaces("lake", cursor=first.next_cursor)

    store.forget_tables_except("sea", [])
    assert store.namespaces("sea").total == 0
    assert_exact(store)


def test_sums_follow_every_kind_of_change(store: Store) -> None:
    record(store, SALES, data_files=4)
    record(store, SALES, Band.CRITICAL, data_files=9)
    record(store, SALES, uuid="another table of the name", data_files=7)
    store.record_fault(TableFault(SALES, FaultKind.UNSUPPORTED, "broken", NOW))
    store.record_fault(TableFault(NESTED, FaultKind.UNSUPPORTED, "never measured", NOW))
    store.set_pause(SALES, Pause("me", NOW))
    store.set_pause(SALES, Pause("me again", NOW))
    with pytest.raises(UnknownTableError):
        store.set_pause(SEA, Pause("me", NOW))
    assert_exact(store)
    assert (
        store.counters().paused_tables,
        store.counters().faulty_tables,
        store.counters().data_files,
    ) == (1, 2, 7)

    store.set_pause(SALES, None)
    store.record_fault(TableFault(SALES, FaultKind.DROPPED, "gone", NOW))
    store.record_fault(TableFault(SALES, FaultKind.DROPPED, "gone already", NOW))
    assert_exact(store)
    assert (store.counters().tables, store.counters().data_files) == (1, 0)


def test_totals_of_the_list_are_those_of_its_filters(store: Store) -> None:
    record(store, SALES, Band.WATCH)
    record(store, NESTED, Band.WATCH)
    record(store, SEA)
    record(store, TableIdentifier("lake", ("sales-old",), "x"), Band.WATCH)

    for query in (
        TableQuery(), TableQuery(catalog="lake"), TableQuery(namespace="sales"),
        TableQuery(catalog="lake", namespace="sales"), TableQuery(band=Band.WATCH),
        TableQuery(catalog="lake", namespace="sales", band=Band.WATCH), TableQuery(catalog="sea",
        band=Band.WATCH), TableQuery(search="EU"),
    ):  # fmt: skip
        page = store.tables(query)
        assert (page.total, page.total_is_exact) == (len(page.items), True), query


@pytest.mark.slow
def test_many_writers_leave_exact_sums(store_url: str) -> None:
    with closing(open_store(store_url)) as opened:
        write_together(opened)
        assert_exact(opened)


def write_together(opened: Store) -> None:
    together = Barrier(6)
    tables = [
        TableIdentifier(catalog, (space,), name)
        for catalog in ("lake", "sea")
        for space in ("sales", "b")
        for name in "xyz"
    ]

    def write(seed: int) -> None:
        random = Random(seed)
        together.wait(timeout=60)
        for number in range(100):
            table = random.choice(tables)
            match random.randrange(5):
                case 0:
                    opened.record_fault(TableFault(table, FaultKind.DROPPED, "gone", NOW))
                case 1:
                    opened.forget_tables_except(table.catalog, random.sample(tables, 6))
                case _:
                    record(
                        opened,
                        table,
                        random.choice(list(Band)),
                        data_files=random.randrange(100),
                        data_bytes=seed * number,
                    )

    with ThreadPoolExecutor(6) as pool:
        for future in [pool.submit(write, seed) for seed in range(6)]:
            future.result(timeout=120)


def test_a_sum_of_more_than_64_bits_is_right_but_for_its_last_digits(store: Store) -> None:
    largest = 2**63 - 1
    for name in "abc":
        record(store, TableIdentifier("lake", ("huge",), name), data_bytes=largest, data_files=7)
    assert store.overview().data_bytes == pytest.approx(3 * largest, rel=1e-15)
    assert store.overview().data_files == 21


def test_jobs_are_counted_as_they_come_move_and_go(store: Store) -> None:
    record(store, SALES)
    for name in "abc":
        job = make_job(name, at=NOW)
        store.add_job(job)
        store.update_job(succeeded(job, NOW), JobState.PENDING)
    store.add_job(make_job("d"))
    assert not store.add_job(make_job("e"))

    assert (
        store.overview().jobs[JobState.SUCCEEDED]
        == store.jobs(JobQuery((JobState.SUCCEEDED,))).total
        == 3
    )
    assert (
        store.jobs(JobQuery()).total,
        store.jobs(JobQuery((JobState.PENDING, JobState.SUCCEEDED))).total,
    ) == (4, 4)

    store.prune(NOW, NOW + timedelta(days=1))
    assert (
        store.jobs(JobQuery()).total
        == len(store.jobs(JobQuery()).items)
        == sum(store.overview().jobs.values())
    )


def test_the_figures_are_those_of_all_tables_while_there_are_few(store: Store) -> None:
    record(store, SALES, Band.WATCH, data_files=None)
    record(store, NESTED, Band.CRITICAL, data_files=7)
    store.record_fault(TableFault(SEA, FaultKind.METADATA_CORRUPT, "not JSON", NOW))
    figures = store.table_figures(10)
    assert [(one.table, one.band, one.data_files) for one in figures] == [
        (NESTED, Band.CRITICAL, 7),
        (SALES, Band.WATCH, None),
    ]
    health = make_health()
    assert (figures[0].manifests, figures[0].snapshots) == (health.manifests, health.snapshots)
    assert [one.table for one in store.table_figures(1)] == [NESTED]


def test_of_many_tables_the_figures_are_those_of_the_chosen_and_the_worst(store: Store) -> None:
    def named(name: str) -> TableIdentifier:
        return TableIdentifier("lake", ("sales",), name)

    bands = {"a": Band.DEGRADED, "b_d": Band.HEALTHY, "bad": Band.WATCH, "C": Band.CRITICAL}
    for name, band in bands.items():
        record(store, named(name), band)

    def names(limit: int, *chosen: str) -> list[str]:
        return [one.table.name for one in store.table_figures(limit, chosen)]

    assert names(3) == ["C", "a"]
    assert names(3, "lake.sales.b_d") == ["b_d", "C", "a"]
    assert names(3, "*.B?D") == ["b_d", "bad", "C"]
    assert names(1, "lake.sales.[a-z]*", "lake.sales.%") == ["C"]
    assert names(0) == []


def test_readers_share_the_sums_until_they_are_too_old(store_url: str) -> None:
    now = 0.0
    with closing(open_store(store_url)) as opened:
        shared = SharedSums(opened._database, timedelta(seconds=5), lambda: now)
        record(opened, SALES)
        first = shared.read()
        record(opened, SEA)
        now = 4.9
        assert shared.read() is first
        assert first.of().tables == 1
        now = 5.0
        assert shared.read().of().tables == 2

        record(opened, NESTED)
        exact = shared.read(exactly=True)
        assert exact.of().tables == 3
        now = 9.9
        assert shared.read() is exact, "all readers get the newest"


def test_only_one_reader_sums_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together, two_at_once = Barrier(4), Barrier(2)
    readings: list[bool] = []

    def read_slowly(connection: Connection) -> sums.Sums:
        with suppress(BrokenBarrierError):
            two_at_once.wait(timeout=0.2)
        readings.append(two_at_once.broken)
        return read_sums(connection)

    def read_at_once() -> sums.Sums:
        together.wait(timeout=60)
        return shared.read()

    monkeypatch.setattr(sums, "read_sums", read_slowly)
    with closing(open_store(f"sqlite:///{tmp_path}/maintainer.db")) as opened:
        shared = SharedSums(opened._database, timedelta(hours=1))
        with ThreadPoolExecutor(4) as pool:
            found = [pool.submit(read_at_once) for _ in range(4)]
            assert len({id(one.result(timeout=60)) for one in found}) == 1
    assert readings == [True]


def test_sums_that_could_not_be_read_are_read_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Connection) -> sums.Sums:
        raise StoreUnavailableError

    with closing(open_store(f"sqlite:///{tmp_path}/maintainer.db")) as opened:
        shared = SharedSums(opened._database, timedelta(hours=1))
        with monkeypatch.context() as broken:
            broken.setattr(sums, "read_sums", fail)
            with pytest.raises(StoreUnavailableError):
                shared.read()
        assert shared.read().of().tables == 0


def test_no_reader_waits_long_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_reading, may_end = Event(), Event()

    def hang(connection: Connection) -> sums.Sums:
        is_reading.set()
        may_end.wait(timeout=60)
        return read_sums(connection)

    monkeypatch.setattr(sums, "read_sums", hang)
    monkeypatch.setattr(sums, "LONGEST_WAIT_SECONDS", 0)
    with (
        closing(open_store(f"sqlite:///{tmp_path}/maintainer.db")) as opened,
        ThreadPoolExecutor(1) as pool,
    ):
        first = pool.submit(opened.counters)
        assert is_reading.wait(timeout=60)
        with pytest.raises(StoreUnavailableError, match="not read within 0 s"):
            opened.counters()
        may_end.set()
        assert first.result(timeout=60).tables == 0


def test_the_total_of_a_list_on_one_page_is_never_old(store_url: str) -> None:
    with closing(open_store(store_url, max_age=timedelta(hours=1))) as opened:
        record(opened, SALES)
        record(opened, NESTED)
        assert opened.tables(TableQuery(limit=1)).total == 2
        record(opened, SEA)
        assert opened.tables(TableQuery(limit=1)).total == 2, "from the sums"
        assert opened.tables(TableQuery(limit=2)).total == 3, "one more was read"
        assert opened.tables(TableQuery(limit=3)).total == 3
        assert opened.tables(TableQuery(band=Band.CRITICAL)).total == 0
        assert opened.jobs(JobQuery()).total == 0
        opened.add_job(make_job())
        assert opened.jobs(JobQuery()).total == 1
        assert opened.overview().jobs[JobState.PENDING] == 0, "from the sums"


def test_whether_there_are_tables_is_never_old(store: Store) -> None:
    assert (store.has_tables("lake"), store.has_unmeasured_tables()) == (False, False)
    record(store, SALES)
    assert (store.has_tables("lake"), store.has_tables("sea")) == (True, False)
    store.record_fault(TableFault(SEA, FaultKind.UNSUPPORTED, "never measured", NOW))
    assert (store.has_tables("sea"), store.has_unmeasured_tables()) == (True, True)
    record(store, SEA)
    assert not store.has_unmeasured_tables()
