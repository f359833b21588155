"""The bytes of a data file besides its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from maintainer.domain.health import TableHealth

# The bytes of each column: its part of the footer, its statistics, the headers and dictionaries of
# its pages. They were measured by the rewrites of small files that docs/health.md names.
BYTES_PER_COLUMN: Final[Mapping[str, int]] = {"parquet": 270, "orc": 220}


def find_overhead(health: TableHealth) -> int:
    """The bytes of one data file besides its rows; 0 where the schema or a format is unknown.

    In a large file they do not count; a file of some kilobytes consists of them.
    """
    of_formats = [BYTES_PER_COLUMN.get(name, 0) for name in health.formats]
    return min(of_formats, default=0) * (health.columns or 0)


def find_kept_rows(health: TableHealth) -> float:
    """The share of the rows that position deletes and deletion vectors leave.

    How many rows an equality delete deletes is unknown: it counts as none.
    """
    by_equality = sum(partition.equality_delete_records for partition in health.partitions)
    deleted = max(0, (health.delete_records or 0) - by_equality)
    return max(0.0, 1 - deleted / health.records) if health.records else 1.0


def predict_bytes(size: int, files: int, outputs: int, overhead: int, kept_rows: float) -> int:
    """The bytes of so many files after a rewrite, at least the overhead of the outputs."""
    rows = max(0, size - overhead * files)
    return min(size, round(rows * kept_rows) + overhead * outputs)
