from __future__ import annotations

from datetime import timedelta

from maintainer.domain.pin import Pin
from maintainer.ports.store import Store
from tests.adapters.store.values import NOW, ORDERS_UUID, make_grade, make_health

FIRST = Pin("replica", 2**63 - 1, "ada", NOW, NOW + timedelta(days=7))


def test_pins_are_kept_by_uuid_and_name(store: Store) -> None:
    other = Pin("audit", 7, "it's \N{SNOWMAN}", NOW)
    store.set_pin(ORDERS_UUID, FIRST)
    store.set_pin(ORDERS_UUID, other)
    assert store.pins(ORDERS_UUID) == (other, FIRST)
    assert store.pins("another") == ()
    moved = Pin("replica", 9, "bob", NOW)
    store.set_pin(ORDERS_UUID, moved)
    assert store.pins(ORDERS_UUID) == (other, moved)
    assert store.remove_pin(ORDERS_UUID, "audit") is True
    assert store.remove_pin(ORDERS_UUID, "audit") is False
    assert store.pins(ORDERS_UUID) == (moved,)


def test_a_pin_has_its_table_planned_again(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    for change in (
        lambda: store.set_pin(ORDERS_UUID, FIRST),
        lambda: store.remove_pin(ORDERS_UUID, "replica"),
    ):
        for due in store.tables_to_plan(NOW, "v"):
            store.mark_planned(due, "v", None)
        assert store.tables_to_plan(NOW, "v") == ()
        change()
        assert [due.table for due in store.tables_to_plan(NOW, "v")] == [make_health().table]
