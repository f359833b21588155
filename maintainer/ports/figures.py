"""The few figures of each table that are exported as metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier


@dataclass(frozen=True, slots=True)
class TableFigures:
    """A measured table; None is unknown."""

    table: TableIdentifier
    band: Band
    average_file_size_bytes: float | None
    data_files: int | None
    manifests: int | None
    snapshots: int | None


class FiguresStore(Protocol):
    """The part of the store that metrics are made from, beside its sums."""

    def table_figures(self, limit: int) -> Sequence[TableFigures]:
        """Of the measured tables, by name, so many at most: the same ones for everyone who uses
        this store.
        """
        ...
