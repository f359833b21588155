"""What the API says of each catalog: reachability, scans, lag and storage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.app.api import MAX_AGE, MOST_ANSWERS, QUEUE_AGE, FleetCache
from maintainer.domain.access import Role
from maintainer.domain.health import Band, Grade
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault
from maintainer.domain.scan_cost import ScanCost
from maintainer.measure.impact import ImpactModel, ImpactModels, StorageProfile
from maintainer.measure.report import CatalogStorage
from maintainer.ports.store.tables import Pause
from tests.api.nouns import HEALTH, NOW, ORDERS, measure
from tests.api.people import let_in
from tests.api.serving import Client
from tests.fakes.adapters.clock import FakeClock

COST = ScanCost(
    "ice", NOW - timedelta(minutes=4), 60.0, 3, 97, 1, 12, 400, 96_000, is_complete=True
)


Within = tuple[str, ...] | None


def put(client: Client, name: str, location: str, files: int | None = 10) -> None:
    table = TableIdentifier("ice", ("sales",), name)
    health = replace(measure(table), location=location, storage_files=files, directories=4)
    client.daemon.store.record_health(health, Grade(Band.HEALTHY))


def test_a_catalog_has_its_last_scans_and_says_whether_it_could_be_listed(client: Client) -> None:
    store = client.daemon.store
    store.record_scan_cost(replace(COST, seconds=2.5))
    store.record_scan_cost(COST)
    ice, lake = client.get("/api/v1/catalogs").json()
    assert [scan["seconds"] for scan in ice["scans"]] == [60.0, 2.5]
    assert {key: ice["scans"][0][key] for key in ("measured", "unchanged", "manifests_read")} == {
        "measured": 3,
        "unchanged": 97,
        "manifests_read": 12,
    }
    assert ice["is_reachable"] is True
    assert (lake["is_reachable"], lake["scans"], lake["behind_seconds"]) == (None, [], None)
    store.record_catalog_faults("ice", [CatalogFault("ice", ("a",), "not JSON", NOW)])
    assert client.get("/api/v1/catalogs").json()[0]["is_reachable"] is True
    store.record_catalog_faults("ice", [CatalogFault("ice", (), "connection refused", NOW)])
    assert client.get("/api/v1/catalogs").json()[0]["is_reachable"] is False


def test_a_catalog_and_a_namespace_count_their_visible_tables_by_state(client: Client) -> None:
    put(client, "stock", "s3://ice/stock")
    put(client, "stores", "s3://ice/stores")
    client.daemon.store.set_pause(TableIdentifier("ice", ("sales",), "stock"), Pause("ann", NOW))
    ice, lake = client.get("/api/v1/catalogs").json()
    assert ice["states"] == {"paused": 1, "waiting": 1}
    assert lake["states"] == {"being_maintained": 1}
    spaces = client.get("/api/v1/namespaces").json()["items"]
    assert [(one["catalog"], one["states"]) for one in spaces] == [
        ("ice", {"paused": 1, "waiting": 1}),
        ("lake", {"being_maintained": 1}),
    ]
    clerk = let_in(client, "clerk", Role.VIEWER, "lake.")
    seen = client.get("/api/v1/catalogs", clerk).json()
    assert [one["states"] for one in seen] == [{"being_maintained": 1}]


@pytest.mark.parametrize(("minutes", "behind"), [(4, 0), (6.5, 0), (8, 90)])
def test_a_catalog_is_behind_when_its_next_scan_is_due(
    client: Client, minutes: float, behind: float
) -> None:
    cost = replace(COST, started_at=NOW - timedelta(minutes=minutes))
    client.daemon.store.record_scan_cost(cost)
    assert client.get("/api/v1/catalogs").json()[0]["behind_seconds"] == behind


def test_the_oldest_measurement_of_a_catalog_is_named(client: Client) -> None:
    older = replace(
        HEALTH,
        table=replace(ORDERS, name="older"),
        table_uuid="u-older",
        measured_at=NOW - timedelta(days=2),
    )
    client.daemon.store.record_health(older, Grade(Band.HEALTHY))
    ice, lake = client.get("/api/v1/catalogs").json()
    assert lake["oldest_measured_at"] == "2026-02-27T12:00:00Z"
    assert ice["oldest_measured_at"] is None


def test_a_person_who_sees_a_part_of_a_catalog_gets_no_costs_of_its_scans(client: Client) -> None:
    client.daemon.store.record_scan_cost(COST)
    part = let_in(client, "part", Role.VIEWER, "ice.sales.")
    whole = let_in(client, "whole", Role.VIEWER, "ice.")
    (seen,) = client.get("/api/v1/catalogs", part).json()
    assert (seen["name"], seen["scans"], seen["is_reachable"]) == ("ice", [], True)
    (seen,) = client.get("/api/v1/catalogs", whole).json()
    assert len(seen["scans"]) == 1


def test_each_catalog_has_its_storage_and_the_load_of_its_name_services(client: Client) -> None:
    client.daemon.impact = ImpactModels(
        ImpactModel(), {"ice": ImpactModel(parallelism=8, get_price_per_million=0.4)}
    )
    put(client, "a", "hdfs://ns1/a", 10)
    put(client, "b", "hdfs://ns1/b", None)
    put(client, "c", "hdfs://ns2/c", 1_000)
    put(client, "d", "s3://bucket/d", 7)
    ice, lake = client.get("/api/v1/catalogs/storage").json()
    assert [storage["profile"] for storage in ice["storages"]] == ["hdfs", "object_store"]
    assert {storage["parallelism"] for storage in ice["storages"]} == {8}
    assert ice["storages"][0]["round_trip_seconds"] == 0.0005
    assert ice["storages"][0]["sentence"].startswith("Storage hdfs: a round trip of 0.5 ms")
    ns1, ns2 = ice["name_services"]
    assert (ns1["name"], ns1["tables"], ns1["unknown_tables"]) == ("ns1", 2, 1)
    assert (ns1["load"]["files"], ns1["load"]["directories"]) == (10, 4)
    assert ns2["load"]["objects"] >= 2_004
    assert (lake["catalog"], lake["name_services"]) == ("lake", [])


def test_a_catalog_without_tables_has_the_storage_that_its_settings_name(client: Client) -> None:
    client.daemon.impact = ImpactModels(ImpactModel(), {"ice": ImpactModel(StorageProfile.OZONE)})
    ice, _ = client.get("/api/v1/catalogs/storage").json()
    assert [storage["profile"] for storage in ice["storages"]] == ["ozone"]


def test_people_see_the_storage_of_their_tables_alone(client: Client) -> None:
    put(client, "a", "hdfs://ns1/a")
    other = let_in(client, "other", Role.VIEWER, "ice.hr.")
    (ice,) = client.get("/api/v1/catalogs/storage", other).json()
    assert (ice["catalog"], ice["storages"], ice["name_services"]) == ("ice", [], [])


def test_the_storage_is_read_once_a_minute_for_each_view() -> None:
    reads: list[Within] = []
    clock = FakeClock(NOW)

    def read(within: Within) -> Sequence[CatalogStorage]:
        reads.append(within)
        return ()

    cache = FleetCache(read, clock)
    cache.read(None)
    cache.read(None)
    cache.read(("ice.",))
    assert reads == [None, ("ice.",)]
    clock.advance(MAX_AGE)
    cache.read(None)
    assert reads == [None, ("ice.",), None]


def test_a_slow_reading_is_repeated_less_often() -> None:
    reads = 0
    clock = FakeClock(NOW)

    def read(_within: Within) -> Sequence[CatalogStorage]:
        nonlocal reads
        reads += 1
        clock.advance(timedelta(minutes=1))
        return ()

    cache = FleetCache(read, clock)
    cache.read(None)
    clock.advance(timedelta(minutes=8))
    cache.read(None)
    assert reads == 1
    clock.advance(timedelta(minutes=1))
    cache.read(None)
    assert reads == 2


def test_who_asks_while_the_fleet_is_read_gets_the_answer_before() -> None:
    clock = FakeClock(NOW)
    answers: list[int] = []
    meanwhile: list[int] = []

    def read(_question: None) -> int:
        if answers:
            meanwhile.append(cache.read(None))
        answers.append(len(answers))
        return answers[-1]

    cache = FleetCache(read, clock, QUEUE_AGE)
    assert cache.read(None) == 0
    clock.advance(QUEUE_AGE)
    assert (cache.read(None), meanwhile) == (1, [0])


def test_only_some_answers_are_kept() -> None:
    reads: list[Within] = []

    def read(within: Within) -> Sequence[CatalogStorage]:
        reads.append(within)
        return ()

    cache = FleetCache(read, FakeClock(NOW))
    for number in range(MOST_ANSWERS + 1):
        cache.read((f"{number}.",))
    cache.read((f"{MOST_ANSWERS}.",))
    assert len(reads) == MOST_ANSWERS + 1
    cache.read(("0.",))
    assert reads[-1] == ("0.",)
