from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from maintainer.domain.errors import InvalidValueError, UnknownTableError
from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    CatalogFault,
    FaultKind,
    ManifestContent,
    ManifestDigest,
    TableFault,
)
from maintainer.domain.job import JobState
from maintainer.domain.plan import Plan
from maintainer.ports.store import Store
from maintainer.ports.store.pages import MAX_PAGE
from maintainer.ports.store.tables import TABLE_SORTS, Pause, TableQuery
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    ORDERS,
    ORDERS_UUID,
    any_of,
    make_effect,
    make_grade,
    make_health,
    make_job,
    make_plan,
    succeeded,
)
from tests.examples import examples

on_one_store = settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def record(
    store: Store,
    name: str,
    band: Band = Band.WATCH,
    namespace: str = "sales",
    catalog: str = "lake",
    **changes: Any,
) -> TableIdentifier:
    table = TableIdentifier(catalog, tuple(namespace.split(".")), name)
    store.record_health(make_health(table, f"uuid-of-{table}", **changes), make_grade(band))
    return table


def names(store: Store, query: TableQuery) -> list[str]:
    """All pages of a list, with every page's size and total checked."""
    found: list[str] = []
    while True:
        page = store.tables(query)
        found += [item.table.name for item in page.items]
        if page.next_cursor is None:
            assert len(found) == page.total or query.cursor is None
            return found
        assert len(page.items) == query.limit
        query = replace(query, cursor=page.next_cursor)


@on_one_store
@given(health=any_of(TableHealth), grade=any_of(Grade))
def test_any_health_comes_out_as_it_went_in(
    store: Store, health: TableHealth, grade: Grade
) -> None:
    # A place is a key, which PostgreSQL wants without it.
    location, *paths = (path.replace("\0", "") for path in (health.location, *health.paths))
    health = replace(health, table_uuid="any", location=location, paths=tuple(paths))
    store.record_health(health, grade)

    found = store.table(health.table)

    assert found is not None
    assert (found.table, found.health, found.grade, found.fault) == (
        health.table,
        health,
        grade,
        None,
    )


@on_one_store
@given(plan=any_of(Plan))
def test_any_plan_comes_out_as_it_went_in(store: Store, plan: Plan) -> None:
    plan = replace(plan, table=ORDERS, table_uuid=ORDERS_UUID)
    store.record_health(make_health(), make_grade())
    store.record_plan(plan)

    assert store.plans() == (plan,)
    found = store.table(ORDERS)
    assert found is not None
    assert found.plan == plan


@on_one_store
@given(digest=any_of(ManifestDigest))
def test_any_digest_comes_out_as_it_went_in(store: Store, digest: ManifestDigest) -> None:
    digest = replace(digest, path="s3://lake/m.avro")
    store.record_digests(ORDERS_UUID, 512, ())
    store.record_digests(ORDERS_UUID, 512, [digest])

    assert store.digests(ORDERS_UUID, [digest.path], 512) == {digest.path: digest}


def test_a_table_that_nobody_recorded_is_none(store: Store) -> None:
    assert store.table(ORDERS) is None
    assert store.table_names() == ()
    assert store.history(ORDERS, "data_files", NOW, NOW) == ()
    assert store.tables(TableQuery()).total == 0


def test_a_list_leaves_out_partitions_history_and_refs_and_has_plans_only_on_request(
    store: Store,
) -> None:
    store.record_health(make_health(), make_grade())
    store.record_plan(make_plan())

    (item,) = store.tables(TableQuery()).items

    assert item.plan is None
    (planned,) = store.tables(TableQuery(with_plans=True)).items
    assert planned == replace(item, plan=make_plan())
    assert item.health == replace(make_health(), partitions=(), history=(), refs=())
    assert item.grade == make_grade()


