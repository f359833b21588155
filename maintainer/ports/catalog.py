"""Reading catalogs: their tables and the tables' metadata. Nothing here changes a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from maintainer.domain.effect import CanaryResult
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import (
    CatalogFault,
    ManifestDigest,
    Snapshot,
    TableFault,
    TableInventory,
)
from maintainer.domain.location import TableLocation
from maintainer.domain.orphan import FoundFile, StoredFile

# (table, its properties) -> the target file size in bytes, which decides which files are small or
# large
TargetOf = Callable[[TableIdentifier, Mapping[str, str]], int]
# (table uuid, manifest paths, target in bytes) -> the known digests for this target
KnownDigests = Callable[[str, Iterable[str], int], Mapping[str, ManifestDigest]]
# (table uuid, target in bytes, new digests): called for each portion of a large table, so that an
# interrupted read is not lost
KeepDigests = Callable[[str, int, Sequence[ManifestDigest]], None]


@dataclass(frozen=True, slots=True)
class Polled:
    """One table of the catalog.

    `token` is opaque and identifies the table's state; "" if the catalog has no such token.
    """

    table: TableIdentifier
    token: str
    is_changed: bool
    metadata_location: str = ""  # of a table that was polled; "" if the answer does not contain it


@dataclass(frozen=True, slots=True)
class Taken:
    """The result of reading one table's inventory, and how long it took.

    An exception means that this table caused an error in the daemon's code.
    """

    table: TableIdentifier
    outcome: TableInventory | TableFault | Exception
    seconds: float = 0.0


class Catalog(Protocol):
    """One configured catalog."""

    @property
    def name(self) -> str:
        """The catalog's name in the configuration and in every table's identifier."""

    def tables(self) -> Iterator[TableIdentifier | CatalogFault]:
        """Yield every table of every namespace, also of nested namespaces.

        For a namespace that cannot be listed, its fault is yielded.
        """

    def poll(
        self,
        known: Mapping[TableIdentifier, str],
        should_stop: Callable[[], bool] = ...,
        within: timedelta | None = None,
    ) -> Iterator[Polled | TableFault | CatalogFault]:
        """Yield every table, and whether it changed since its known token.

        A table that is not in `known` counts as changed. A token is never newer than an
        inventory that is read afterwards. A table that does not answer yields its fault.
        Answers are no older than `within`; without `within`, a table that was idle for long
        may not be asked. The poll ends early when should_stop returns True, even while it
        waits.
        """

    def foreign_locations(
        self, paths: Sequence[str], within: timedelta
    ) -> Iterator[TableLocation | CatalogFault]:
        """Yield foreign (not Iceberg) locations of the catalog that overlap with these paths.

        Paths are written as normalise_path writes them. A catalog with Iceberg tables alone
        yields none. Answers are no older than `within`; a namespace that cannot be listed
        yields its fault.
        """

    def inventory(
        self, table: TableIdentifier, target_of: TargetOf, known: KnownDigests
    ) -> TableInventory | TableFault:
        """Read the table's metadata now.

        A faulty table is a TableFault or has an `unreadable`; nothing is raised for it.
        """

    def inventories(
        self,
        tables: Iterable[TableIdentifier],
        target_of: TargetOf,
        known: KnownDigests,
        should_stop: Callable[[], bool] = ...,
        keep: KeepDigests | None = None,
    ) -> Iterator[Taken]:
        """Yield the inventory of each table, in the order in which they become ready.

        Several tables are read in parallel, and the next one is requested when there is
        room. Digests of a large table go to `keep` in portions; a table read at once has
        none. Other threads call `target_of`, `known` and `keep`. The iterator ends early
        when should_stop returns True, even while it waits.
        """

    def snapshots(self, table: TableIdentifier) -> tuple[Snapshot, ...] | TableFault:
        """Read the table's snapshots, oldest first, without reading a manifest."""

    def count_rows(self, table: TableIdentifier, snapshot_id: int, limit_bytes: int) -> int | None:
        """Count the live rows at a snapshot, deletes applied.

        None when that is impossible or needs more than limit_bytes of reading.
        """

    def file_bytes(self, table: TableIdentifier, path: str) -> int | None:
        """The size of a file of the table in bytes; None when it is absent or cannot be checked."""

    def stat_files(
        self, table: TableIdentifier, paths: Sequence[str]
    ) -> Sequence[StoredFile | None]:
        """Ask the storage for each file, several at a time.

        None for a file that is absent or cannot be checked.
        """

    def list_files(
        self, table: TableIdentifier, location: str
    ) -> Iterator[Sequence[FoundFile]] | None:
        """List every file under a location of the table that is not empty, in portions.

        Paths are spelled as the location is. The storage's own exceptions are raised while
        iterating. None when only Spark can list the location.
        """

    def read_canary(
        self,
        table: TableIdentifier,
        snapshot_ids: Sequence[int],
        failure: str = "",
        *,
        had_row_ids: bool = True,
    ) -> CanaryResult | None:
        """Read some of the files that these snapshots added, and compare them with their manifests.

        Without `had_row_ids` the job read rows that had no row ids yet, so its files need none.
        The result also has the table's files that the text of a failure names and that other
        snapshots added. None when the table cannot be read.
        """

    def ping(self) -> str:
        """Describe the catalog in one sentence; CatalogUnavailableError when it does not answer."""

    def close(self) -> None:
        """Close the connections."""
