"""The names of one table: of all known tables with its UUID."""

from __future__ import annotations

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import FaultKind, TableFault
from maintainer.ports.store import Store
from tests.adapters.store.values import MINUTE, NOW, ORDERS, ORDERS_UUID, make_grade, make_health

OLD, OTHER, NEVER = (
    TableIdentifier("old", ("sales",), name) for name in ("orders", "other", "never")
)


def test_tables_of_one_uuid_are_names_of_one_table_until_they_are_another(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_health(make_health(OTHER, "another"), make_grade())
    store.record_fault(TableFault(NEVER, FaultKind.METADATA_MISSING, "never measured", NOW))
    assert (store.names_of(ORDERS_UUID), store.names_of("nobody's"), store.shared_tables()) == (
        (ORDERS,),
        (),
        {},
    )

    store.record_health(make_health(OLD), make_grade())
    store.record_fault(TableFault(OLD, FaultKind.CATALOG_UNAVAILABLE, "away", NOW + MINUTE))
    assert store.names_of(ORDERS_UUID) == (ORDERS, OLD)
    assert store.shared_tables() == {ORDERS: (ORDERS, OLD), OLD: (ORDERS, OLD)}

    store.record_health(make_health(OLD, "a third", at=NOW + MINUTE), make_grade())
    assert store.shared_tables() == {}
    store.record_health(make_health(OLD, at=NOW + 2 * MINUTE), make_grade())
    store.forget_tables_except("old", [OTHER])
    assert (store.names_of(ORDERS_UUID), store.shared_tables()) == ((ORDERS,), {})