def test_a_fault_stands_beside_the_last_health_until_the_next_measurement(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    fault = TableFault(ORDERS, FaultKind.METADATA_CORRUPT, "not JSON\0", NOW + MINUTE)
    store.record_fault(fault)
    faulty = store.table(ORDERS)
    store.record_health(make_health(at=NOW + 2 * MINUTE), make_grade())
    healed = store.table(ORDERS)

    assert faulty is not None
    assert (faulty.fault, faulty.health, faulty.first_seen_at) == (fault, make_health(), NOW)
    assert healed is not None
    assert (healed.fault, healed.first_seen_at) == (None, NOW)


def test_a_table_that_was_never_measured_is_known_by_its_fault(store: Store) -> None:
    fault = TableFault(ORDERS, FaultKind.ACCESS_DENIED, "403", NOW)
    store.record_fault(fault)

    found = store.table(ORDERS)

    assert found is not None
    assert (found.health, found.grade, found.fault, found.first_seen_at) == (None, None, fault, NOW)
    assert names(store, TableQuery(sort="data_files")) == ["orders"]
    assert store.history(ORDERS, "data_files", NOW, NOW) == ()


@pytest.mark.parametrize("kind", [FaultKind.VIEW, FaultKind.DROPPED])
def test_a_view_or_dropped_table_is_forgotten_but_not_its_jobs(
    store: Store, kind: FaultKind
) -> None:
    store.record_health(make_health(), make_grade())
    store.record_plan(make_plan())
    store.add_job(make_job())
    store.record_fault(TableFault(ORDERS, kind, "gone", NOW))

    assert store.table(ORDERS) is None
    assert store.plans() == ()
    assert store.job("job-a") == make_job()
    store.record_health(make_health(at=NOW + MINUTE), make_grade())
    assert len(store.history(ORDERS, "data_files", NOW, NOW + MINUTE)) == 2, (
        "a listing without the table must not cost its history"
    )


def test_another_table_of_the_same_name_starts_again_but_stays_paused(store: Store) -> None:
    pause = Pause("ana", NOW, "backfill")
    store.record_health(make_health(), make_grade())
    store.record_digests(ORDERS_UUID, 512, [ManifestDigest("m", 1, 0, ManifestContent.DATA, 1)])
    store.record_plan(make_plan())
    store.set_pause(ORDERS, pause)
    store.record_health(make_health(table_uuid="other", at=NOW + MINUTE), make_grade())
    store.record_plan(make_plan())  # made before the replacement was seen

    found = store.table(ORDERS)

    assert found is not None
    assert (found.first_seen_at, found.plan, found.pause) == (NOW + MINUTE, None, pause)
    assert store.plans() == ()
    assert store.digests(ORDERS_UUID, ["m"], 512) == {}
    assert store.history(ORDERS, "data_files", NOW, NOW + MINUTE) == ((NOW + MINUTE, 10.0),)


def test_a_table_registered_twice_keeps_what_belongs_to_its_uuid_while_one_name_lives(
    store: Store,
) -> None:
    twin = TableIdentifier("other", ("sales",), "orders")
    store.record_health(make_health(), make_grade())
    store.record_health(make_health(twin, at=NOW + MINUTE), make_grade())
    store.record_digests(ORDERS_UUID, 512, [ManifestDigest("m", 1, 0, ManifestContent.DATA, 1)])
    store.record_fault(TableFault(ORDERS, FaultKind.DROPPED, "gone", NOW))

    assert list(store.digests(ORDERS_UUID, ["m"], 512)) == ["m"]
    assert len(store.history(twin, "data_files", NOW, NOW + MINUTE)) == 2


def test_catalog_faults_are_replaced_catalog_by_catalog(store: Store) -> None:
    lake = [
        CatalogFault("lake", (), "timeout", NOW),
        CatalogFault("lake", ("a", "b.c"), "403", NOW),
    ]
    store.record_catalog_faults("sea", [CatalogFault("sea", (), "refused", NOW)])
    store.record_catalog_faults("lake", [CatalogFault("lake", ("old",), "old", NOW)])
    store.record_catalog_faults("lake", lake)
    assert store.catalog_faults() == (*lake, CatalogFault("sea", (), "refused", NOW))

    store.record_catalog_faults("lake", [])
    assert [fault.catalog for fault in store.catalog_faults()] == ["sea"]


def test_tables_that_a_complete_listing_does_not_have_are_forgotten(store: Store) -> None:
    kept, gone = record(store, "a"), record(store, "b")
    other = record(store, "c", catalog="sea")

    assert store.forget_tables_except("lake", [kept]) == (gone,)
    assert store.forget_tables_except("lake", [kept]) == ()
    assert store.table_names() == (kept, other)


@pytest.mark.slow
def test_hundreds_of_tables_are_forgotten_at_once(store: Store) -> None:
    for number in range(620):
        store.record_fault(
            TableFault(
                TableIdentifier("lake", ("n",), f"t{number:04}"), FaultKind.UNSUPPORTED, "hive", NOW
            )
        )

    assert len(store.forget_tables_except("lake", [])) == 620
    assert store.table_names() == ()


def test_names_are_in_the_order_of_their_characters(store: Store) -> None:
    for name in ("b", "B", "ä", "_", "a", "Z.z", "😀"):
        record(store, name)

    assert [table.name for table in store.table_names()] == sorted(
        ("b", "B", "ä", "_", "a", "Z.z", "😀"),
        key=lambda n: str(TableIdentifier("lake", ("sales",), n)),
    )
    assert names(store, TableQuery(limit=2)) == [table.name for table in store.table_names()]
    assert (
        names(store, TableQuery(limit=2, descending=True))
        == [table.name for table in store.table_names()][::-1]
    )


@pytest.mark.parametrize(
    "search", ["100%", "a_b", "ÄRGER", "ärger", "lake.sales", "\\", "'", "x" * 60_000]
)
def test_search_finds_the_text_as_it_is_written_in_any_case(store: Store, search: str) -> None:
    tables = [
        record(store, name)
        for name in ("100%", "1000", "a_b", "axb", "Ärger", "back\\slash", "it's")
    ]

    expected = sorted(table.name for table in tables if search.casefold() in str(table).casefold())

    assert sorted(names(store, TableQuery(search=search))) == expected


def test_a_namespace_includes_its_nested_ones_only(store: Store) -> None:
    for name, namespace in (
        ("a", "x"),
        ("b", "x.y"),
        ("c", "xy"),
        ("d", "x.y.z"),
        ("e", "x-y"),
        ("f", "w"),
        ("g", "x_"),
    ):
        record(store, name, namespace=namespace)

    assert names(store, TableQuery(namespace="x")) == ["a", "b", "d"]
    assert names(store, TableQuery(namespace="x.y")) == ["b", "d"]
    assert names(store, TableQuery(namespace="x.y", catalog="sea")) == []


def test_a_list_is_filtered_by_band_and_catalog(store: Store) -> None:
    record(store, "a", Band.HEALTHY)
    record(store, "b", Band.CRITICAL)
    record(store, "c", Band.CRITICAL, catalog="sea")

    assert names(store, TableQuery(band=Band.CRITICAL)) == ["b", "c"]
    assert names(store, TableQuery(band=Band.CRITICAL, catalog="sea")) == ["c"]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_unknown_values_are_last_in_both_directions_and_names_break_ties_in_the_same_direction(
    store: Store, limit: int, descending: bool
) -> None:
    for name, files in (("a", 5), ("b", None), ("c", 2), ("d", 5), ("e", None), ("f", 0)):
        record(store, name, data_files=files)

    expected = ["d", "a", "c", "f", "b", "e"] if descending else ["f", "c", "a", "d", "b", "e"]
    assert (
        names(store, TableQuery(sort="data_files", descending=descending, limit=limit)) == expected
    )


@pytest.mark.parametrize("sort", TABLE_SORTS)
def test_every_sort_pages_through_all_tables_once(store: Store, sort: str) -> None:
    for number, band in enumerate((*Band, *Band)):
        figures: dict[str, Any] = {
            "average_file_size_bytes": number / 3,
            "small_file_ratio": 1 / (number + 1),
            "data_bytes": 2**53 + number,
            "data_files": number % 3,
        }
        record(
            store,
            f"t{number}",
            band,
            at=NOW - number * MINUTE,
            manifests=number,
            snapshots=9 - number,
            small_files=number,
            **figures,
        )
    store.record_fault(
        TableFault(TableIdentifier("lake", ("sales",), "zz"), FaultKind.UNSUPPORTED, "hive", NOW)
    )

    for descending in (False, True):
        whole = names(store, TableQuery(sort=sort, descending=descending))
        assert names(store, TableQuery(sort=sort, descending=descending, limit=2)) == whole
        assert len(set(whole)) == 9
        assert whole[-1] == "zz" or sort == "name"


def test_bands_sort_from_best_to_worst(store: Store) -> None:
    for name, band in (
        ("a", Band.CRITICAL),
        ("b", Band.HEALTHY),
        ("c", Band.DEGRADED),
        ("d", Band.WATCH),
    ):
        record(store, name, band)

    assert names(store, TableQuery(sort="band")) == ["b", "d", "c", "a"]


def test_delete_files_are_the_sum_of_their_kinds_or_unknown(store: Store) -> None:
    record(store, "a", position_delete_files=None)
    record(store, "b", position_delete_files=0, equality_delete_files=0, deletion_vectors=9)
    record(store, "c", position_delete_files=1, equality_delete_files=1, deletion_vectors=1)

    assert names(store, TableQuery(sort="delete_files", descending=True)) == ["b", "c", "a"]


def test_a_foreign_cursor_a_limit_out_of_bounds_and_an_unknown_sort_are_refused(
    store: Store,
) -> None:
    record(store, "a")
    record(store, "b")
    cursor = store.tables(TableQuery(limit=1, sort="data_files")).next_cursor

    for query in (
        TableQuery(sort="data_bytes", cursor=cursor),
        TableQuery(sort="data_files", descending=True, cursor=cursor),
        TableQuery(cursor="nonsense"),
        TableQuery(cursor="ä"),
        TableQuery(cursor=""),
        TableQuery(limit=0),
        TableQuery(limit=MAX_PAGE + 1),
        TableQuery(sort="location; DROP TABLE tables"),
    ):
        with pytest.raises(InvalidValueError):
            store.tables(query)


def test_history_holds_the_samples_between_two_instants(store: Store) -> None:
    for minute, size in enumerate((None, 1.5, 2.5, 3.5)):
        store.record_health(
            make_health(at=NOW + minute * MINUTE, average_file_size_bytes=size), make_grade()
        )

    assert store.history(ORDERS, "average_file_size_bytes", NOW, NOW + 2 * MINUTE) == (
        (NOW, None),
        (NOW + MINUTE, 1.5),
        (NOW + 2 * MINUTE, 2.5),
    )
    with pytest.raises(InvalidValueError):
        store.history(ORDERS, "location", NOW, NOW)


def test_a_pause_lasts_through_measurements_until_it_is_lifted(store: Store) -> None:
    pause = Pause("ana", NOW, "backfill")
    with pytest.raises(UnknownTableError, match=r"lake\.sales\.orders"):
        store.set_pause(ORDERS, pause)
    store.record_health(make_health(), make_grade())
    store.set_pause(ORDERS, pause)
    store.record_health(make_health(at=NOW + MINUTE), make_grade())
    paused = store.tables(TableQuery()).items[0].pause
    store.set_pause(ORDERS, None)

    assert paused == pause
    assert store.tables(TableQuery()).items[0].pause is None


def test_the_overview_sums_the_fleet(store: Store) -> None:
    record(store, "a", Band.HEALTHY, data_bytes=2**50)
    record(store, "b", Band.CRITICAL, data_files=None, at=NOW + MINUTE)
    unmeasured = TableIdentifier("lake", ("sales",), "c")
    store.record_fault(TableFault(unmeasured, FaultKind.UNSUPPORTED, "hive", NOW))
    store.set_pause(unmeasured, Pause("ana", NOW))
    store.add_job(make_job())
    store.update_job(succeeded(make_job(), NOW), JobState.PENDING)
    store.add_job(make_job("job-b", at=NOW + MINUTE))

    overview = store.overview()

    assert (
        overview.tables,
        overview.measured_tables,
        overview.faulty_tables,
        overview.paused_tables,
    ) == (3, 2, 1, 1)
    assert (
        overview.data_files,
        overview.data_bytes,
        overview.small_files,
        overview.delete_files,
    ) == (10, 2**50 + 1000, 8, 12)
    assert (overview.manifests, overview.snapshots, overview.last_measured_at) == (
        14,
        18,
        NOW + MINUTE,
    )
    assert overview.bands == {Band.HEALTHY: 1, Band.WATCH: 0, Band.DEGRADED: 0, Band.CRITICAL: 1}
    assert overview.jobs == {
        state: int(state in {JobState.SUCCEEDED, JobState.PENDING}) for state in JobState
    }
    assert (overview.files_removed, overview.bytes_rewritten) == (
        make_effect().files_removed,
        make_effect().bytes_rewritten,
    )


def test_an_empty_overview_is_all_zeros(store: Store) -> None:
    overview = store.overview()

    assert (
        overview.tables,
        overview.data_files,
        overview.files_removed,
        overview.last_measured_at,
    ) == (0, 0, 0, None)
    assert set(overview.bands.values()) | set(overview.jobs.values()) == {0}


def test_absurd_figures_of_one_table_do_not_break_the_sums(store: Store) -> None:
    for name in ("a", "b"):
        record(store, name, data_bytes=2**63 - 1, manifests=2**64 - 1)

    overview = store.overview()
    assert overview.data_bytes >= 2**63
    assert overview.manifests >= 2**63
