"""The memory that a job needs, by what it reads. The estimates are high."""

from __future__ import annotations

from dataclasses import dataclass

from maintainer.domain.health import TableHealth

# The planner's task for a file, with statistics, is in memory until its group is rewritten.
_BYTES_PER_FILE = 4 * 1024
_BYTES_PER_MANIFEST_BYTE = 10  # entries are compressed in the manifest, and objects in memory
_BYTES_PER_DELETE_BYTE = 4  # position deletes are compressed in the file, and bitmaps in memory


@dataclass(frozen=True, slots=True)
class Need:
    """The approximate bytes in memory at the same time, in the driver and in all tasks.

    Figures that were not measured count as 0.
    """

    driver: int
    tasks: int = 0


def weigh_files(health: TableHealth) -> int:
    """Bytes in the driver for all files of the table."""
    files = (health.data_files, health.position_delete_files, health.equality_delete_files)
    return sum(count or 0 for count in files) * _BYTES_PER_FILE


def weigh_manifests(health: TableHealth) -> int:
    """Bytes in the driver for all entries of the manifests."""
    return (health.manifest_bytes or 0) * _BYTES_PER_MANIFEST_BYTE


def weigh_position_deletes(health: TableHealth) -> int:
    """Bytes in the tasks for all position deletes."""
    return (
        sum(partition.position_delete_bytes for partition in health.partitions)
        * _BYTES_PER_DELETE_BYTE
    )
