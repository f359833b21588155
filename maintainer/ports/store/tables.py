"""The store's tables: health, history, faults, marks of scans, pauses, pins, digests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from maintainer.domain.health import Band, Grade, TableHealth
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, ManifestDigest, TableFault
from maintainer.domain.location import TableLocation
from maintainer.domain.pin import Pin
from maintainer.domain.plan import Plan
from maintainer.domain.scan_cost import ScanCost
from maintainer.ports.store.pages import Page

# The columns by which the table list can be sorted; None is last in both directions. Tables with an
# equal band are sorted by their plan's benefit (greatest first if the worst band is first),
# and then by name.
TABLE_SORTS: tuple[str, ...] = (
    "name", "band", "average_file_size_bytes", "data_files", "data_bytes", "small_files",
    "small_file_ratio",
    "delete_files", "manifests", "snapshots", "measured_at",
)  # fmt: skip

# The scalar metrics that have a history.
HISTORY_METRICS: tuple[str, ...] = (
    "average_file_size_bytes", "data_files", "data_bytes", "small_files", "small_file_ratio",
    "records",
    "position_delete_files", "equality_delete_files", "deletion_vectors", "manifests",
    "manifest_bytes", "snapshots", "metadata_bytes",
    "small_file_bytes", "delete_bytes", "delete_records", "delete_file_ratio", "data_manifests",
    "delete_manifests", "manifest_excess", "branches", "tags",
    "partition_skew", "kept_data_files", "live_file_ratio", "commits_per_hour",
    "growth_bytes_per_day", "growth_records_per_day", "metadata_files",
    "storage_files",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Which tables, in which order; `search` is a case-insensitive part of the full name."""

    search: str = ""
    catalog: str | None = None
    namespace: str | None = None  # namespace_text; nested namespaces are included
    band: Band | None = None
    sort: str = "name"
    descending: bool = False
    limit: int = 100
    cursor: str | None = None
    within: tuple[str, ...] | None = None  # names with one of these prefixes; None: all
    only: frozenset[str] | None = None  # full names; None: all
    with_plans: bool = False


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of one table: who asked for it, when and why."""

    by: str
    at: datetime
    reason: str = ""


@dataclass(frozen=True, slots=True)
class TableRecord:
    """The stored facts about one table.

    A table that could not be measured keeps its last health in addition to the fault.
    """

    table: TableIdentifier
    first_seen_at: datetime
    health: TableHealth | None = None
    grade: Grade | None = None
    fault: TableFault | None = None
    pause: Pause | None = None
    plan: Plan | None = None
    next_plan_at: datetime | None = None  # None: as soon as possible, or when something changes


@dataclass(frozen=True, slots=True)
class ScanMark:
    """The table's state and the rules at its last measurement.

    While both are the same, measuring again would give the same health.
    """

    token: str  # a token of the catalog, see Catalog.poll
    basis: str  # identifies the policies and the program version of the measurement
    measured_at: datetime | None = None  # when the health was last measured; the store sets this


class TableStore(Protocol):
    """The part of the store that concerns tables and their health."""

    def record_health(self, health: TableHealth, grade: Grade) -> None:
        """Store the latest health and, if it differs, a new sample; clears a fault.

        A table of the same name with another UUID starts a new history.
        """

    def record_fault(self, fault: TableFault) -> None:
        """Store the fault in addition to the last health.

        With VIEW and DROPPED the store forgets the table; its jobs with their events, its
        history and its pause are kept.
        """

    def record_catalog_faults(self, catalog: str, faults: Sequence[CatalogFault]) -> None:
        """Replace the faults found when a catalog was listed."""

    def faulty_tables(self, limit: int) -> Sequence[TableFault]:
        """The faults of the first `limit` tables that have one, by name."""

    def catalog_faults(self) -> Sequence[CatalogFault]:
        """The faults of the last listing of each catalog."""

    def forget_tables_except(
        self, catalog: str, seen: Iterable[TableIdentifier]
    ) -> Sequence[TableIdentifier]:
        """Forget the catalog's tables that are not in a complete listing; return them."""

    def table(self, table: TableIdentifier) -> TableRecord | None:
        """The stored facts about one table."""

    def grade(self, table: TableIdentifier, table_uuid: str) -> Grade | None:
        """The grade that was recorded last under this UUID."""

    def tables(self, query: TableQuery) -> Page[TableRecord]:
        """A page of the table list: health without partitions, history and refs.

        The records have their plans only if the query is `with_plans`.
        The total of several pages is from the sums, see FiguresStore. InvalidValueError for
        an unknown sort, a limit outside 1..MAX_PAGE or a foreign cursor.
        """

    def has_tables(self, catalog: str) -> bool:
        """Whether any table of the catalog is known."""
        ...

    def has_unmeasured_tables(self) -> bool:
        """Whether any known table was never measured."""
        ...

    def table_names(self) -> Sequence[TableIdentifier]:
        """Every known table, by name."""

    def names_of(self, table_uuid: str) -> Sequence[TableIdentifier]:
        """The names of known tables whose last measurement had this UUID."""

    def shared_tables(self) -> Mapping[TableIdentifier, Sequence[TableIdentifier]]:
        """For every name of a table with several names, all its names."""

    def history(
        self, table: TableIdentifier, metric: str, since: datetime, until: datetime
    ) -> Sequence[tuple[datetime, float | None]]:
        """Samples of one of HISTORY_METRICS of the table's present UUID, oldest first.

        Of equal healths in a row only the first and the last are returned; a health that lasts
        beyond the requested time ends at the end of that time.
        """

    def record_mark(self, table: TableIdentifier, mark: ScanMark) -> None:
        """Store the mark of the table's measurement; do nothing for an unknown table."""

    def marks(self, catalog: str) -> Mapping[TableIdentifier, ScanMark]:
        """The marks of a catalog's tables.

        Tables with a fault are left out, because they are to be measured again.
        """

    def record_scan_cost(self, cost: ScanCost) -> None:
        """Add the cost of a scan to its catalog's costs, of which MAX_SCAN_COSTS are kept."""

    def scan_costs(self) -> Mapping[str, Sequence[ScanCost]]:
        """The costs of the last scans by catalog, the newest first."""

    def set_pause(
        self, table: TableIdentifier, pause: Pause | None, table_uuid: str | None = None
    ) -> None:
        """Pause a table, or resume it, under every name that it has.

        The pause covers the table's name and its UUID, and is kept when the table is
        forgotten. UnknownTableError when the table is neither known nor paused, and no UUID
        is given.
        """

    def paused_tables(self) -> Mapping[TableIdentifier, Pause]:
        """Every pause of a single table, by name; also of tables that are no longer known."""

    def pins(self, table_uuid: str) -> Sequence[Pin]:
        """The table's pins by name, including expired ones."""

    def set_pin(self, table_uuid: str, pin: Pin) -> None:
        """Add a pin, or replace the pin with this name, and request a new plan of the table."""

    def remove_pin(self, table_uuid: str, name: str) -> bool:
        """Remove a pin; False if no pin has this name."""

    def locations_near(self, paths: Sequence[str]) -> Sequence[TableLocation]:
        """Locations of tables that are equal to, above or below one of these paths, by path.

        Paths are written as normalise_path writes them. Locations of dropped tables are
        included.
        """


class DigestStore(Protocol):
    """The part of the store that keeps digests, by table UUID.

    Before the table is measured, no health uses its digests.
    """

    def digests(
        self, table_uuid: str, paths: Iterable[str], target_bytes: int
    ) -> Mapping[str, ManifestDigest]:
        """The known digests made under this target file size, by manifest path."""

    def record_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]
    ) -> None:
        """Keep exactly these digests for the table.

        New digests are added. Other digests, also of another target, are deleted. A digest
        without entries read is known already.
        """

    def add_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest], at: datetime
    ) -> None:
        """Add digests for one portion of a table; they replace older digests of these manifests.

        The table may be unknown.
        """

    def prune_digests(self, before: datetime) -> int:
        """Delete digests of tables that were never measured, if no digest was added since then.

        Returns how many digests were deleted.
        """
