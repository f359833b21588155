"""The reads of tables, as the store in memory counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.reads import TableReads


@dataclass
class FakeReads:
    """The part of the store that counts reads."""

    _reads: Counter[tuple[TableIdentifier, str]] = field(default_factory=Counter, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def add_reads(self, day: str, reads: Mapping[TableIdentifier, int]) -> None:
        with self._open():
            self._reads.update({(table, day): count for table, count in reads.items()})

    def reads(self, first_day: str, last_day: str) -> Sequence[TableReads]:
        with self._open():
            days: dict[TableIdentifier, dict[str, int]] = {}
            for (table, day), count in self._reads.items():
                if first_day <= day <= last_day:
                    days.setdefault(table, {})[day] = count
            return tuple(
                TableReads(table, sum(days[table].values()), min(days[table]))
                for table in sorted(days, key=str)
            )

    def reads_of(self, table: TableIdentifier, first_day: str, last_day: str) -> TableReads | None:
        everything = self.reads(first_day, last_day)
        begins = [one.first_day for one in everything if one.table.catalog == table.catalog]
        found = [one for one in everything if one.table == table]
        return TableReads(table, found[0].reads, min(begins)) if found else None

    def prune_reads(self, before: str) -> int:
        with self._open():
            gone = [key for key in self._reads if key[1] < before]
            for key in gone:
                del self._reads[key]
            return len(gone)
