"""What a scan says of pins that are kept in the store."""

from __future__ import annotations

from maintainer.domain.pin import Pin
from maintainer.steps.scan import scan
from tests.samples import NOW
from tests.steps.world import World


def test_a_scan_finds_a_pin_whose_snapshot_another_program_has_expired() -> None:
    world = World()
    table = world.put("orders")
    world.store.set_pin("uuid-orders", Pin("reader", 77, "ada", NOW))
    scan(world.ports)
    record = world.store.table(table)
    assert record is not None
    assert record.grade is not None
    assert (
        "pin reader of ada names snapshot 77, which the table does not have: it protects nothing"
        in [f.sentence for f in record.grade.findings]
    )
