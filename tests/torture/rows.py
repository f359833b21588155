"""Rows that say who wrote them: each is known by its writer and a number of that writer's own, so
that exactly once can be checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import pyarrow as pa

COLUMNS = ("part", "writer", "sequence", "version", "payload")
ARROW_SCHEMA = pa.schema(
    [
        ("part", pa.string()),
        ("writer", pa.string()),
        ("sequence", pa.int64()),
        ("version", pa.int64()),
        ("payload", pa.string()),
    ]
)
_PAYLOAD_REPEATS = 4


@dataclass(frozen=True, slots=True, order=True)
class Row:
    """One row; the payload follows from the rest, so that a mixture of two versions is seen."""

    writer: str
    sequence: int
    version: int
    part: str

    @property
    def payload(self) -> str:
        """What the row carries."""
        return (
            blake2b(
                f"{self.writer}/{self.sequence}/{self.version}".encode(), digest_size=16
            ).hexdigest()
            * _PAYLOAD_REPEATS
        )

    @property
    def values(self) -> tuple[str, str, int, int, str]:
        """As COLUMNS has them."""
        return self.part, self.writer, self.sequence, self.version, self.payload


def to_arrow(rows: list[Row]) -> pa.Table:
    """As a writer hands them over."""
    return pa.Table.from_pylist(
        [dict(zip(COLUMNS, row.values, strict=True)) for row in rows], schema=ARROW_SCHEMA
    )


def to_sql(rows: list[Row]) -> str:
    """As a list of values for VALUES; texts are ours and hold no quotes."""
    return ", ".join(_write_tuple(*row.values) for row in rows)


def _write_tuple(part: str, writer: str, sequence: int, version: int, payload: str) -> str:
    return f"('{part}', '{writer}', {sequence}L, {version}L, '{payload}')"
