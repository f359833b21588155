"""The load of tables on the name nodes of HDFS: objects and heap by name service."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import Final

from maintainer.domain.health import TableHealth
from maintainer.domain.units import format_count, format_size

# 150 million objects take about 100 GB of heap. With five HDFS snapshots that differ by 5 % each
# it is 1.3 times as much.
HEAP_BYTES_PER_OBJECT: Final = 100_000_000_000 / 150_000_000
SNAPSHOT_FACTOR: Final = 1.3
HDFS_BLOCK_BYTES: Final = 128 * 1024**2
DIRECTORIES_OF_A_TABLE: Final = 3  # of the table, of data and of metadata


@dataclass(frozen=True, slots=True)
class NameNodeLoad:
    """The objects of one or several tables in a name node's memory; lower bounds.

    The files are those of all kept snapshots and of the metadata.
    """

    files: int
    directories: int
    blocks: int

    @property
    def objects(self) -> int:
        return self.files + self.directories + self.blocks

    @property
    def heap_bytes(self) -> float:
        return self.objects * HEAP_BYTES_PER_OBJECT

    @property
    def heap_bytes_with_snapshots(self) -> float:
        """With HDFS snapshots of the directories, by the published factor."""
        return self.heap_bytes * SNAPSHOT_FACTOR


@dataclass(frozen=True, slots=True)
class NameService:
    """The load of all measured tables of one name service."""

    name: str  # the name in the locations of the tables
    tables: int
    unknown_tables: int  # tables whose files could not be counted, and which are not in the load
    load: NameNodeLoad

    @property
    def sentence(self) -> str:
        """The load as a sentence."""
        load = self.load
        left_out = (
            f" {format_count(self.unknown_tables, 'table')} of unknown files left out."
            if self.unknown_tables
            else ""
        )
        return (
            f"Name service {self.name or 'without a name'}: at least "
            f"{format_count(load.objects, 'object')} ({load.files:,} files, "
            f"{load.directories:,} directories, {load.blocks:,} blocks), "
            f"{format_size(load.heap_bytes)} of heap, or "
            f"{format_size(load.heap_bytes_with_snapshots)} with HDFS snapshots.{left_out}"
        )


def load_name_node(health: TableHealth) -> NameNodeLoad | None:
    """The load of one table; None when its files could not be counted.

    Each file has a block, and one more for each full block of live data.
    """
    if health.storage_files is None or health.data_bytes is None or health.data_files is None:
        return None
    more = max(0, ceil(health.data_bytes / HDFS_BLOCK_BYTES) - health.data_files)
    return NameNodeLoad(
        files=health.storage_files,
        directories=health.directories or DIRECTORIES_OF_A_TABLE,
        blocks=health.storage_files + more,
    )


def name_service(location: str) -> str:
    """The name service of a location: `ns1` of `hdfs://ns1/lake`; empty without one."""
    return location.partition("://")[2].partition("/")[0].lower()


def sum_by_service(healths: Iterable[TableHealth]) -> tuple[NameService, ...]:
    """The load by name service, by name; the healths are those of tables on HDFS."""
    return sum_loads((name_service(health.location), load_name_node(health)) for health in healths)


def sum_loads(loads: Iterable[tuple[str, NameNodeLoad | None]]) -> tuple[NameService, ...]:
    """The sums of the tables' loads by name service; None: the table's load is not known."""
    by_service: dict[str, list[NameNodeLoad | None]] = defaultdict(list)
    for name, load in loads:
        by_service[name].append(load)
    return tuple(_sum(name, every) for name, every in sorted(by_service.items()))


def _sum(name: str, loads: list[NameNodeLoad | None]) -> NameService:
    known = [load for load in loads if load is not None]
    return NameService(
        name,
        tables=len(loads),
        unknown_tables=len(loads) - len(known),
        load=NameNodeLoad(
            sum(load.files for load in known),
            sum(load.directories for load in known),
            sum(load.blocks for load in known),
        ),
    )
