"""How often tables are read, as engines report it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from maintainer.domain.identifier import TableIdentifier

COUNTED_SPAN: Final = timedelta(days=7)  # before now


@dataclass(frozen=True, slots=True)
class TableReads:
    """The reported reads of one table within some days."""

    table: TableIdentifier
    reads: int
    first_day: str  # the first day with a read, such as 2026-11-21, in UTC
