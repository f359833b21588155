from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.audit import AuditEntry, AuditQuery, Deed
from maintainer.domain.orphan import FoundFile, OrphanList, OrphanListState, hash_files
from maintainer.ports.store import Store
from maintainer.ports.store.orphans import MAX_LISTS
from tests.adapters.store.values import MINUTE, NOW, ORDERS, ORDERS_UUID, make_grade, make_health

FILES = tuple(
    FoundFile(f"s3://lake/orders/data/it's {n}\N{SNOWMAN}.parquet", n, NOW if n % 2 else None)
    for n in range(2500)
)
DAY = timedelta(days=1)
APPROVED = AuditEntry(
    NOW, "person ada", Deed.ORPHANS_APPROVED, ORDERS, ORDERS_UUID, "m-1", {"files": 2500}
)


def make_list(list_id: str = "m-1", **changes: object) -> OrphanList:
    made = OrphanList(
        list_id,
        ORDERS,
        ORDERS_UUID,
        "s3://lake/orders",
        NOW - 7 * DAY,
        NOW,
        len(FILES),
        7,
        hash_files(FILES),
        OrphanListState.WAITING,
        NOW + 7 * DAY,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_a_list_and_its_files_are_read_back_in_pages_of_any_size(store: Store) -> None:
    assert store.add_orphan_list(make_list(), FILES)
    assert store.orphan_list("m-1") == make_list()
    assert store.orphan_list("m-2") is None
    for after, limit in ((0, 2500), (0, 10), (995, 10), (1000, 1000), (2490, 100), (2500, 10)):
        assert tuple(store.orphan_files("m-1", after, limit)) == FILES[after : after + limit]
    assert hash_files(store.orphan_files("m-1", 0, 2500)) == make_list().sha256
    assert store.orphan_files("m-2") == ()


def test_a_list_is_stored_once(store: Store) -> None:
    assert store.add_orphan_list(make_list(), FILES[:1])
    assert not store.add_orphan_list(make_list(files=9), FILES[:9])
    assert store.orphan_list("m-1") == make_list()
    assert store.orphan_files("m-1") == FILES[:1]


def test_a_later_orphan_scan_supersedes_open_lists_and_leaves_closed_ones(store: Store) -> None:
    store.add_orphan_list(make_list("m-1", state=OrphanListState.REJECTED), ())
    store.add_orphan_list(make_list("m-2", made_at=NOW + MINUTE), ())
    store.add_orphan_list(make_list("m-3", made_at=NOW + 2 * MINUTE, table_uuid="another"), ())
    store.add_orphan_list(make_list("m-4", made_at=NOW + 3 * MINUTE), ())
    states = {orphans.list_id: orphans.state for orphans in store.orphan_lists(ORDERS)}
    assert list(states) == ["m-4", "m-3", "m-2", "m-1"], (
        "newest first, of every table that had the name"
    )
    assert states["m-2"] is OrphanListState.SUPERSEDED
    assert (states["m-1"], states["m-3"], states["m-4"]) == (
        OrphanListState.REJECTED,
        OrphanListState.WAITING,
        OrphanListState.WAITING,
    )
    assert [orphans.list_id for orphans in store.open_orphan_lists(ORDERS_UUID)] == ["m-4"]


def test_a_decision_is_kept_with_its_line_in_the_audit_log_or_not_at_all(store: Store) -> None:
    waiting = make_list()
    store.add_orphan_list(waiting, FILES[:3])
    approved = replace(waiting, state=OrphanListState.APPROVED, decided_by="ada", decided_at=NOW)
    assert store.update_orphan_list(approved, waiting, (APPROVED,))
    assert not store.update_orphan_list(
        replace(waiting, state=OrphanListState.REJECTED), waiting, (APPROVED,)
    ), "somebody was faster"
    assert not store.update_orphan_list(make_list("m-9"), make_list("m-9"))
    assert store.orphan_list("m-1") == approved
    assert [
        (entry.deed, entry.actor, entry.job_id) for entry in store.audit(AuditQuery()).items
    ] == [(Deed.ORPHANS_APPROVED, "person ada", "m-1")]
    assert store.orphan_files("m-1") == FILES[:3]


def test_lists_and_decisions_have_their_table_planned_again(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    changes: tuple[Callable[[], bool], ...] = (
        lambda: store.add_orphan_list(make_list(), ()),
        lambda: store.update_orphan_list(make_list(decided_by="ada"), make_list()),
    )
    for change in changes:
        for due in store.tables_to_plan(NOW, "v"):
            store.mark_planned(due, "v", None)
        assert store.tables_to_plan(NOW, "v") == ()
        assert change()
        assert [due.table for due in store.tables_to_plan(NOW, "v")] == [ORDERS]


def test_old_lists_go_with_their_files_unless_something_may_still_become_of_them(
    store: Store,
) -> None:
    store.add_orphan_list(make_list("m-1", state=OrphanListState.REMOVED), FILES[:5])
    store.add_orphan_list(make_list("m-2"), FILES[:5])
    store.add_orphan_list(
        make_list("m-3", state=OrphanListState.REFUSED, made_at=NOW + DAY, table_uuid="another"),
        FILES[:5],
    )
    assert store.prune_orphan_lists(NOW + MINUTE) == 1
    assert store.orphan_list("m-1") is None
    assert store.orphan_files("m-1") == ()
    assert len(store.orphan_files("m-2")) == 5
    assert store.orphan_list("m-3") is not None
    assert store.prune_orphan_lists(NOW + MINUTE) == 0


def test_no_more_lists_are_reported_than_the_bound(store: Store) -> None:
    for number in range(MAX_LISTS + 2):
        store.add_orphan_list(make_list(f"m-{number:03}", made_at=NOW + number * MINUTE), ())
    reported = store.orphan_lists(ORDERS)
    assert (len(reported), reported[0].list_id) == (MAX_LISTS, f"m-{MAX_LISTS + 1}")


def test_lists_survive_a_restart(store_url: str) -> None:
    first = open_store(store_url)
    first.add_orphan_list(make_list(), FILES)
    first.close()
    second = open_store(store_url)
    assert second.orphan_list("m-1") == make_list()
    assert tuple(second.orphan_files("m-1", 2000, 1000)) == FILES[2000:]
    second.close()


@pytest.mark.slow
def test_a_million_files_are_kept(store_url: str) -> None:
    store = open_store(store_url)
    files = tuple(
        FoundFile(f"s3://lake/orders/data/day={n % 400}/{n:08}-0a1b2c3d.parquet", n)
        for n in range(1_000_000)
    )
    assert store.add_orphan_list(make_list(files=len(files)), files)
    assert tuple(store.orphan_files("m-1", 999_990, 1000)) == files[999_990:]
    store.close()


def test_of_all_tables_the_lists_that_wait_are_reported_newest_first(store: Store) -> None:
    store.add_orphan_list(make_list("m-1"), ())
    store.add_orphan_list(
        make_list(
            "m-2", made_at=NOW + MINUTE, table_uuid="another", table=replace(ORDERS, name="other")
        ),
        (),
    )
    store.add_orphan_list(
        make_list("m-3", made_at=NOW + MINUTE, table_uuid="third", state=OrphanListState.APPROVED),
        (),
    )
    assert [orphans.list_id for orphans in store.waiting_orphan_lists()] == ["m-2", "m-1"]
