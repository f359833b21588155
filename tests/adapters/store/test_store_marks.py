from __future__ import annotations

from dataclasses import replace

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.ports.store import Store
from maintainer.ports.store.tables import ScanMark
from tests.adapters.store.values import MINUTE, NOW, ORDERS, make_grade, make_health

ITEMS = TableIdentifier("lake", ("sales", "a.b"), "items")
MARK = ScanMark("file:///v1.json", "basis")


def test_a_mark_is_kept_with_the_time_of_the_measurement(store: Store) -> None:
    for table in (ORDERS, ITEMS):
        store.record_health(make_health(table=table, table_uuid=table.name), make_grade())
    store.record_mark(ORDERS, ScanMark("an older one", "another"))
    store.record_mark(ORDERS, MARK)
    store.record_mark(ITEMS, replace(MARK, token=""))

    assert store.marks("lake") == {
        ORDERS: replace(MARK, measured_at=NOW),
        ITEMS: ScanMark("", "basis", NOW),
    }
    assert store.marks("pond") == {}


def test_a_table_that_is_not_known_gets_no_mark(store: Store) -> None:
    store.record_mark(ORDERS, MARK)
    store.record_health(make_health(), make_grade())
    assert store.marks("lake") == {}


def test_a_faulty_tables_mark_does_not_count_until_it_is_measured_again(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_mark(ORDERS, MARK)
    store.record_fault(TableFault(ORDERS, FaultKind.METADATA_CORRUPT, "not JSON", NOW))
    assert store.marks("lake") == {}

    store.record_health(make_health(at=NOW + MINUTE), make_grade())
    assert store.marks("lake") == {ORDERS: replace(MARK, measured_at=NOW + MINUTE)}


def test_a_forgotten_tables_mark_is_forgotten(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_mark(ORDERS, MARK)
    store.forget_tables_except("lake", [])
    store.record_health(make_health(), make_grade())
    assert store.marks("lake") == {}
