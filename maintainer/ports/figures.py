"""The figures of single tables that are exported as metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier


@dataclass(frozen=True, slots=True)
class TableFigures:
    """The figures of a measured table; None is unknown."""

    table: TableIdentifier
    band: Band
    average_file_size_bytes: float | None
    data_files: int | None
    manifests: int | None
    snapshots: int | None


class FiguresStore(Protocol):
    """The part of the store that metrics need apart from its sums."""

    def table_figures(self, limit: int) -> Sequence[TableFigures]:
        """The first `limit` measured tables by name, the same for every process on this store."""
        ...
