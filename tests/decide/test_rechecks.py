from __future__ import annotations

from datetime import timedelta

from maintainer.decide.rechecks import choose_rechecks, is_due
from maintainer.domain.identifier import TableIdentifier
from tests.samples import NOW

TABLES = [TableIdentifier("lake", ("sales",), f"t{number}") for number in range(100)]


def test_tables_are_not_all_measured_again_at_once() -> None:
    span = timedelta(hours=8)
    due = [
        sum(is_due(table, NOW, NOW + timedelta(hours=hours), span) for table in TABLES)
        for hours in (5.99, 7, 8)
    ]
    assert due[0] == 0
    assert 20 < due[1] < 80
    assert due[2] == 100
    assert is_due(TABLES[0], None, NOW, span)


def test_the_longest_unmeasured_are_rechecked_first_and_none_too_soon() -> None:
    hours = timedelta(hours=1)
    measured_at = {TABLES[0]: NOW - hours, TABLES[1]: NOW - 3 * hours, TABLES[2]: NOW - 2 * hours}
    assert choose_rechecks(measured_at, NOW, 2 * hours, 10) == [TABLES[1], TABLES[2]]
    assert choose_rechecks(measured_at, NOW, 2 * hours, 1) == [TABLES[1]]
    assert choose_rechecks({TABLES[0]: None}, NOW, hours, 10) == []
