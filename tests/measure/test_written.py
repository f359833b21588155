from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.domain.inventory import Content
from maintainer.measure.health import measure
from maintainer.measure.history import date_writes
from tests.samples import NOW, inventory, manifest, share, snapshot

HOUR = timedelta(hours=1)


def test_a_sequence_number_is_dated_by_the_snapshot_that_has_it() -> None:
    date = date_writes([snapshot(1, 3 * HOUR), snapshot(2, 2 * HOUR), snapshot(5, HOUR)])
    assert (date(2), date(5)) == (NOW - 2 * HOUR, NOW - HOUR)


def test_files_of_snapshots_that_are_gone_have_no_date() -> None:
    date = date_writes([snapshot(2, 2 * HOUR), snapshot(5, HOUR)])
    assert (date(1), date(3), date(9), date(0)) == (None, None, None, None)


def test_a_clock_that_went_backwards_dates_a_file_by_the_earlier_moment() -> None:
    assert date_writes([snapshot(1, HOUR), snapshot(2, 2 * HOUR)])(1) == NOW - 2 * HOUR


def test_without_sequence_numbers_the_newest_write_speaks_for_all_files() -> None:
    history = [
        snapshot(1, 3 * HOUR, sequence_number=0),
        snapshot(2, 2 * HOUR, sequence_number=0),
        snapshot(3, HOUR, operation="replace", sequence_number=0),
    ]
    assert date_writes(history)(0) == NOW - 2 * HOUR


def test_a_partition_is_dated_by_its_newest_file_of_any_content() -> None:

    old, new = (
        replace(share([10], "a"), newest_sequence_number=1),
        replace(share([1], "a", Content.POSITION_DELETES), newest_sequence_number=2),
    )
    other = replace(share([10], "b"), newest_sequence_number=1)
    found = measure(
        inventory(
            (manifest("m", [old, other]), manifest("d", [new])),
            (snapshot(1, 2 * HOUR), snapshot(2, HOUR, 1)),
        )
    )
    assert {p.partition: p.written_at for p in found.partitions} == {
        "a": NOW - HOUR,
        "b": NOW - 2 * HOUR,
    }
