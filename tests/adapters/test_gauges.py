"""The gauges: read from the store, bounded in number, equal on every daemon."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.adapters.store import open_store
from maintainer.adapters.telemetry.gauges import GaugeOptions
from maintainer.adapters.telemetry.prometheus import PrometheusTelemetry
from maintainer.domain.health import Band, Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.ports.store.drivers import DriverPoll, DriverRecord, DriverTokens
from tests.adapters.exposition import make_telemetry, named, read
from tests.api.nouns import GRADE, HEALTH, NOW, ORDERS, make_job, measure, run_job
from tests.fakes.adapters.clock import FakeClock
from tests.fakes.adapters.store import FakeStore


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def telemetry(store: FakeStore) -> PrometheusTelemetry:
    return make_telemetry(store)


def test_a_gone_table_takes_its_gauges_with_it(
    telemetry: PrometheusTelemetry, store: FakeStore
) -> None:
    store.record_health(HEALTH, GRADE)
    store.record_fault(TableFault(ORDERS, FaultKind.DROPPED, "gone", NOW))
    assert not [name for name in read(telemetry) if "table=" in name]
    assert read(telemetry)['maintainer_tables{band="degraded"}'] == 0


def test_a_table_is_in_one_band_at_a_time(telemetry: PrometheusTelemetry, store: FakeStore) -> None:
    store.record_health(HEALTH, GRADE)
    store.record_health(HEALTH, Grade(Band.HEALTHY))
    series = read(telemetry)
    assert [
        band
        for band in Band
        if series[f'maintainer_table_band{{band="{band}",table="lake.sales.orders"}}']
    ] == [Band.HEALTHY]
    assert series['maintainer_tables{band="healthy"}'] == 1
    assert series['maintainer_tables{band="degraded"}'] == 0


def test_a_fleet_without_files_has_no_average(telemetry: PrometheusTelemetry) -> None:
    series = read(telemetry)
    assert series["maintainer_fleet_data_files"] == 0
    assert "maintainer_fleet_average_file_size_bytes" not in series


def test_an_unknown_figure_is_not_exposed_rather_than_zero(
    telemetry: PrometheusTelemetry, store: FakeStore
) -> None:
    store.record_health(replace(HEALTH, data_files=None, data_bytes=None), GRADE)
    series = read(telemetry)
    assert 'maintainer_table_data_files{table="lake.sales.orders"}' not in series
    assert series['maintainer_table_snapshots{table="lake.sales.orders"}'] == 42
    assert "maintainer_fleet_average_file_size_bytes" not in series


def test_in_a_fleet_beyond_the_cap_chosen_and_bad_tables_alone_have_gauges(
    store: FakeStore,
) -> None:
    telemetry = make_telemetry(store, max_tables=2, tables=("LAKE.*.b?d", "lake.none.x"))
    bands = {"a": Band.HEALTHY, "bad": Band.HEALTHY, "c": Band.DEGRADED, "d": Band.CRITICAL}
    for name, band in bands.items():
        store.record_health(measure(named(name)), Grade(band))
    series = read(telemetry)
    assert {name for name in bands if f'{{table="lake.sales.{name}"}}' in str(series)} == {
        "bad",
        "d",
    }
    assert series["maintainer_tables_left_out"] == 2
    assert series['maintainer_tables{band="healthy"}'] == 2
    assert series[
        'maintainer_namespace_tables{band="degraded",catalog="lake",table_namespace="sales"}'
    ]
    for name in "cd":
        store.record_fault(TableFault(named(name), FaultKind.DROPPED, "gone", NOW))
    assert read(telemetry)['maintainer_table_data_files{table="lake.sales.a"}'] == 100
    assert read(telemetry)["maintainer_tables_left_out"] == 0


def test_the_number_of_series_does_not_grow_with_the_fleet() -> None:
    def count(tables: int) -> int:
        store = FakeStore()
        telemetry = make_telemetry(store, max_tables=3, max_namespaces=2)
        for number in range(tables):
            table = TableIdentifier("lake", (f"n{number % 10}",), f"t{number}")
            store.record_health(measure(table), Grade(Band.CRITICAL))
        return len(read(telemetry))

    assert count(50) == count(200)


def test_namespaces_beyond_the_cap_count_in_their_catalog_alone(store: FakeStore) -> None:
    telemetry = make_telemetry(store, max_namespaces=1)
    for namespace in ("sales", "web"):
        store.record_health(measure(TableIdentifier("lake", (namespace,), "orders")), GRADE)
    series = read(telemetry)
    assert [name for name in series if "namespace_data_files" in name] == [
        'maintainer_namespace_data_files{catalog="lake",table_namespace="sales"}'
    ]
    assert series["maintainer_namespaces_left_out"] == 1
    assert series['maintainer_catalog_data_files{catalog="lake"}'] == 200


def test_a_catalog_that_is_away_is_down_and_one_without_a_namespace_is_not(
    store: FakeStore,
) -> None:
    telemetry = make_telemetry(store)
    store.record_catalog_faults("sea", [CatalogFault("sea", (), "connection refused", NOW)])
    store.record_catalog_faults("lake", [CatalogFault("lake", ("x",), "forbidden", NOW)])
    series = read(telemetry)
    assert [series[f'maintainer_catalog_up{{catalog="{name}"}}'] for name in ("lake", "sea")] == [
        1,
        0,
    ]
    assert series['maintainer_catalog_faults{catalog="lake"}'] == 1


def test_old_and_overdue_jobs_and_spent_budgets_show(store: FakeStore) -> None:
    job = replace(run_job(make_job()), deadline=NOW - timedelta(seconds=1))
    store.add_job(replace(job, created_at=NOW - timedelta(hours=2)))
    series = read(make_telemetry(store))
    assert series['maintainer_oldest_job_age_seconds{state="running"}'] == 7200
    assert series['maintainer_oldest_job_age_seconds{state="pending"}'] == 0
    assert series["maintainer_overdue_jobs"] == 1
    spent = series['maintainer_budget_spent{budget="fleet",resource="bytes_per_day"}']
    assert spent == job.charge.bytes > 0
    limit = series['maintainer_budget_limit{budget="fleet",resource="bytes_per_day"}']
    assert limit == 10**12


def test_a_driver_that_stops_polling_while_it_has_a_job_is_silent(store: FakeStore) -> None:
    tokens = DriverTokens("digest", NOW + timedelta(hours=1))
    for name in ("busy", "idle", "new"):
        store.add_driver(DriverRecord(name, "me", tokens, NOW), {"kind": "start"})
    until = NOW + timedelta(seconds=30)
    store.order("busy", "me", 2, {"kind": "run"}, ("job-1", until))
    for name in ("busy", "idle"):
        store.take_poll(name, DriverPoll("p", 1, 2, {}, []))
    clock = FakeClock(NOW)
    telemetry = PrometheusTelemetry(store, clock, GaugeOptions())

    def states() -> dict[str, float]:
        series = read(telemetry)
        return {
            state: series[f'maintainer_drivers{{pool="default",state="{state}"}}']
            for state in ("starting", "connected", "silent")
        }

    assert states() == {"starting": 1, "connected": 2, "silent": 0}
    clock.advance(timedelta(seconds=31))
    assert states() == {"starting": 1, "connected": 1, "silent": 1}


def test_gauges_are_right_after_a_restart_and_the_same_on_every_daemon(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/maintainer.db"
    with closing(open_store(url)) as store:
        store.record_health(HEALTH, Grade(Band.CRITICAL))
        store.record_catalog_faults("sea", [CatalogFault("sea", (), "connection refused", NOW)])
        before = read_gauges(make_telemetry(store))
    with closing(open_store(url)) as first, closing(open_store(url)) as second:
        daemons = [make_telemetry(first), make_telemetry(second)]
        assert [read_gauges(daemon) for daemon in daemons] == [before, before]
        assert before['maintainer_tables{band="critical"}'] == 1
        assert before['maintainer_table_band{band="critical",table="lake.sales.orders"}'] == 1
        assert before["maintainer_scan_faults"] == 1
        first.add_job(run_job(make_job()))
        first.record_health(measure(named("new")), GRADE)
        one, other = map(read_gauges, daemons)
        assert one == other
        assert one['maintainer_jobs{state="running"}'] == 1
        assert one["maintainer_fleet_data_files"] == 200


def read_gauges(telemetry: PrometheusTelemetry) -> dict[str, float]:
    wanted = ("maintainer_table", "maintainer_fleet", "maintainer_jobs{", "maintainer_scan_faults")
    return {name: value for name, value in read(telemetry).items() if name.startswith(wanted)}


def test_while_the_store_cannot_be_read_counters_are_exposed_and_gauges_are_not(
    telemetry: PrometheusTelemetry, store: FakeStore
) -> None:
    store.record_health(HEALTH, GRADE)
    telemetry.step_finished("scan", 0.1, is_ok=False)
    store.broken = "the disk is gone"
    assert read(telemetry)['maintainer_step_failures_total{step="scan"}'] == 1
    assert read_gauges(telemetry) == {}
