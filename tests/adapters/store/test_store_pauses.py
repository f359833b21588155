"""A pause belongs to a table's name and to its UUID, and outlives everything else that is known of
the table.
"""

from __future__ import annotations

import pytest

from maintainer.domain.errors import UnknownTableError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.ports.store import Store
from maintainer.ports.store.tables import Pause, TableQuery
from tests.adapters.store.values import MINUTE, NOW, ORDERS, ORDERS_UUID, make_grade, make_health

RENAMED = TableIdentifier("sea", ("archive",), "orders")
PAUSE = Pause("the proof of a job", NOW, "rows differ")


def pause_of(store: Store, table: TableIdentifier) -> Pause | None:
    """As one table's record has it; the list and the counters say the same."""
    record = store.table(table)
    assert record is not None
    listed = {item.table: item.pause for item in store.tables(TableQuery()).items}
    assert listed[table] == record.pause
    assert store.counters().paused_tables == sum(pause is not None for pause in listed.values())
    return record.pause


def paused(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.set_pause(ORDERS, PAUSE)


@pytest.mark.parametrize("how", ["listing", "fault"])
def test_a_pause_outlives_a_listing_without_the_table(store: Store, how: str) -> None:
    paused(store)
    if how == "listing":
        store.forget_tables_except("lake", [])
    else:
        store.record_fault(TableFault(ORDERS, FaultKind.DROPPED, "gone", NOW))
    assert store.table(ORDERS) is None
    assert store.paused_tables() == {ORDERS: PAUSE}

    store.record_health(make_health(at=NOW + MINUTE), make_grade())
    assert pause_of(store, ORDERS) == PAUSE


def test_a_pause_holds_a_table_that_comes_back_and_cannot_be_measured(store: Store) -> None:
    paused(store)
    store.forget_tables_except("lake", [])
    store.record_fault(TableFault(ORDERS, FaultKind.METADATA_MISSING, "no metadata", NOW))
    assert pause_of(store, ORDERS) == PAUSE


def test_a_pause_holds_a_renamed_table_by_its_uuid_and_one_of_the_old_name_by_its_name(
    store: Store,
) -> None:
    paused(store)
    store.forget_tables_except("lake", [])
    store.record_health(make_health(RENAMED, at=NOW + MINUTE), make_grade())
    store.record_health(make_health(ORDERS, "another", at=NOW + MINUTE), make_grade())
    other = TableIdentifier("sea", ("archive",), "other")
    store.record_health(make_health(other, "a third", at=NOW + MINUTE), make_grade())
    assert [pause_of(store, table) for table in (RENAMED, ORDERS, other)] == [PAUSE, PAUSE, None]
    assert store.paused_tables() == {ORDERS: PAUSE, RENAMED: PAUSE}

    store.set_pause(RENAMED, None)
    assert [pause_of(store, table) for table in (RENAMED, ORDERS, other)] == [None, None, None]
    assert store.paused_tables() == {}


def test_a_pause_of_one_name_holds_every_name_of_the_table(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_health(make_health(RENAMED), make_grade())
    store.mark_planned(store.tables_to_plan(NOW, "v1")[1], "v1", None)
    store.set_pause(ORDERS, PAUSE)
    assert [pause_of(store, table) for table in (ORDERS, RENAMED)] == [PAUSE, PAUSE]
    assert RENAMED in [due.table for due in store.tables_to_plan(NOW, "v1")], (
        "its plan rests on the pause too"
    )


def test_of_two_pauses_a_table_shows_the_one_of_its_own_name(store: Store) -> None:
    paused(store)
    store.record_health(make_health(RENAMED), make_grade())
    store.set_pause(RENAMED, Pause("ann", NOW))
    assert (pause_of(store, ORDERS), pause_of(store, RENAMED)) == (PAUSE, Pause("ann", NOW))
    store.set_pause(ORDERS, None)
    assert store.paused_tables() == {}, "one table, however many names and pauses it has"
    assert pause_of(store, RENAMED) is None


def test_a_table_that_was_paused_before_it_was_measured_is_held_by_its_uuid_since_then(
    store: Store,
) -> None:
    store.record_fault(TableFault(ORDERS, FaultKind.METADATA_MISSING, "no metadata yet", NOW))
    store.set_pause(ORDERS, PAUSE)
    store.record_health(make_health(), make_grade())
    store.forget_tables_except("lake", [])
    store.record_health(make_health(RENAMED), make_grade())
    assert pause_of(store, RENAMED) == PAUSE


def test_a_table_that_is_gone_is_paused_by_its_uuid_and_resumed_by_its_name(store: Store) -> None:
    with pytest.raises(UnknownTableError, match=r"lake\.sales\.orders"):
        store.set_pause(ORDERS, PAUSE)
    with pytest.raises(UnknownTableError, match=r"lake\.sales\.orders"):
        store.set_pause(ORDERS, None)
    store.set_pause(ORDERS, PAUSE, ORDERS_UUID)
    store.record_health(make_health(RENAMED), make_grade())
    assert pause_of(store, RENAMED) == PAUSE
    store.set_pause(ORDERS, None)
    assert pause_of(store, RENAMED) is None
