"""What is small under one target is not small under another: the entries of a table are read again
when its target changes, and only then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.inventory import TableInventory
from maintainer.domain.units import MIB
from maintainer.ports.store import Store
from maintainer.steps.scan import ScannedTable, ScanResult, scan
from maintainer.steps.table import Measured
from tests.adapters.catalog.lake import ROWS, Lake, rows
from tests.end_to_end.extreme_lake import Record, change_entries, change_metadata, forget_totals
from tests.steps.world import World, layer

SIZES = tuple(number * MIB for number in range(1, 31))
OBSERVE = "tables: '*'\ntarget_file_size: {target}MiB\nrules: {{rewrite_data_files: {{}}}}"


@dataclass
class Fleet:
    """One real table of thirty files, of one to thirty MiB, scanned into a real store under
    policies that a test sets.
    """

    world: World
    store: Store

    def scan_under(self, target: int) -> tuple[ScanResult, Measured | None]:
        self.world.policies.layers = (layer(OBSERVE.format(target=target)),)
        reported: list[ScannedTable] = []
        result = scan(self.world.ports, reported.append)
        (one,) = reported
        return result, one if isinstance(one, Measured) else None


def with_size(entry: Record, size: int) -> Record:
    return entry | {
        "data_file": entry["data_file"]
        | {"file_path": f"{size}.parquet", "file_size_in_bytes": size}
    }


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    lake = Lake(tmp_path)
    table = lake.make_table("sales", "orders", schema=ROWS)
    table.append(rows(3))
    change_entries(table, lambda entry: [with_size(entry, size) for size in SIZES])
    change_metadata(table, forget_totals)
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    world = World()
    world.ports = replace(world.ports, store=store, catalogs={"lake": lake.catalog})
    yield Fleet(world, store)
    store.close()
    lake.close()


@pytest.mark.parametrize(("first", "second"), [(32, 8), (8, 32)])
def test_a_changed_target_reads_the_entries_again_and_counts_what_is_small_under_it(
    fleet: Fleet, first: int, second: int
) -> None:
    for target in (first, second):
        result, measured = fleet.scan_under(target)
        assert result.entries_read == len(SIZES)
        assert measured is not None
        small = [size for size in SIZES if size < target * MIB * 3 // 4]
        assert (measured.health.small_files, measured.health.small_file_bytes) == (
            len(small),
            sum(small),
        )
        assert isinstance(measured.inventory, TableInventory)
        assert [
            share.large_count
            for digest in measured.inventory.manifests
            for share in digest.partitions
        ] == [len([size for size in SIZES if size > target * MIB * 9 // 5])]
        record = fleet.store.table(measured.health.table)
        assert record is not None
        assert record.health is not None
        assert record.health.small_files == len(small)


def test_the_same_target_reads_nothing_again(fleet: Fleet) -> None:
    assert fleet.scan_under(8)[0].entries_read == len(SIZES)
    again, measured = fleet.scan_under(8)
    assert (again.entries_read, measured) == (0, None)
