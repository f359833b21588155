"""Figures: sums over tables, and the figures of each table that are exported as metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from maintainer.domain.health import Band
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job import JobState
from maintainer.ports.store.pages import Page


@dataclass(frozen=True, slots=True)
class Counters:
    """Sums over the tables of a namespace, a catalog or the fleet.

    An unknown figure of a table adds nothing.
    """

    tables: int
    measured_tables: int
    faulty_tables: int
    paused_tables: int
    data_files: int
    data_bytes: int
    small_files: int
    delete_files: int
    manifests: int
    snapshots: int
    live_data_files: int  # only of tables with a known kept_data_files
    kept_data_files: int  # data files that any kept snapshot references
    bands: Mapping[Band, int]

    @property
    def average_file_size_bytes(self) -> float | None:
        """All bytes divided by all files; None without files."""
        return self.data_bytes / self.data_files if self.data_files else None

    @property
    def live_file_ratio(self) -> float | None:
        """Live data files divided by kept data files; None without kept files."""
        return self.live_data_files / self.kept_data_files if self.kept_data_files else None


@dataclass(frozen=True, slots=True)
class Overview(Counters):
    """The sums of the fleet, its jobs by state, and what finished jobs have saved in total."""

    jobs: Mapping[JobState, int]
    files_removed: int | None  # None: known only for the whole fleet
    manifests_removed: int | None
    snapshots_removed: int | None
    bytes_rewritten: int | None
    last_measured_at: datetime | None


@dataclass(frozen=True, slots=True)
class NamespaceCounters:
    """The sums of one namespace without its nested namespaces."""

    catalog: str
    namespace: str  # namespace_text
    counters: Counters


SLOT = timedelta(minutes=1)  # of the history of the fleet and of its catalogs
SLOT_OF_NAMESPACES = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class FleetSample:
    """The sums of a namespace, a catalog or the fleet from `at` until the next sample."""

    at: datetime  # the start of its slot
    counters: Counters


def floor_to(slot: timedelta, at: datetime) -> datetime:
    """Return the start of the slot; slots are whole parts or multiples of a day in UTC."""
    beginning = datetime(1970, 1, 1, tzinfo=UTC)
    return at - (at - beginning) % slot


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
    """The part of the store that sums up tables and jobs.

    The sums may be some seconds old; the limit is set when the store is opened.
    """

    def table_figures(self, limit: int, chosen: Sequence[str] = ()) -> Sequence[TableFigures]:
        """All measured tables by name if they are at most `limit`.

        Otherwise the chosen tables (names or globs; case does not count) by name, then degraded
        and critical tables, the worst first; at most `limit` in all. Every process on this store
        gets the same tables.
        """
        ...

    def overview(self, within: tuple[str, ...] | None = None) -> Overview:
        """The sums of the fleet, or of the tables whose names have one of the prefixes.

        The prefixes are those of catalogs and namespaces, such as "lake." and "lake.sales.".
        """

    def counters(self, catalog: str | None = None, namespace: str | None = None) -> Counters:
        """The sums of one namespace (without nested ones), of a catalog, or of the fleet."""
        ...

    def namespaces(
        self,
        catalog: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        within: tuple[str, ...] | None = None,
    ) -> Page[NamespaceCounters]:
        """A page of the namespaces that have tables, by catalog and name; within as overview."""

    def record_fleet(self, at: datetime) -> None:
        """Add the present sums of the fleet, each catalog and each namespace to their histories.

        Of several calls in one slot, the last call counts. Unchanged sums add nothing.
        """

    def fleet_history(
        self, catalog: str | None, namespace: str | None, since: datetime, until: datetime
    ) -> Sequence[FleetSample]:
        """The samples of a namespace (without nested ones), of a catalog, or of the fleet.

        They are ordered by time. The sample that is valid at `since` has that time.
        """
